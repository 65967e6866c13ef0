import { z } from 'zod';
import type { UsedId } from '../../aeiou/index.ts';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import { StoreError } from '../../sqlite/error.ts';
import { jsonFrom } from '../../wire/foreign.ts';
import { messageOf } from '../../wire/unknown.ts';
import {
  ANSWER_FORM,
  ATTEMPT,
  asItIs,
  COMPLETION,
  DATE,
  EARLIER,
  ENTRY,
  RECORDED_LIMITS,
  RUN,
  USD,
  WAITING,
} from '../record/parts.ts';
import type { TurnRecord } from '../record/record.ts';
import { AGENT_USE, HALT_REASON, RECORD } from '../record/schema.ts';
import type { Suspension, Waiting } from '../record/suspension.ts';
import type { JsonObject } from './setup.ts';
import type { SessionState, StartedTurn } from './store.ts';

// Loose objects, as for started turns: this version must keep the fields that a newer version added.
const STATE: z.ZodType<SessionState> = z.looseObject({
  sid: z.string(),
  status: z.enum(['open', 'done', 'aborted', 'halted']),
  reason: HALT_REASON.nullable(),
  message: z.string().nullable(),
  userdata: z.string(),
  nextTurn: z.int().min(1),
  output: z.string().nullable(),
  scratchpad: z.string().nullable(),
  progress: z.object({ digest: z.string().nullable(), repeats: z.int().min(0) }),
  called: z.array(z.string()).optional(),
  origins: z.object({ read: z.array(z.string()), userdata: z.array(z.string()) }).optional(),
  spent: z.object({ fuel: z.number().min(0), tokens: z.int().min(0), cost: USD.optional() }),
  agent: z.string().nullable(),
  head: z.string().nullable(),
  parent: z.object({ sid: z.string().nullable(), turn: z.int().nullable(), seq: z.int().min(1) }).nullable(),
});

const PUBLIC_CALL = z.looseObject({
  call: z.string(),
  turn: z.int(),
  tool: z.string(),
  args: z.array(z.unknown()),
  reason: z.string(),
  since: z.number(),
  expiresAt: z.number(),
  completed: z.boolean(),
  answer: ANSWER_FORM.optional(),
});
const PUBLIC_HEAD = PUBLIC_CALL.extend({ also: z.array(PUBLIC_CALL).optional() });
const STORED_CALL = z.looseObject({
  waiting: WAITING,
  promise: z.string().nullable(),
  since: z.number(),
  expiresAt: z.number(),
  completion: COMPLETION.nullable(),
  acceptChanged: z.boolean(),
});
const SUSPENSION_HEAD = STORED_CALL.extend({
  alsoWaiting: z.array(STORED_CALL).optional(),
  earlier: EARLIER.extend({ run: RUN, journal: z.array(ENTRY) }),
  approved: z.object({ plan: z.string(), kid: z.string(), tag: z.string() }).nullable(),
});
/** Checks every part with which the loop goes on. It keeps the value itself: the order of its keys is signed. */
const SUSPENSION = asItIs<Suspension>(SUSPENSION_HEAD);

const STARTED: z.ZodType<StartedTurn> = z.looseObject({
  sid: z.string(),
  turn: z.int().min(1),
  attempt: z.int().min(0),
  nonce: z.string(),
  startedAt: DATE,
  reply: z.string().nullable(),
  agent: AGENT_USE.nullable(),
  limits: RECORDED_LIMITS,
  runner: z.string().nullable(),
  failed: z.boolean().optional(),
  deaths: z.array(z.object({ instance: z.string().nullable(), until: z.number() })).optional(),
  suspended: SUSPENSION.nullable(),
  attempts: z.array(ATTEMPT),
});

const USED: z.ZodType<readonly UsedId[]> = z.array(z.object({ jti: z.string(), second: z.number() }));
const OBJECT: z.ZodType<JsonObject> = mapOf(z.unknown());
const PUBLIC_WAITING = asItIs<Waiting>(PUBLIC_HEAD);

