import { z } from 'zod';
import { isTurnNonce } from '../../aeiou/index.ts';
import { FIRST_ISSUE } from '../../files/check.ts';
import { ATTEMPT, ENTRY, JUDGED_NAMES, RECORDED_LIMITS, RUN } from '../record/parts.ts';
import type { TurnRecord } from '../record/record.ts';
import { RECORD } from '../record/schema.ts';

/* The fields of a record that are used to execute it. They are checked because a file of sessions may come from any source. */

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
  names: JUDGED_NAMES.optional(),
  run: RUN.omit({ limits: true }).nullable(),
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
}).extend({
  inputs: RECORD.shape.inputs.extend({ limits: RECORDED_LIMITS, nonce, scene: scene.nullable() }),
  journal: z.array(ENTRY),
  attempts: z.array(ATTEMPT).optional(),
});

/** Why a record is malformed and cannot be executed; null when it can. */
export function malformation(record: TurnRecord): string | null {
  const { error } = EXECUTABLE.safeParse(record, FIRST_ISSUE);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `it is malformed: ${issue.path.join('.')}: ${issue.message}`;
}
