import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { StoreError } from '../../sqlite/error.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { RunInput } from '../../wire/protocol.ts';
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

const object = z.looseObject({});
const HEAD = z.object({
  seq: z.int().min(1),
  since: z.number().nullable(),
  begun: z.looseObject({ seq: z.int().min(1), tool: z.string(), args: z.array(z.unknown()), reason: z.string() }).nullable(),
  entry: z.looseObject({ seq: z.int().min(1), kind: z.enum(['tool', 'prompt', 'ask']), outcome: object }).nullable(),
  earlier: z.looseObject({ nonce: z.string(), startedAt: z.number(), ranMs: z.number(), mints: z.int().min(0) }),
  run: z.looseObject({ sources: z.array(object), limits: object, globals: object }).nullable(),
});
const KEPT = z.custom<KeptBody>((value) => HEAD.validate(value));

/**
 * The progress of a turn, from the bodies of its steps in order; null when no step was kept. `suspended` is the wait from which the turn
 * continued. Throws {@link StoreError} (`damaged`).
 */
export function progressOf(bodies: readonly unknown[], suspended: Suspension | null): Progress | null {
  // The journal of a wait contains the calls that were kept before it.
  const calls = bodies.map(readKept).filter(({ since }) => since === lastWait(suspended));
  // Calls that run together may be kept out of order.
  const last = calls.reduce<KeptBody | undefined>(
    (a, b) => (a === undefined || b.earlier.ranMs >= a.earlier.ranMs ? b : a),
    undefined,
  );
  if (last === undefined) return null;
  const run = suspended?.earlier.run ?? calls.find((call) => call.run !== null)?.run ?? null;
  if (run === null) throw new StoreError('damaged', 'the steps of a turn lack the run to which they belong');
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

function readKept(body: unknown): KeptBody {
  const read = KEPT.safeParse(body, FIRST_ISSUE);
  if (read.success) return read.data;
  throw new StoreError('damaged', 'a step of a started turn cannot be read', { cause: read.error });
}
