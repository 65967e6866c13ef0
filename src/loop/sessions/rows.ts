import { z } from 'zod';
import type { UsedId } from '../../aeiou/index.ts';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import { resolveLimits } from '../../sandbox/index.ts';
import { StoreError } from '../../sqlite/error.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { LimitValues } from '../../wire/limits.ts';
import { messageOf } from '../../wire/unknown.ts';
import { ORIGINAL_LIMITS } from '../record/limits.ts';
import type { TurnRecord } from '../record/record.ts';
import { AGENT_USE, HALT_REASON, RECORD } from '../record/schema.ts';
import type { SignedApproval, Suspension, Waiting } from '../record/suspension.ts';
import type { JsonObject } from './setup.ts';
import type { SessionState, StartedTurn } from './store.ts';

// Loose objects, as for started turns: this version must keep the fields that a newer version added.
const STATE: z.ZodType<SessionState> = z.looseObject({
  sid: z.string(),
  status: z.enum(['open', 'done', 'aborted', 'halted']),
  reason: HALT_REASON.nullable(),
  userdata: z.string(),
  nextTurn: z.int().min(1),
  output: z.string().nullable(),
  scratchpad: z.string().nullable(),
  progress: z.object({ digest: z.string().nullable(), repeats: z.int().min(0) }),
  spent: z.object({ fuel: z.number().min(0), tokens: z.int().min(0) }),
  // Absent in states that older versions stored.
  agent: z.string().nullable().default(null),
  head: z.string().nullable().default(null),
  parent: z
    .object({ sid: z.string().nullable(), turn: z.int().nullable(), seq: z.int().min(1) })
    .nullable()
    .default(null),
});

/** Supplies defaults for limits that an older version did not store. Unknown limits and values out of range are damage. */
const limits = mapOf(z.number()).transform((kept): LimitValues => {
  const missing = ORIGINAL_LIMITS.find(({ key }) => !Object.hasOwn(kept, key));
  if (missing !== undefined) throw new ConfigError(`limit ${missing.key} is missing`);
  return resolveLimits('turn', kept);
});

const WAITING_CALL = z.looseObject({
  call: z.string(),
  turn: z.int(),
  tool: z.string(),
  args: z.array(z.unknown()),
  reason: z.string(),
  expiresAt: z.number(),
  completed: z.boolean(),
});
const WAITING_HEAD = WAITING_CALL.extend({ also: z.array(WAITING_CALL).optional() });
const SUSPENSION_HEAD = z.looseObject({
  waiting: z.looseObject({ seq: z.int().min(1), tool: z.string(), reason: z.string() }),
  earlier: z.looseObject({ nonce: z.string(), run: z.looseObject({ limits: z.unknown() }), journal: z.array(z.unknown()) }),
  expiresAt: z.number(),
});
const APPROVED: z.ZodType<SignedApproval> = z.object({ plan: z.string(), kid: z.string(), tag: z.string() });
/** Checks only the head, as for records. */
const SUSPENSION = z
  .custom<Suspension>((value) => SUSPENSION_HEAD.validate(value))
  .transform((kept): Suspension => {
    const { run } = kept.earlier;
    // Older versions stored no approval, or only its hash; such a turn needs an approval again.
    const approved = APPROVED.safeParse(kept.approved);
    return {
      ...kept,
      approved: approved.success ? approved.data : null,
      earlier: { ...kept.earlier, run: { ...run, limits: limits.parse(run.limits, FIRST_ISSUE) } },
    };
  });

const STARTED: z.ZodType<StartedTurn> = z.looseObject({
  sid: z.string(),
  turn: z.int().min(1),
  attempt: z.int().min(0),
  nonce: z.string(),
  startedAt: z.number(),
  reply: z.string().nullable(),
  // Absent in turns that older versions started.
  agent: AGENT_USE.nullable().default(null),
  limits,
  // Absent in turns that older versions started.
  suspended: SUSPENSION.nullable().default(null),
});

const USED: z.ZodType<readonly UsedId[]> = z.array(z.object({ jti: z.string(), second: z.number() }));
const OBJECT: z.ZodType<JsonObject> = mapOf(z.unknown());
const WAITING = z.custom<Waiting>((value) => WAITING_HEAD.validate(value));

/** The part of a record that is checked when it is read. Code that executes or shows a record checks the fields that it uses. */
const RECORD_HEAD = RECORD.pick({ version: true, sid: true, turn: true, decision: true, journal: true })
  .extend({ inputs: RECORD.shape.inputs.pick({ envelope: true, limits: true, scene: true }).loose() })
  .loose();
/** Supplies what version 2 of a record added to version 1. */
const STORED_RECORD = z
  .unknown()
  .transform((value) => {
    const head = RECORD_HEAD.safeParse(value, FIRST_ISSUE);
    if (!head.success || head.data.version === 2) return value;
    return { ...head.data, agent: null, inputs: { ...head.data.inputs, scene: null }, seal: null };
  })
  .pipe(z.custom<TurnRecord>((value) => RECORD_HEAD.validate(value), 'it is no record of a turn'));

/** The state of a session, from the JSON text of a row. Throws {@link StoreError} (`damaged`), as do the other readers. */
export function readState(text: unknown, sid: string): SessionState {
  return checked(`session ${JSON.stringify(sid)} in the store`, text, STATE);
}

/** A started turn. */
export function readStarted(text: unknown): StartedTurn {
  return checked('a started turn in the store', text, STARTED);
}

/** The public form of a suspension. */
export function readWaiting(text: unknown): Waiting {
  return checked('a turn that waits in the store', text, WAITING);
}

/** Token ids that a session has used. */
export function readUsed(text: unknown): readonly UsedId[] {
  return checked('the used token ids of a session in the store', text, USED);
}

/** The body of a step. */
export function readStep(text: unknown): JsonObject {
  return checked('a step of a turn in the store', text, OBJECT);
}

/** The configuration of a session. */
export function readConfiguration(text: unknown): JsonObject {
  return checked('the configuration of a session in the store', text, OBJECT);
}

/** The record of a turn; `what` names it in errors. */
export function readRecord(text: unknown, what = 'a turn in the store'): TurnRecord {
  return checked(what, text, STORED_RECORD);
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
