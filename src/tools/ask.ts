import { NS_CODES } from '../wire/codes.ts';
import type { AskSpent, GuestCall } from '../wire/protocol.ts';
import type { VariablePort } from './call.ts';
import { ToolError } from './define.ts';
import type { FinalReply } from './outcome.ts';

/** The call of a script that asks an agent. */
export type AskCall = GuestCall & { readonly t: 'ask' };

/** Answers the asks of one run. */
export type AskPort = (call: AskCall, io: VariablePort) => Promise<FinalReply>;

/** On a host without agents: code 9, as for any unknown model (P34). */
export const NO_AGENTS: AskPort = async ({ model }) => {
  throw new ToolError(NS_CODES.KeyNotFound, `there is no agent model '${model}' here to answer 'ask'`);
};

/** What a nested loop used up; undefined when none was begun, or when the run ends with the reply. */
export function spentIn(reply: FinalReply): AskSpent | undefined {
  return reply.t === 'halt' ? undefined : reply.spent;
}
