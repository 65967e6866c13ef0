import { z } from 'zod';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import type { TurnRecord } from './record.ts';
import { RECORD } from './schema.ts';

const nullable = z.string().nullable();
const outcome = z.union([
  z.looseObject({ ok: z.literal(true), value: z.unknown() }),
  z.looseObject({ ok: z.literal(false), code: z.number(), message: z.string(), hint: z.string().optional() }),
  z.looseObject({ ok: z.literal(false), halted: z.looseObject({ code: z.string(), message: z.string() }) }),
]);
const at = z.looseObject({
  fork: z.string(),
  source: z.string(),
  line: z.number(),
  column: z.number(),
  together: z.number().optional(),
});
const call = z.looseObject({ seq: z.int().min(1), at, outcome, ms: z.number() });
const entry = z.discriminatedUnion('kind', [
  call.extend({ kind: z.literal('tool'), name: z.string(), args: z.array(z.unknown()) }),
  call.extend({ kind: z.literal('prompt'), text: z.string() }),
  call.extend({ kind: z.literal('ask'), model: z.string(), prompt: z.unknown(), options: z.unknown() }),
]);
const candidate = z.looseObject({
  line: z.int().min(1),
  ok: z.boolean(),
  code: nullable,
  detail: nullable,
  message: nullable,
  jti: nullable,
});

/** Everything of a record that the inspector and `sessions show` print. A store is foreign, and its reader checks only the head of a record. */
const VIEWED = RECORD.extend({
  journal: z.array(entry),
  candidates: z.array(candidate),
  // Earlier versions recorded other codes; a view only prints them.
  lints: z.array(z.looseObject({ code: z.string(), line: z.number() })),
  seal: z.looseObject({ prev: nullable, hash: z.string(), parts: mapOf(z.string()) }).nullish(),
});

/** Why a record cannot be shown; null when it can. */
export function recordProblem(record: TurnRecord): string | null {
  const { error } = VIEWED.safeParse(record, FIRST_ISSUE);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `it is malformed: ${issue.path.join('.')}: ${issue.message}`;
}
