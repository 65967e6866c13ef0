import { allowance, pace } from './pace.ts';
import { short, type Table, table } from './table.ts';

/** A promised number, and its value here. */
export interface PromiseRow {
  readonly what: string;
  readonly measured: number | null;
  readonly unit: 'ms' | 's' | 'x' | 'MB' | 'MB/s' | 'turns/s' | 'deep' | 'runs' | 'steps' | '%';
  /** Whether the target is the most or the least allowed. */
  readonly bound: 'most' | 'least';
  readonly target: number;
  /** The target at the pace of this machine, see `pace.ts`; times and rates alone differ from `target`. */
  readonly allowed: number;
  /** Null when it could not be measured. */
  readonly kept: boolean | null;
  /** Number of runs. */
  readonly samples: number;
}

/** Judges a measurement. `measured` is null when it could not be taken. */
export function judged(
  what: string,
  measured: number | null,
  promised: Pick<PromiseRow, 'unit' | 'bound' | 'target'>,
  samples: number,
  at: number = pace(),
): PromiseRow {
  const { bound, unit, target } = promised;
  const allowed = allowance(unit, target, at);
  const kept = measured === null ? null : bound === 'most' ? measured <= allowed : measured >= allowed;
  return { what, measured, ...promised, allowed, kept, samples };
}

/** The promises with their verdicts, as the cells of a table. */
export function promiseTable(rows: readonly PromiseRow[]): Table {
  const cells = rows.map(({ what, measured, unit, bound, target, allowed, kept, samples }) => [
    what,
    measured === null ? '-' : `${short(measured)} ${unit}`,
    `${bound === 'most' ? '≤' : '≥'} ${target} ${unit}`,
    allowed === target ? '' : `${short(allowed)} ${unit}`,
    String(samples),
    kept === null ? 'not measured' : kept ? 'kept' : 'BROKEN',
  ]);
  return { head: ['promise', 'measured', 'target', 'at this pace', 'runs', 'verdict'], cells };
}

/** The promises as a page of text. */
export function renderPromises(rows: readonly PromiseRow[]): string {
  const { head, cells } = promiseTable(rows);
  return table(head, cells);
}

/** A sentence for each broken promise. */
export function brokenPromises(rows: readonly PromiseRow[]): string[] {
  return rows
    .filter(({ kept }) => kept === false)
    .map(
      ({ what, measured, unit, bound, allowed }) =>
        `${what}: ${short(measured)} ${unit}, at ${bound} ${short(allowed)} ${unit} ${bound === 'most' ? 'is' : 'are'} promised`,
    );
}
