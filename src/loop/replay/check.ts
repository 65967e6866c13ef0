import { z } from 'zod';
import { isTurnNonce } from '../../aeiou/index.ts';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import { decode } from '../../wire/codec.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { ValueError } from '../../wire/values.ts';
import { RECORDED_LIMITS } from '../record/limits.ts';
import type { TurnRecord } from '../record/record.ts';
import { RECORD } from '../record/schema.ts';

/* The fields of a record that are used to execute it. They are checked because a file of sessions may come from any source. */

const value = z.custom<TaggedJson>((json) => json !== undefined && isTagged(json), 'it is not a value of a script');
const values = mapOf(value);
const site = z.object({
  fork: z.string(),
  source: z.string(),
  line: z.int(),
  column: z.int(),
  together: z.int().min(1).optional(),
});
const outcome = z.union([
  z.object({ ok: z.literal(true), value }),
  z.object({ ok: z.literal(false), code: z.int(), message: z.string(), hint: z.string().optional() }),
  z.object({ ok: z.literal(false), halted: z.looseObject({ kind: z.string(), code: z.string(), message: z.string() }) }),
]);
const question = z.union([
  z.object({ t: z.literal('var.get'), name: z.string() }),
  z.object({ t: z.literal('var.set'), name: z.string(), value }),
  z.object({ t: z.literal('const'), name: z.string(), value, redefine: z.boolean() }),
]);
const common = { seq: z.int().min(1), at: site, asked: z.array(question).optional(), outcome, ms: z.number() };
const entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('tool'), name: z.string(), args: z.array(value), ...common }),
  z.object({ kind: z.literal('prompt'), text: z.string(), ...common }),
  z.object({ kind: z.literal('ask'), model: z.string(), prompt: value, options: value, ...common }),
]);
const run = z.looseObject({
  sources: z.array(z.looseObject({ name: z.string(), text: z.string() })),
  globals: values,
  constants: values.optional(),
  call: z.object({ name: z.string(), args: z.array(value) }).nullable(),
  events: z.array(z.looseObject({ name: z.string(), source: z.string(), payload: value })),
  forkId: z.string(),
  turn: z.boolean(),
  stdin: z.boolean(),
  mapKeys: z.int().min(1).optional(),
});
const judged = z.looseObject({
  progress: z.object({ digest: z.string().nullable(), repeats: z.int().min(0) }),
  noProgressN: z.int().min(2).max(100),
  clockSkew: z.int().min(0),
  stopped: z.boolean(),
  mintFailed: z.boolean(),
  fresh: z.array(z.boolean()),
  keys: z.array(z.object({ kid: z.string(), alg: z.enum(['Ed25519', 'HS256']), publicKey: z.string().nullable() })),
});
const scene = z.looseObject({
  lints: z.array(z.looseObject({ code: z.string(), line: z.int() })),
  unreadable: z.object({ code: z.string(), message: z.string() }).nullable(),
  denied: z.object({ tool: z.string(), message: z.string() }).nullable(),
  run: run.nullable(),
  // A trial enforces the host's policies; the other facts are only compared.
  host: z.looseObject({ policies: z.array(z.looseObject({}).nullable()) }).nullable(),
  judged,
});
const nonce = z.string().refine(isTurnNonce, 'is not 16 bytes in base64url');
const EXECUTABLE = RECORD.pick({
  startedAt: true,
  candidates: true,
  output: true,
  scratchpad: true,
  usage: true,
  error: true,
}).extend({ inputs: RECORD.shape.inputs.extend({ limits: RECORDED_LIMITS, nonce, scene }), journal: z.array(entry) });

/** Why a record is malformed and cannot be executed; null when it can. */
export function malformation(record: TurnRecord): string | null {
  const { error } = EXECUTABLE.safeParse(record, FIRST_ISSUE);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `it is malformed: ${issue.path.join('.')}: ${issue.message}`;
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
