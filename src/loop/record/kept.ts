import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { StoreError } from '../../sqlite/error.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { RunInput } from '../../wire/protocol.ts';
import { type EarlierTurn, type Suspension, storedCalls } from './suspension.ts';

/** Whether a store keeps a turn at its end alone, or each of its calls too. */
export type Durable = 'turn' | 'call';

/** One call of a turn, kept before the program went on. */
export interface KeptCall {
  readonly seq: number;
  /** The call, if nobody knows how it ended. */
  readonly begun: WaitingCall | null;
  /** The call, if it has ended. */
  readonly entry: JournalEntry | null;
  /** The turn up to this call. */
  readonly earlier: EarlierTurn;
  /** What runs; in the first call alone. */
  readonly run: RunInput | null;
}

/** A kept call as it is stored. */
export interface KeptBody extends KeptCall {
  /** When the last wait began before the call was made, in Unix milliseconds; null for a turn that never waited. */
  readonly since: number | null;
}

/** How far a turn had come when its process died. */
export interface Progress {
  readonly run: RunInput;
  readonly earlier: EarlierTurn;
  /** The calls that have ended. */
  readonly journal: readonly JournalEntry[];
  /** The calls that were made and may have had their effect: several only when they ran together. */
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
 * How far a turn had come, from the bodies of its steps in order; null when it has kept none. `suspended` is the wait from which it
 * continued. Throws {@link StoreError} (`damaged`).
 */
export function progressOf(bodies: readonly unknown[], suspended: Suspension | null): Progress | null {
  // What was kept before a wait is in the journal of the wait.
  const calls = bodies.map(readKept).filter(({ since }) => since === lastWait(suspended));
  // Calls that run together need not be kept in the order of their numbers.
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

/** When the latest of the calls began to wait for which a turn was put aside; null for a turn that never waited. */
export function lastWait(suspended: Suspension | null): number | null {
  return suspended && storedCalls(suspended).reduce((last, { since }) => Math.max(last, since), Number.NEGATIVE_INFINITY);
}

function readKept(body: unknown): KeptBody {
  const read = KEPT.safeParse(body, FIRST_ISSUE);
  if (read.success) return read.data;
  throw new StoreError('damaged', 'a step of a started turn cannot be read', { cause: read.error });
}
