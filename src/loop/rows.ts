import { z } from 'zod';
import { LIMITS } from '../sandbox/limits.ts';
import { StoreError } from '../sqlite/error.ts';
import type { LimitValues } from '../wire/protocol.ts';
import { HALT_REASONS, type HaltReason } from './decision.ts';
import type { TurnRecord } from './record.ts';
import type { SessionState, StartedTurn } from './store.ts';

const reason = z.custom<HaltReason>((value) => typeof value === 'string' && Object.hasOwn(HALT_REASONS, value));

const STATE: z.ZodType<SessionState> = z.object({
  sid: z.string(),
  status: z.enum(['open', 'done', 'aborted', 'halted']),
  reason: reason.nullable(),
  userdata: z.string(),
  nextTurn: z.int().min(1),
  output: z.string().nullable(),
  scratchpad: z.string().nullable(),
  progress: z.object({ digest: z.string().nullable(), repeats: z.int().min(0) }),
  spent: z.object({ fuel: z.number().min(0), tokens: z.int().min(0) }),
});

const limits = z.custom<LimitValues>(
  (value) =>
    z.record(z.string(), z.number()).safeParse(value).success && LIMITS.every(({ key }) => Object.hasOwn(Object(value), key)),
);

const STARTED: z.ZodType<StartedTurn> = z.object({
  sid: z.string(),
  turn: z.int().min(1),
  attempt: z.int().min(1),
  nonce: z.string(),
  startedAt: z.number(),
  reply: z.string().nullable(),
  tokens: z.int().min(0),
  limits,
});

/** What is looked at of a record: the rest was written by this program, and is the reader's own to take or leave. */
const RECORD_HEAD = z.looseObject({ version: z.literal(1), sid: z.string(), turn: z.int().min(1), decision: z.string() });
const RECORD = z.custom<TurnRecord>((value) => RECORD_HEAD.safeParse(value).success, 'it is no record of a turn');

/** The state of a session, from the JSON text of a row. Throws {@link StoreError} (`damaged`), as the others do. */
export function readState(text: unknown): SessionState {
  return checked('a session', text, STATE);
}

/** A started turn. */
export function readStarted(text: unknown): StartedTurn {
  return checked('a started turn', text, STARTED);
}

/** The record of a turn. */
export function readRecord(text: unknown): TurnRecord {
  return checked('a turn', text, RECORD);
}

function checked<T>(what: string, text: unknown, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(String(text)));
  } catch (error) {
    throw new StoreError('damaged', `${what} in the store cannot be read: ${String(error).split('\n')[0]}`, { cause: error });
  }
}
