import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { SAID, VIEWED_ENTRY } from './parts.ts';
import type { TurnRecord } from './record.ts';
import { RECORD } from './schema.ts';

const nullable = z.string().nullable();
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
  journal: z.array(VIEWED_ENTRY),
  candidates: z.array(candidate),
  labels: SAID.optional(),
});

/** Why a record cannot be shown; null when it can. */
export function recordProblem(record: TurnRecord): string | null {
  const { error } = VIEWED.safeParse(record, FIRST_ISSUE);
  const [issue] = error?.issues ?? [];
  return issue === undefined ? null : `it is malformed: ${issue.path.join('.')}: ${issue.message}`;
}
