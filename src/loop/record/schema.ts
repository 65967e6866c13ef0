import { z } from 'zod';
import { HALT_REASONS, isHaltReason } from './decision.ts';

/*
 * The form of a turn: what `turn --json` prints, and what a store keeps. The readers of stores, of exports and of replays, and
 * `inspect`, take their schemas from here; `schemas/turn.schema.json` is generated from `PUBLIC_TURN`.
 */

const count = z.int().min(0);
const position = z.int().min(1);

/** Why the host halted a session or a turn. */
export const HALT_REASON = z.enum(Object.keys(HALT_REASONS).filter(isHaltReason));

const DECISION = z.enum(['CONTINUE', 'DONE', 'ABORT', 'HALT']);
const TOKEN_CODE = z.enum(['ERR_TOKEN_PARSE', 'ERR_TOKEN_VERIFY', 'ERR_TOKEN_SCOPE', 'ERR_TOKEN_TTL', 'ERR_TOKEN_REPLAY']);

/** What a turn took of its agent. */
export const AGENT_USE = z
  .object({
    name: z.string().nullable(),
    asks: position.meta({ description: 'More than once after replies that held no envelope.' }),
    tokens: count,
    inputTokens: count.nullable().meta({ description: 'Null where the agent does not tell.' }),
    outputTokens: count.nullable(),
  })
  .meta({ id: 'agent' });

/** What a run used. */
const USAGE = z
  .object({
    fuel: count,
    cpuMs: z.number().min(0),
    wallMs: z.number().min(0),
    peakMemoryBytes: count,
    toolCalls: count,
    outputBytes: count,
  })
  .meta({ id: 'usage' });

const ERROR = z
  .object({
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
  })
  .meta({ id: 'error', description: "Why an envelope, a program or the host's input failed." });

/** The public form of a turn, as `TurnResult` declares it. */
export const PUBLIC_TURN = z
  .object({
    sid: z.string().min(1).meta({ description: 'Session id.' }),
    turn: position.meta({ description: 'Index of the turn; turns count from 1.' }),
    decision: DECISION,
    reason: HALT_REASON.exclude(['ERR_MAX_TURNS', 'ERR_AGENT'])
      .nullable()
      .meta({ description: 'Why the host halted; null for every other decision.' }),
    kid: z.string().nullable().meta({ description: 'Key of the token that was chosen; null when none verified.' }),
    jti: z.string().nullable().meta({ description: 'Id of the token that was chosen; null when none verified.' }),
    output: z.string().meta({ description: 'Everything emitted, each text with its line feed.' }),
    scratchpad: z.string().meta({ description: 'Everything whispered, each text with its line feed.' }),
    lints: z.array(z.object({ code: z.string().regex(/^LINT_[A-Z_]+$/), line: position })),
    candidates: z
      .array(z.object({ line: position, ok: z.boolean(), code: TOKEN_CODE.nullable() }))
      .meta({ description: 'Lines of OUTPUT with the form of a token, in the order they were emitted.' }),
    agent: AGENT_USE.nullable().meta({ description: 'What the turn took of its agent; null when none was asked.' }),
    usage: USAGE,
    error: ERROR.nullable(),
  })
  .meta({
    title: 'One decided turn',
    description: 'What `turn --json` prints; also each element of `turns` of `loop --json`.',
    if: { properties: { decision: { const: 'HALT' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { reason: { type: 'string' } } },
    else: { properties: { reason: { type: 'null' }, error: { type: 'null' } } },
  });

/** The record of a turn, as `TurnRecord` declares it. Version 1 has neither `agent` nor `seal`, and no `scene`. */
export const RECORD = PUBLIC_TURN.extend({
  version: z.literal([1, 2]),
  startedAt: z.number(),
  latencyMs: z.number(),
  agent: AGENT_USE.nullish(),
  inputs: z.looseObject({
    envelope: z.string(),
    limits: z.record(z.string(), z.number()),
    nonce: z.string(),
    clock: z.array(z.number()),
    jtis: z.array(z.string()),
    scene: z.looseObject({}).nullish(),
  }),
  overridden: DECISION.exclude(['HALT']).nullable(),
  verificationFailureReason: TOKEN_CODE.nullable(),
  outputBytes: count,
  scratchBytes: count,
  outputComplete: z.boolean(),
  whispers: z.array(z.object({ to: z.string(), text: z.string() })),
  digest: z.string().nullable(),
  journal: z.array(z.looseObject({ kind: z.string(), name: z.string().optional() })),
  seal: z.object({ prev: z.string().nullable(), hash: z.string(), parts: z.record(z.string(), z.string()) }).nullish(),
});
