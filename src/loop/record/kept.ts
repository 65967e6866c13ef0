import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { StoreError } from '../../sqlite/error.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { RunInput } from '../../wire/protocol.ts';
import { asItIs, EARLIER, ENTRY, RUN, WAITING } from './parts.ts';
import { type EarlierTurn, type Suspension, storedCalls } from './suspension.ts';

/** Whether a store keeps a turn only at its end, or each of its calls too. */
export type Durable = 'turn' | 'call';

/** One call of a turn, kept before the program went on. */
export interface KeptCall {
  readonly seq: number;
  /** The call, if its outcome is not known. */
  readonly begun: WaitingCall | null;
  /** The call, if it has ended. */
  readonly entry: JournalEntry | null;
  /** The turn up to this call. */
  readonly earlier: EarlierTurn;
  /** The input of the run; present only in the first call. */
  readonly run: RunInput | null;
}

/** A kept call as it is stored. */
export interface KeptBody extends KeptCall {
  /** When the last wait began before the call was made, in Unix milliseconds; null for a turn that never waited. */
  readonly since: number | null;
  /** Number of the attempts before the one that made the call, without interrupted ones. */
  readonly attempt: number;
}

/** The progress of a turn whose process died. */
export interface Progress {
  readonly run: RunInput;
  readonly earlier: EarlierTurn;
  /** The calls that have ended. */
  readonly journal: readonly JournalEntry[];
  /** The calls without a known outcome, which may have had their effect: several only when they ran together. */
  readonly begun: readonly WaitingCall[];
}

const HEAD = z.object({
  seq: z.int().min(1),
  since: z.number().nullable(),
  attempt: z.int().min(0),
  begun: WAITING.nullable(),
  entry: ENTRY.nullable(),
  earlier: EARLIER,
  run: RUN.nullable(),
});
const KEPT = asItIs<KeptBody>(HEAD);

/**
 * The progress of a turn, from the bodies of its steps in order; null when no step was kept. `attempt` is the number of earlier attempts, whose
 * steps do not count; `suspended` is the wait from which the turn continued; `sid` is the session, for errors. Throws {@link StoreError} (`damaged`).
 */
export function progressOf(
  bodies: readonly unknown[],
  attempt: number,
  suspended: Suspension | null,
  sid: string,
): Progress | null {
  // The journal of a wait contains the calls that were kept before it.
  const calls = bodies
    .map((body) => readKept(body, sid))
    .filter((call) => call.attempt === attempt && call.since === lastWait(suspended));
  // Calls that run together may be kept out of order.
  const last = calls.reduce<KeptBody | undefined>(
    (a, b) => (a === undefined || b.earlier.ranMs >= a.earlier.ranMs ? b : a),
    undefined,
  );
  if (last === undefined) return null;
  const run = suspended?.earlier.run ?? calls.find((call) => call.run !== null)?.run ?? null;
  if (run === null) throw damaged(sid, 'they lack the run to which they belong');
  const before = suspended?.earlier.journal ?? [];
  const known = new Set(before.map(({ seq }) => seq));
  const kept = calls.filter(({ seq }) => !known.has(seq));
  return {
    run,
    earlier: last.earlier,
    journal: [...before, ...kept.flatMap(({ entry }) => (entry === null ? [] : [entry]))],
    begun: kept.flatMap(({ begun }) => (begun === null ? [] : [begun])),
  };
}

/** The time at which the latest waiting call of a suspended turn began to wait; null for a turn that never waited. */
export function lastWait(suspended: Suspension | null): number | null {
  return suspended && storedCalls(suspended).reduce((last, { since }) => Math.max(last, since), Number.NEGATIVE_INFINITY);
}

/** The data of a kept call. Throws {@link StoreError} (`damaged`). */
export function readKept(body: unknown, sid: string): KeptBody {
  const read = KEPT.safeParse(body, FIRST_ISSUE);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw damaged(sid, `${issue?.path.join('.')}: ${issue?.message}`, read.error);
}

function damaged(sid: string, why: string, cause?: unknown): StoreError {
  const what = `the steps of the started turn of session ${JSON.stringify(sid)} cannot be read`;
  return new StoreError('damaged', `${what}: ${why}`, { cause });
}
