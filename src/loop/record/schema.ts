import { z } from 'zod';
import { mapOf } from '../../files/check.ts';
import { otherVersion, STORED_VERSION } from '../../wire/forms.ts';
import { HALT_REASONS, isHaltReason } from './decision.ts';
import { ATTEMPT, ERROR, LEFT_OVER, RECORDED_USAGE, SHOWN_ERROR, USAGE, USD } from './parts.ts';

/*
 * The schemas of a turn: the public form that `turn --json` prints, and the record that a store keeps. The readers of stores,
 * exports and replays and the command `inspect` use them; `docs/schemas/turn.schema.json` is generated from `PUBLIC_TURN`.
 */

const count = z.int().min(0);
const position = z.int().min(1);

/** Why the host halted a session or a turn. */
export const HALT_REASON = z.enum(Object.keys(HALT_REASONS).filter(isHaltReason));

const DECISION = z.enum(['CONTINUE', 'DONE', 'ABORT', 'HALT']);
const TOKEN_CODE = z.enum(['ERR_TOKEN_PARSE', 'ERR_TOKEN_VERIFY', 'ERR_TOKEN_SCOPE', 'ERR_TOKEN_TTL', 'ERR_TOKEN_REPLAY']);

/** The usage of a turn's agent. */
export const AGENT_USE = z
  .object({
    name: z.string().nullable(),
    asks: position.meta({ description: 'More than 1 after a reply without an envelope.' }),
    tokens: count,
    inputTokens: count.nullable().meta({ description: 'Null when the agent does not report it.' }),
    outputTokens: count.nullable(),
    cost: USD.optional().meta({ description: 'US dollars; absent for none.' }),
  })
  .meta({ id: 'agent' });

/** The public form of a turn, as `TurnResult` declares it. */
export const PUBLIC_TURN = z
  .object({
    sid: z.string().min(1).meta({ description: 'Session id.' }),
    turn: position.meta({ description: 'Index of the turn; turns count from 1.' }),
    decision: DECISION,
    reason: HALT_REASON.exclude(['ERR_MAX_TURNS'])
      .nullable()
      .meta({ description: 'Why the host halted; null for every other decision.' }),
    kid: z.string().nullable().meta({ description: 'Key of the chosen token; null when no token verified.' }),
    jti: z.string().nullable().meta({ description: 'Id of the chosen token; null when no token verified.' }),
    output: z.string().meta({ description: 'All emitted texts, each followed by a line feed.' }),
    scratchpad: z.string().meta({ description: 'All whispered texts, each followed by a line feed.' }),
    lints: z.array(z.object({ code: z.string().regex(/^LINT_[A-Z_]+$/), line: position })),
    candidates: z
      .array(z.object({ line: position, ok: z.boolean(), code: TOKEN_CODE.nullable() }))
      .meta({ description: 'Lines of OUTPUT that have the shape of a token, in the order of emission.' }),
    agent: AGENT_USE.nullable().meta({ description: "What the turn's agent used; null when no agent was consulted." }),
    usage: USAGE,
    error: SHOWN_ERROR.nullable(),
  })
  .meta({
    title: 'One decided turn',
    description: 'What `turn --json` prints; also each element of `turns` of `loop --json`.',
    if: { properties: { decision: { const: 'HALT' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { reason: { type: 'string' } } },
    else: { properties: { reason: { type: 'null' }, error: { type: 'null' } } },
  });

/** A person's answer to a plan, as `SignedPlan` declares it. */
export const SIGNED_PLAN = z.object({
  attempt: position,
  program: z.string(),
  shown: z.string(),
  grant: z.looseObject({}).nullable(),
  kid: z.string(),
  tag: z.string(),
});

/** The record of a turn, as `TurnRecord` declares it. */
export const RECORD = PUBLIC_TURN.extend({
  error: ERROR.nullable(),
  version: z.literal(STORED_VERSION, { error: ({ input }) => otherVersion('the record', input) }),
  startedAt: z.number(),
  latencyMs: z.number(),
  phases: z.array(
    z.object({ name: z.enum(['store', 'prepare', 'queue', 'load', 'run', 'verify']), begin: z.number(), ms: z.number().min(0) }),
  ),
  usage: RECORDED_USAGE,
  inputs: z.looseObject({
    envelope: z.string(),
    limits: mapOf(z.number()),
    nonce: z.string(),
    clock: z.array(z.number()),
    jtis: z.array(z.string()),
    scene: z.looseObject({}).nullable(),
  }),
  overridden: DECISION.exclude(['HALT']).nullable(),
  verificationFailureReason: TOKEN_CODE.nullable(),
  outputBytes: count,
  scratchBytes: count,
  outputComplete: z.boolean(),
  whispers: z.array(z.object({ to: z.string(), text: z.string() })),
  digest: z.string().nullable(),
  journal: z.array(z.looseObject({ kind: z.string(), name: z.string().optional() })),
  repeats: z.array(position).optional(),
  attempts: z.array(ATTEMPT).min(1).optional(),
  leftOver: z.array(LEFT_OVER).optional(),
  plans: z.array(SIGNED_PLAN).min(1).optional(),
  erased: z.array(z.string()).optional(),
  seal: z.object({ prev: z.string().nullable(), hash: z.string(), parts: mapOf(z.string()) }),
});
