import { z } from 'zod';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import { resolveLimits } from '../../sandbox/index.ts';
import { decode } from '../../wire/codec.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { FlowInput } from '../../wire/labels.ts';
import { LIMITS, type LimitValues } from '../../wire/limits.ts';
import { usdProblem } from '../../wire/money.ts';
import type { AskSpent, CallSite, EventInput, RunInput, TaggedJson, Variable } from '../../wire/protocol.ts';
import { LAST_MS } from '../../wire/time.ts';
import { ValueError } from '../../wire/values.ts';
import type { FailedAttempt } from './record.ts';

/** All limits of a turn, each within the range of a host's, so that a record cannot use more of a machine than any turn may. */
export const RECORDED_LIMITS = mapOf(z.number()).transform((limits, context): LimitValues => {
  const missing = LIMITS.find(({ key }) => !Object.hasOwn(limits, key));
  try {
    if (missing !== undefined) throw new ConfigError(`limit ${missing.key} is missing`);
    return resolveLimits('turn', limits);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});

/*
 * The schemas of the calls and the input of a run, as records and turns that go on later hold them. A store and a file of sessions may come
 * from anybody, so every part with which the loop goes on is checked.
 */

/** A schema for each field of a type. A loose object takes fields that it does not name as they are. */
type Fields<T> = { readonly [Key in keyof T]-?: z.ZodType };
type Entry<Kind> = Extract<JournalEntry, { readonly kind: Kind }>;

const count = z.int().min(0);
const position = z.int().min(1);

export const USD = z.number().refine((usd) => usdProblem(usd) === null, 'it is not an amount of US dollars');

/** Unix milliseconds that a calendar has. */
export const DATE = z.number().min(-LAST_MS).max(LAST_MS);

/** A value of a script as JSON. */
const VALUE = z.custom<TaggedJson>((json) => json !== undefined && isTagged(json), 'it is not a value of a script');
const VALUES = mapOf(VALUE);

/** The place of a call. */
const AT = z.looseObject({
  fork: z.string(),
  source: z.string(),
  line: z.int(),
  column: z.int(),
  together: position.optional(),
} satisfies Fields<CallSite>);

const asked = (value: z.ZodType) =>
  z.array(
    z.union([
      z.looseObject({ t: z.literal('var.get'), name: z.string() }),
      z.looseObject({ t: z.literal('var.set'), name: z.string(), value }),
      z.looseObject({ t: z.literal('const'), name: z.string(), value, redefine: z.boolean() }),
    ]),
  );
const ASKED = asked(VALUE);

const ORIGIN = z.looseObject({ attempt: position, seq: position });

const CARRIED = z.array(
  z.looseObject({ label: z.string(), from: z.string(), source: z.string().nullable(), line: z.int().nullable() }),
);
const NAMES = z.array(z.string());

const CALL_LABELS = z.looseObject({
  call: z
    .looseObject({
      args: z.array(z.looseObject({ all: CARRIED, entries: z.record(z.string(), CARRIED).optional() })),
      deciding: CARRIED,
    })
    .optional(),
  answer: z.looseObject({ adds: NAMES, drops: NAMES }).optional(),
});

const REFUSAL = z.looseObject({
  rule: z.string(),
  entry: z.string().nullable(),
  argument: z.string().optional(),
  labels: CARRIED.optional(),
});

/** What a nested loop used. */
const SPENT = z.looseObject({
  fuel: count,
  toolCalls: count,
  cpuMs: z.number().min(0),
  turns: count,
  tokens: count,
  cost: USD.optional(),
} satisfies Fields<AskSpent>);

/** The labels of what a turn has said. */
export const SAID = z.looseObject({ output: CARRIED, scratchpad: CARRIED });

/** A recorded call whose arguments and results are checked by `value`. */
function entryOf(value: z.ZodType) {
  const outcome = z.union([
    z.looseObject({ ok: z.literal(true), value }),
    z.looseObject({ ok: z.literal(false), code: z.int(), message: z.string(), hint: z.string().optional() }),
    z.looseObject({
      ok: z.literal(false),
      halted: z.looseObject({ kind: z.string(), code: z.string(), message: z.string() }),
    }),
  ]);
  const call = {
    seq: position,
    at: AT,
    outcome,
    begin: z.number(),
    ms: z.number(),
    asked: asked(value).optional(),
    from: ORIGIN.optional(),
    called: z.array(z.string()).optional(),
    refused: REFUSAL.optional(),
    flow: CALL_LABELS.optional(),
  };
  return z.discriminatedUnion('kind', [
    z.looseObject({
      ...call,
      kind: z.literal('tool'),
      name: z.string(),
      args: z.array(value),
      work: count.optional(),
      cost: USD.optional(),
    } satisfies Fields<Entry<'tool'>>),
    z.looseObject({ ...call, kind: z.literal('prompt'), text: z.string() } satisfies Fields<Entry<'prompt'>>),
    z.looseObject({
      ...call,
      kind: z.literal('ask'),
      model: z.string(),
      prompt: value,
      options: value,
      spent: SPENT.optional(),
    } satisfies Fields<Entry<'ask'>>),
  ]);
}

export const ENTRY = entryOf(VALUE);

/** A recorded call of any values: a view cuts those that nest too deep. */
export const VIEWED_ENTRY = entryOf(z.unknown());

/** What the answer to a call must be. */
export const ANSWER_FORM = z.union([z.enum(['truth', 'number', 'text']), z.object({ choices: z.array(z.string()) })]);

export const WAITING = z.looseObject({
  seq: position,
  tool: z.string(),
  args: z.array(VALUE),
  at: AT,
  asked: ASKED,
  reason: z.string(),
  expiresIn: z.number().nullable(),
  ms: z.number().min(0),
  allows: z.literal(true).optional(),
  answer: ANSWER_FORM.optional(),
  plan: z.unknown().optional(),
} satisfies Fields<WaitingCall>);

/** What a turn had done when it stopped. */
export const EARLIER = z.looseObject({
  startedAt: DATE,
  nonce: z.string(),
  clock: z.array(z.number()),
  jtis: z.array(z.string()),
  mints: count,
  mintFailed: z.boolean(),
  ranMs: z.number().min(0),
});

const FLOW = z.looseObject({
  program: NAMES,
  globals: z.array(z.looseObject({ name: z.string(), path: NAMES, labels: NAMES })),
  events: z.array(NAMES),
} satisfies Fields<FlowInput>);

/** The input of a run. A record holds its limits apart, and the host that executes it says how the run is measured and admitted. */
export const RUN = z.looseObject({
  sources: z.array(z.looseObject({ name: z.string(), text: z.string() })),
  globals: VALUES,
  constants: VALUES.optional(),
  pure: z.array(z.string()).optional(),
  variables: z
    .array(z.looseObject({ name: z.string(), value: VALUE, labels: NAMES.optional() } satisfies Fields<Variable>))
    .optional(),
  call: z.looseObject({ name: z.string(), args: z.array(VALUE) }).nullable(),
  events: z.array(
    z.looseObject({
      name: z.string(),
      source: z.string(),
      payload: VALUE,
      id: z.string().optional(),
      ts: z.number().optional(),
    } satisfies Fields<EventInput>),
  ),
  limits: RECORDED_LIMITS,
  forkId: z.string(),
  turn: z.boolean(),
  stdin: z.boolean(),
  redefine: z.boolean().optional(),
  stopAt: z.looseObject({ fuel: count, clock: z.literal([1, 2]) }).optional(),
  flow: FLOW.optional(),
} satisfies Fields<Omit<RunInput, 'probe' | 'admission'>>);

/** The answer to a call that waited. */
export const COMPLETION = z.union([
  z.looseObject({ ok: z.literal(true), value: VALUE }),
  z.looseObject({ ok: z.literal(false), code: z.int(), message: z.string() }),
]);

/** Checks a value and keeps it as it is, with the order of its keys. Its issue is that of `head`. */
export function asItIs<T>(head: z.ZodType): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const [issue] = head.safeParse(value, FIRST_ISSUE).error?.issues ?? [];
    if (issue === undefined) return value as T;
    context.addIssue({ code: 'custom', path: issue.path, message: issue.message });
    return z.NEVER;
  });
}

