import type { CallDivergence, RecordedCalls } from '../../tools/index.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { TurnRecord } from '../turn/record.ts';

/** The first thing in which a turn that is executed again is not what was recorded. */
export interface Divergence {
  /** For a reader: `line 3 of OUTPUT`, `call 2: args`, `fuel`. */
  readonly where: string;
  /** What stands in the record, and what came now; JSON, but for lines of text. */
  readonly recorded: string;
  readonly replayed: string;
}

/** Limits of time, which every execution reaches elsewhere. */
const TIMES: ReadonlySet<string> = new Set(['cpuMs', 'wallMs', 'toolMs']);

/** Fields of a record that must be equal, in the order in which a turn makes them. */
const FIELDS = [
  'outputComplete',
  'candidates',
  'verificationFailureReason',
  'lints',
  'decision',
  'reason',
  'overridden',
  'kid',
  'jti',
  'digest',
] as const satisfies readonly (keyof TurnRecord)[];

const USAGE = ['fuel', 'toolCalls', 'outputBytes', 'peakMemoryBytes'] as const;

/** Where two executions of a turn part; null when they do not. Times are not compared: they are nobody's input. */
export function compareTurns(recorded: TurnRecord, replayed: TurnRecord, calls: RecordedCalls): Divergence | null {
  const { divergence, left } = calls;
  // What was said before a call that differs came before it.
  const parted = divergence !== null || left.length > 0;
  const said = (parted ? prefixDifference : lineDifference)(recorded, replayed);
  if (said !== null) return said;
  if (divergence !== null) return callDifference(divergence);
  const [missing] = left;
  if (missing !== undefined) {
    const replayedError = show(replayed.error === null ? null : replayed.error.message);
    return {
      where: `call ${missing.seq}`,
      recorded: show(missing.kind === 'tool' ? missing.name : missing.kind),
      replayed: replayedError,
    };
  }
  return (
    difference('whispers', recorded.whispers, replayed.whispers) ??
    difference('error', steady(recorded.error), steady(replayed.error)) ??
    first(USAGE, (name) => difference(name, recorded.usage[name], replayed.usage[name])) ??
    first(FIELDS, (name) => difference(name, recorded[name], replayed[name]))
  );
}

/** Whether what two executions said is the same as far as both of them came. */
export function prefixDifference(recorded: TurnRecord, replayed: TurnRecord): Divergence | null {
  const cut = (stream: 'output' | 'scratchpad') => {
    const length = Math.min(recorded[stream].length, replayed[stream].length);
    return textDifference(stream, recorded[stream].slice(0, length), replayed[stream].slice(0, length));
  };
  return cut('output') ?? cut('scratchpad');
}

function lineDifference(recorded: TurnRecord, replayed: TurnRecord): Divergence | null {
  return (
    textDifference('output', recorded.output, replayed.output) ??
    textDifference('scratchpad', recorded.scratchpad, replayed.scratchpad)
  );
}

function textDifference(stream: 'output' | 'scratchpad', recorded: string, replayed: string): Divergence | null {
  if (recorded === replayed) return null;
  const [was, is] = [recorded.split('\n'), replayed.split('\n')];
  const line = was.findIndex((text, index) => text !== is[index]);
  const at = line < 0 ? was.length : line;
  return { where: `line ${at + 1} of ${stream.toUpperCase()}`, recorded: was[at] ?? '', replayed: is[at] ?? '' };
}

function callDifference({ seq, field, recorded, actual }: CallDivergence): Divergence {
  return { where: field === 'calls' ? `call ${seq}` : `call ${seq}: ${field}`, recorded: show(recorded), replayed: show(actual) };
}

/** An error without what no two executions have in common. */
function steady(error: ErrorInfo | null): unknown {
  if (error === null || !TIMES.has(error.limit ?? '')) return error;
  const { message: _, allowed: __, used: ___, ...rest } = error;
  return rest;
}

function difference(where: string, recorded: unknown, replayed: unknown): Divergence | null {
  const [was, is] = [show(recorded), show(replayed)];
  return was === is ? null : { where, recorded: was, replayed: is };
}

function first<T>(items: readonly T[], look: (item: T) => Divergence | null): Divergence | null {
  for (const item of items) {
    const found = look(item);
    if (found !== null) return found;
  }
  return null;
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing';
}
