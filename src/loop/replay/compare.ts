import type { CallDivergence, RecordedCalls } from '../../tools/index.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { TurnRecord } from '../record/record.ts';

/** The first difference between a recorded turn and its execution now. */
export interface Divergence {
  /** The place of the difference, such as `line 3 of OUTPUT`, `call 2: args` or `fuel`. */
  readonly where: string;
  /** The recorded content: a line of text, or JSON. */
  readonly recorded: string;
  /** The content now, in the same form. */
  readonly replayed: string;
}

/** Time limits. Each execution reaches them at another point. */
const TIMES: ReadonlySet<string> = new Set(['cpuMs', 'wallMs', 'toolMs']);

/** Fields of a record that must be equal, in the order in which a turn produces them, and what a reader calls them. */
const FIELDS = [
  ['outputComplete', 'completeness of OUTPUT'],
  ['candidates', 'tokens'],
  ['verificationFailureReason', 'reason why a token failed'],
  ['lints', 'remarks'],
  ['decision', 'decision'],
  ['reason', 'reason'],
  ['overridden', 'decision that the token asked for'],
  ['kid', 'key of the token'],
  ['jti', 'id of the token'],
  ['digest', 'digest'],
] as const satisfies readonly (readonly [keyof TurnRecord, string])[];

/**
 * Counts that a program and its inputs determine. The peak of memory is not among them: it also depends on when output leaves the isolate,
 * which another version may do sooner or later.
 */
const USAGE = ['fuel', 'toolCalls', 'outputBytes'] as const;

/** Finds the first difference of two executions; null when they are equal. Times are not compared, because no input determines them. */
export type Compare = (recorded: TurnRecord, replayed: TurnRecord, calls: RecordedCalls) => Divergence | null;

/** The first difference of two executions of a turn or in their decisions. */
export const compareTurns: Compare = (recorded, replayed, calls) =>
  compareRuns(recorded, replayed, calls) ?? first(FIELDS, ([name, word]) => difference(word, recorded[name], replayed[name]));

/** The first difference of two executions of a program, whatever was decided. */
export const compareRuns: Compare = (recorded, replayed, calls) => {
  const { divergence, left } = calls;
  // A difference in the output before a call comes before a difference in the call.
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
    first(USAGE, (name) => difference(name, recorded.usage[name], replayed.usage[name]))
  );
};

/** The first difference in the output of two executions, as far as both go; null when there is none. */
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

/** An error without the parts that differ in every execution. */
function steady(error: ErrorInfo | null): unknown {
  if (error === null || !TIMES.has(error.limit ?? '')) return error;
  const { message: _, allowed: __, used: ___, ...rest } = error;
  return rest;
}

/** A difference of two values as JSON; null when they are equal. */
export function difference(where: string, recorded: unknown, replayed: unknown): Divergence | null {
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
