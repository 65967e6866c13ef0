import { z } from 'zod';
import { resolveLimits } from '../../sandbox/limits.ts';
import { StoreError } from '../../sqlite/error.ts';
import { ConfigError } from '../../wire/errors.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';
import type { Suspension, Waiting } from '../suspend/suspension.ts';
import type { TurnRecord } from '../turn/record.ts';
import { AGENT_USE, HALT_REASON, RECORD } from '../turn/schema.ts';
import type { SessionState, StartedTurn } from './store.ts';

const STATE: z.ZodType<SessionState> = z.object({
  sid: z.string(),
  status: z.enum(['open', 'done', 'aborted', 'halted']),
  reason: HALT_REASON.nullable(),
  userdata: z.string(),
  nextTurn: z.int().min(1),
  output: z.string().nullable(),
  scratchpad: z.string().nullable(),
  progress: z.object({ digest: z.string().nullable(), repeats: z.int().min(0) }),
  spent: z.object({ fuel: z.number().min(0), tokens: z.int().min(0) }),
  // Not there in states that older versions kept.
  head: z.string().nullable().default(null),
  parent: z
    .object({ sid: z.string().nullable(), turn: z.int().nullable(), seq: z.int().min(1) })
    .nullable()
    .default(null),
});

/** The limits that every store holds of its turns: the rows of the table up to `eventCount`. A turn may lack the later rows. */
const FIRST = LIMITS.slice(0, LIMITS.findIndex(({ key }) => key === 'eventCount') + 1);

/** A turn that an older version started gets the defaults of what it lacks; unknown limits and amounts out of range are damage. */
const limits = z.record(z.string(), z.number()).transform((kept): LimitValues => {
  const lacking = FIRST.find(({ key }) => !Object.hasOwn(kept, key));
  if (lacking !== undefined) throw new ConfigError(`limit ${lacking.key} is missing`);
  return resolveLimits('turn', kept);
});

const WAITING_HEAD = z.looseObject({ call: z.string(), tool: z.string(), reason: z.string(), expiresAt: z.number() });
const SUSPENSION_HEAD = z.looseObject({
  waiting: z.looseObject({ seq: z.int().min(1), tool: z.string(), reason: z.string() }),
  earlier: z.looseObject({ nonce: z.string(), run: z.looseObject({ limits: z.unknown() }), journal: z.array(z.unknown()) }),
  expiresAt: z.number(),
});
/** As with records: the rest was written by this program. */
const SUSPENSION = z
  .custom<Suspension>((value) => SUSPENSION_HEAD.safeParse(value).success)
  .transform((kept): Suspension => {
    const { run } = kept.earlier;
    return { ...kept, earlier: { ...kept.earlier, run: { ...run, limits: limits.parse(run.limits) } } };
  });

const STARTED: z.ZodType<StartedTurn> = z.object({
  sid: z.string(),
  turn: z.int().min(1),
  attempt: z.int().min(0),
  nonce: z.string(),
  startedAt: z.number(),
  reply: z.string().nullable(),
  // Not there in turns that older versions started.
  agent: AGENT_USE.nullable().default(null),
  limits,
  // Not there in turns that older versions started.
  suspended: SUSPENSION.nullable().default(null),
});

const WAITING = z.custom<Waiting>((value) => WAITING_HEAD.safeParse(value).success);

/** The fields that are checked of a record when it is read; those who execute or show it check what they use. */
const RECORD_HEAD = RECORD.pick({ version: true, sid: true, turn: true, decision: true })
  .extend({ inputs: z.looseObject({}) })
  .loose();
/** A record of version 1 lacks what came with version 2. */
const STORED_RECORD = z
  .unknown()
  .transform((value) => {
    const head = RECORD_HEAD.safeParse(value);
    if (!head.success || head.data.version === 2) return value;
    return { ...head.data, agent: null, inputs: { ...head.data.inputs, scene: null }, seal: null };
  })
  .pipe(z.custom<TurnRecord>((value) => RECORD_HEAD.safeParse(value).success, 'it is no record of a turn'));

/** The state of a session, from the JSON text of a row. Throws {@link StoreError} (`damaged`), as the others do. */
export function readState(text: unknown, sid: string): SessionState {
  return checked(`session ${JSON.stringify(sid)} in the store`, text, STATE);
}

/** A started turn. */
export function readStarted(text: unknown): StartedTurn {
  return checked('a started turn in the store', text, STARTED);
}

/** What a turn waits for. */
export function readWaiting(text: unknown): Waiting {
  return checked('a turn that waits in the store', text, WAITING);
}

/** The record of a turn; `what` is how an error calls it, with its place. */
export function readRecord(text: unknown, what = 'a turn in the store'): TurnRecord {
  return checked(what, text, STORED_RECORD);
}

function checked<T>(what: string, text: unknown, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(String(text)));
  } catch (error) {
    throw new StoreError('damaged', `${what} cannot be read: ${problemOf(error)}`, { cause: error });
  }
}

/** One line: the first place where it is not of its form, or where it is no JSON. */
function problemOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const [issue] = error.issues;
  const place = issue?.path.join('.') ?? '';
  return `${place === '' ? '' : `${place}: `}${issue?.message ?? 'it is not of its form'}`;
}
