import { Approval, type Gate, NOT_APPROVED } from '../../tools/index.ts';
import { planHash } from '../plan.ts';

/**
 * The right that a human's command brings along: to execute the plan of this hash, once, through this gate. For the code that
 * takes the command, and for no other; a loop is given one and cannot make one.
 */
export function humanApproval(hash: string, gate: Gate): Approval {
  return new Approval({ hash, hashOf: planHash, gate });
}

/** What a turn may do without being asked again. */
export interface TurnApproval {
  /** The human's; also spent by tools that require one. */
  readonly approval?: Approval;
  /** Whether ACTIONS as a whole runs only if `approval` was given for it: plan `{"actions": TEXT}`. */
  readonly requiresApproval?: boolean;
}

/** Thrown within the work of a turn, to tell the gate's executor that it failed. */
class Unsuccessful extends Error {}

/**
 * Runs ACTIONS once its human has approved it: the line to be shown when not, else the result. An execution that fails is not
 * recorded as executed; one that waits for an answer has begun, and counts as executed.
 */
export async function approved<R>(
  { approval, requiresApproval = false }: TurnApproval,
  actions: string,
  run: () => Promise<R>,
  succeeded: (result: R) => boolean,
): Promise<{ readonly denied: string } | { readonly result: R }> {
  if (!requiresApproval) return { result: await run() };
  if (approval === undefined) return { denied: NOT_APPROVED };
  const ran: R[] = [];
  const outcome = await approval.spend({ actions }, async () => {
    const result = await run();
    ran.push(result);
    if (!succeeded(result)) throw new Unsuccessful('the turn failed');
  });
  if (outcome.state === 'denied') return { denied: outcome.verdict.line };
  if (outcome.state === 'failed' && !(outcome.error instanceof Unsuccessful)) throw outcome.error;
  const [result] = ran;
  return result === undefined ? { denied: NOT_APPROVED } : { result };
}
