import { decodeToken } from '../../aeiou/index.ts';
import { type AskReply, Halt, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { AskSpent } from '../../wire/protocol.ts';
import type { HaltReason } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';
import { visibleOutput } from '../result.ts';
import type { Budget } from './budget.ts';

/** The value of the `ask` for its last turn. Throws the error of an `ask` that failed. */
export function valueOfTurn(record: TurnRecord, budget: Budget): string | null {
  const { decision, reason, error } = record;
  if (decision === 'DONE') return visibleOutput(record);
  if (decision === 'ABORT') throw new ToolError(NS_CODES.FailStatement, abortReason(record));
  const breach = error === null ? null : budget.breachOf(error);
  throw breach ?? halted(reason ?? 'ERR_TOKEN_MISSING', error?.message);
}

/** The error of a nested loop that the host ended: code 6 with the reason. */
export function halted(reason: HaltReason, message?: string): ToolError {
  return new ToolError(NS_CODES.Internal, `the ask was halted: ${reason}${message === undefined ? '' : ` (${message})`}`);
}

/** The reply to the script for the error of an `ask`; `spent` is null if no loop began. Rethrows faults of the host. */
export function replyFor(error: unknown, spent: AskSpent | null): AskReply {
  const paid = spent === null ? {} : { spent };
  if (error instanceof Halt) return { t: 'halt', error: error.info, ...paid };
  if (!(error instanceof ToolError)) throw error;
  return { t: 'error', code: error.nsCode, message: error.message, hint: error.hint, ...paid };
}

/** The reason in the token of an aborted program. The token has been verified. */
function abortReason({ output, candidates, jti }: TurnRecord): string {
  const chosen = candidates.find((candidate) => candidate.ok && candidate.jti === jti);
  const decoded = decodeToken(output.split('\n')[(chosen?.line ?? 0) - 1] ?? '');
  const payload = decoded.ok ? memberOf(decoded.token.payload, 'payload') : null;
  const reason = memberOf(memberOf(payload, 'request'), 'reason');
  return typeof reason === 'string' && reason !== '' ? reason : 'the ask was aborted';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
