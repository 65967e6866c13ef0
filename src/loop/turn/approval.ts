import { createHash } from 'node:crypto';
import { canonicalize } from '../../aeiou/index.ts';
import { Approval, type Gate, NOT_APPROVED } from '../../tools/index.ts';

/** The canonical JSON of a plan (RFC 8785), as a human reads it before approving. Throws `JsonError` for a value that has none. */
export function canonicalPlan(plan: unknown): string {
  return canonicalize(plan, 'doubles');
}

/**
 * What a human approves: the SHA-256 of the plan's canonical JSON, in lower-case hexadecimal. The host computes the hash
 * again from what will run and compares, so an approval of one plan never covers another. Throws `JsonError`.
 */
export function planHash(plan: unknown): string {
  return createHash('sha256').update(canonicalPlan(plan)).digest('hex');
}

/**
 * The right to execute the plan of this hash once, through this gate. Only the code that receives a human's command should
 * call this; a loop is given an approval and cannot make one.
 */
export function humanApproval(hash: string, gate: Gate): Approval {
  return new Approval({ hash, hashOf: planHash, gate });
}

/** A human's approval for a turn. */
export interface TurnApproval {
  /** Tools that require approval spend it, too. */
  readonly approval?: Approval | undefined;
  /** Whether ACTIONS as a whole runs only if `approval` covers it, as the plan `{"actions": TEXT}`. */
  readonly requiresApproval?: boolean;
}

/** Tells the gate's executor that the turn failed. */
class TurnFailed extends Error {}

/**
 * Runs ACTIONS that requires approval, if its approval allows it. Resolves with the result, or with the line to show when approval is
 * missing. A failed execution is not recorded as executed; one that waits for an answer has begun and counts as executed.
 */
export async function approved<R>(
  { approval }: TurnApproval,
  actions: string,
  run: () => Promise<R>,
  succeeded: (result: R) => boolean,
): Promise<{ readonly denied: string } | { readonly result: R }> {
  if (approval === undefined) return { denied: NOT_APPROVED };
  const ran: R[] = [];
  const outcome = await approval.spend({ actions }, async () => {
    const result = await run();
    ran.push(result);
    if (!succeeded(result)) throw new TurnFailed('the turn failed');
  });
  if (outcome.state === 'denied') return { denied: outcome.verdict.line };
  if (outcome.state === 'failed' && !(outcome.error instanceof TurnFailed)) throw outcome.error;
  const [result] = ran;
  return result === undefined ? { denied: NOT_APPROVED } : { result };
}
