import { decodeToken } from '../../aeiou/index.ts';
import { type AskReply, Halt, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { AskSpent } from '../../wire/protocol.ts';
import { visibleOutput } from '../result.ts';
import type { HaltReason } from '../turn/decision.ts';
import type { TurnRecord } from '../turn/record.ts';
import type { Budget } from './budget.ts';

/** What the script gets for the last turn (P34). Throws what an `ask` that failed ends with. */
export function valueOfTurn(record: TurnRecord, budget: Budget): string | null {
  const { decision, reason, error } = record;
  if (decision === 'DONE') return visibleOutput(record);
  if (decision === 'ABORT') throw new ToolError(NS_CODES.FailStatement, abortReason(record));
  const breach = error === null ? null : budget.breachOf(error);
  throw breach ?? halted(reason ?? 'ERR_TOKEN_MISSING', error?.message);
}

/** The failure of a nested loop that its host has ended: code 6 with the reason. */
export function halted(reason: HaltReason, message?: string): ToolError {
  return new ToolError(NS_CODES.Internal, `the ask was halted: ${reason}${message === undefined ? '' : ` (${message})`}`);
}

/** The reply to the script for what an `ask` ended with; `spent` is null when no loop was begun. Rethrows what is no answer. */
export function replyFor(error: unknown, spent: AskSpent | null): AskReply {
  const paid = spent === null ? {} : { spent };
  if (error instanceof Halt) return { t: 'halt', error: error.info, ...paid };
  if (!(error instanceof ToolError)) throw error;
  const hint = error.hint === undefined ? {} : { hint: error.hint };
  return { t: 'error', code: error.nsCode, message: error.message, ...hint, ...paid };
}

/** What the program said when it gave up; the token was verified before. */
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
