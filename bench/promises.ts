import type { Summary } from './stats.ts';
import { short, type Table, table } from './table.ts';

/**
 * What a promise may be about: a ratio of one run, a size, a count. No time is among them, because it says as much about the machine as
 * about the product; the times that a ratio comes from are shown and not judged.
 */
export type PromiseUnit = 'x' | 'MB' | 'bytes' | 'deep' | 'runs' | 'steps' | '%';

/** The times or rates that a ratio comes from. */
export interface Shown {
  readonly ours: number;
  /** What was measured in alternation with ours, in the same run. */
  readonly yardstick: number;
  readonly unit: 'ms' | 'µs';
}

/** A promised number, and its value here. */
export interface PromiseRow {
  readonly what: string;
  readonly measured: number | null;
  readonly unit: PromiseUnit;
  /** Whether the target is the most or the least allowed. */
  readonly bound: 'most' | 'least';
  readonly target: number;
  /** Null when it could not be measured. */
  readonly kept: boolean | null;
  readonly samples: number;
  /** Null for what is no ratio of two times. */
  readonly shown: Shown | null;
}

/** What a benchmark found. */
export interface PromiseReport<Row> {
  readonly rows: readonly Row[];
  readonly promises: readonly PromiseRow[];
}

export type Promised = Pick<PromiseRow, 'unit' | 'bound' | 'target'>;

/** Judges a measurement. `measured` is null when it could not be taken. */
export function judged(
  what: string,
  measured: number | null,
  promised: Promised,
  samples: number,
  shown: Shown | null = null,
): PromiseRow {
  const { bound, target } = promised;
  const kept = measured === null ? null : bound === 'most' ? measured <= target : measured >= target;
  return { what, measured, ...promised, kept, samples, shown };
}

/**
 * Judges the ratio of two series that were measured in alternation. It is that of their 10th percentiles: other work of a machine lengthens
 * most runs, of ours and of the yardstick by different factors, and spares some of each.
 */
export function ratio(
  what: string,
  [ours, yardstick]: readonly [ours: Summary | null | undefined, yardstick: Summary | null | undefined],
  unit: Shown['unit'],
  [bound, target]: readonly [PromiseRow['bound'], number],
  at: 'p10' | 'median' | 'p95' | 'max' = 'p10',
): PromiseRow {
  const [mine, theirs] = [ours?.[at] ?? null, yardstick?.[at] ?? null];
  const shown = mine === null || theirs === null ? null : { ours: mine, yardstick: theirs, unit };
  const measured = shown === null ? null : shown.ours / shown.yardstick;
  return judged(what, measured, { unit: 'x', bound, target }, ours?.samples ?? 0, shown);
}

export function promiseTable(rows: readonly PromiseRow[]): Table {
  const cells = rows.map(({ what, measured, unit, bound, target, kept, samples, shown }) => [
    what,
    measured === null ? '-' : `${short(measured)} ${unit}`,
    `${bound === 'most' ? '≤' : '≥'} ${target} ${unit}`,
    shown === null ? '' : `${short(shown.ours)} by ${short(shown.yardstick)} ${shown.unit}`,
    String(samples),
    kept === null ? 'not measured' : kept ? 'kept' : 'BROKEN',
  ]);
  return { head: ['promise', 'measured', 'target', 'ours by yardstick', 'runs', 'verdict'], cells };
}

export function renderPromises(rows: readonly PromiseRow[]): string {
  const { head, cells } = promiseTable(rows);
  return table(head, cells);
}

export function brokenPromises(rows: readonly PromiseRow[]): string[] {
  return rows
    .filter(({ kept }) => kept === false)
    .map(
      ({ what, measured, unit, bound, target }) =>
        `${what}: ${short(measured)} ${unit}, at ${bound} ${target} ${unit} ${bound === 'most' ? 'is' : 'are'} promised`,
    );
}