function isTagged(json: unknown): boolean {
  try {
    // The result of a JSON parser has the shape of tagged JSON; decoding checks the rest.
    decode(json as TaggedJson);
    return true;
  } catch (error) {
    if (error instanceof ValueError) return false;
    throw error;
  }
}

export const USAGE = z
  .object({
    fuel: count,
    cpuMs: z.number().min(0),
    wallMs: z.number().min(0),
    peakMemoryBytes: count,
    toolCalls: count,
    outputBytes: count,
    cost: USD.optional(),
  })
  .meta({ id: 'usage' });

/** Why an envelope or a program failed. */
export const ERROR = z.object({
  kind: z.enum(['syntax', 'runtime', 'policy', 'quota', 'timeout', 'cancelled', 'usage', 'internal']),
  code: z.string().regex(/^(NS\d+|ERR_[A-Z_]+)$/),
  nsCode: z.int().nullable(),
  name: z.string(),
  message: z.string(),
  source: z.string().nullable(),
  line: position.nullable(),
  column: position.nullable(),
  hint: z.string().optional(),
  stack: z.array(z.object({ name: z.string(), source: z.string(), line: position, column: position })),
  limit: z.string().optional(),
  allowed: z.number().optional(),
  used: z.number().optional(),
});

/** The same, as a result has it. */
export const SHOWN_ERROR = ERROR.extend({
  text: z.string().meta({ description: 'All of it, as the command line prints it: place, line, hint.' }),
}).meta({ id: 'error', description: "Why an envelope, a program or the host's input failed." });