/** The part of a record that is checked when it is read: what a seal needs, too. Code that executes or shows a record checks the fields that it uses. */
const RECORD_HEAD = RECORD.pick({ version: true, sid: true, turn: true, decision: true, journal: true, erased: true, seal: true })
  .extend({
    startedAt: DATE,
    inputs: RECORD.shape.inputs.pick({ envelope: true, limits: true, scene: true }).loose(),
    attempts: z.array(RECORD.pick({ journal: true }).loose()).optional(),
  })
  .loose();
const STORED_RECORD = asItIs<TurnRecord>(RECORD_HEAD);

/** The state of a session, from the JSON text of a row. Throws {@link StoreError} (`damaged`), as do the other readers. */
export function readState(text: unknown, sid: string): SessionState {
  const what = `session ${JSON.stringify(sid)} in the store`;
  const state = checked(what, text, STATE);
  mustBe(what, 'session', state.sid, sid);
  return state;
}

/** The started turn of a session; `turn` is the one that comes next. */
export function readStarted(text: unknown, sid: string, turn: number): StartedTurn {
  const what = `the started turn of session ${JSON.stringify(sid)} in the store`;
  const started = checked(what, text, STARTED);
  mustBe(what, 'session', started.sid, sid);
  mustBe(what, 'turn', started.turn, turn);
  return started;
}

/** The public form of the suspension of a session. */
export function readWaiting(text: unknown, sid: string): Waiting {
  return checked(`the waiting turn of session ${JSON.stringify(sid)} in the store`, text, PUBLIC_WAITING);
}

/** Throws {@link StoreError} (`damaged`) when a row has what belongs to another session or turn. */
function mustBe(what: string, part: string, found: string | number, expected: string | number): void {
  if (found === expected) return;
  const [other, own] = [found, expected].map((each) => JSON.stringify(each));
  throw new StoreError('damaged', `${what} cannot be read: it is of ${part} ${other}, not ${own}`);
}

export function readUsed(text: unknown): readonly UsedId[] {
  return checked('the used token ids of a session in the store', text, USED);
}

export function readStep(text: unknown, sid: string): JsonObject {
  return checked(`a step of the started turn of session ${JSON.stringify(sid)} in the store`, text, OBJECT);
}

export function readConfiguration(text: unknown, sid: string): JsonObject {
  return checked(`the configuration of session ${JSON.stringify(sid)} in the store`, text, OBJECT);
}

export function listOf<T>(text: unknown, item: z.ZodType<T>, what: string): readonly T[] {
  return checked(`${what} in the store`, text, z.array(item));
}

/** The record of a turn; `what` names it in errors. */
export function readRecord(text: unknown, what = 'a turn in the store'): TurnRecord {
  return checked(what, text, STORED_RECORD);
}

export function readTurn(text: unknown, sid: string, turn: number): TurnRecord {
  const what = `turn ${turn} of session ${JSON.stringify(sid)} in the store`;
  const record = readRecord(text, what);
  mustBe(what, 'session', record.sid, sid);
  mustBe(what, 'turn', record.turn, turn);
  return record;
}

/** The JSON of a value that `read` can read again from a row. Throws {@link StoreError} (`refused`) for any other value. */
export function storable(value: unknown, read: (text: string) => unknown): string {
  return storableText(() => value, read);
}

/** As {@link storable}, for an object of the application, which JSON must not change. */
export function storableObject(value: JsonObject, read: (text: string) => unknown): string {
  return storableText(() => jsonFrom(value), read);
}

function storableText(make: () => unknown, read: (text: string) => unknown): string {
  try {
    const text = JSON.stringify(make());
    read(text);
    return text;
  } catch (error) {
    throw new StoreError('refused', `nothing was stored, because it could not be read again: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function checked<T>(what: string, text: unknown, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(String(text)), FIRST_ISSUE);
  } catch (error) {
    throw new StoreError('damaged', `${what} cannot be read: ${problemOf(error)}`, { cause: error });
  }
}

/** Describes the first problem in one line. */
function problemOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return messageOf(error);
  const [issue] = error.issues;
  const place = issue?.path.join('.') ?? '';
  return `${place === '' ? '' : `${place}: `}${issue?.message ?? 'it is not of its form'}`;
}
