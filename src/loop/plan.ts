import { createHash } from 'node:crypto';
import { canonicalize } from '../aeiou/index.ts';

/** The canonical JSON of a plan (RFC 8785), as a human reads it before approving. Throws `JsonError` for what has none. */
export function canonicalPlan(plan: unknown): string {
  return canonicalize(plan, 'doubles');
}

/**
 * What a human approves of a plan: the SHA-256 of its canonical JSON, in lower-case hexadecimal. Whoever executes makes the
 * plan from what will really run and compares, so that an approval of one thing is never spent on another. Throws `JsonError`.
 */
export function planHash(plan: unknown): string {
  return createHash('sha256').update(canonicalPlan(plan)).digest('hex');
}