/** The usage of a run with its time in the queue. */
export const RECORDED_USAGE = USAGE.extend({ queueMs: z.number().min(0) });

/** What a program was judged by that was rejected for the names in it. */
export const JUDGED_NAMES = z.object({
  definitions: z.array(z.looseObject({ name: z.string(), text: z.string() })),
  tools: z.array(z.looseObject({ name: z.string(), least: z.int(), most: z.int(), form: z.string().optional() })),
  denied: z.array(z.object({ name: z.string(), reason: z.string() })),
  globals: z.array(z.string()).optional(),
  broken: z
    .array(z.object({ name: z.string(), file: z.string(), line: z.int(), column: z.int(), reason: z.string() }))
    .optional(),
});

const ATTEMPT_HEAD = z.looseObject({
  end: z.enum(['rejected', 'failed', 'interrupted', 'rehearsed']),
  reply: z.string(),
  envelope: z.string(),
  problems: z.array(
    z.looseObject({ code: z.string(), line: z.number(), column: z.number(), message: z.string(), hint: z.string().nullable() }),
  ),
  error: ERROR,
  limits: RECORDED_LIMITS,
  clock: z.array(z.number()),
  jtis: z.array(z.string()),
  unreadable: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  denied: z.looseObject({ tool: z.string(), message: z.string() }).nullable(),
  names: JUDGED_NAMES.optional(),
  run: RUN.omit({ limits: true }).nullable(),
  output: z.string(),
  scratchpad: z.string(),
  outputComplete: z.boolean(),
  labels: SAID.optional(),
  whispers: z.array(z.unknown()),
  journal: z.array(ENTRY),
  usage: RECORDED_USAGE,
} satisfies Fields<FailedAttempt>);

/** An attempt at a turn that did not decide it. */
export const ATTEMPT: z.ZodType<FailedAttempt> = asItIs<FailedAttempt>(ATTEMPT_HEAD);

/** A call with effects that the deciding attempt did not take. */
export const LEFT_OVER = ORIGIN.extend({ tool: z.string() });
