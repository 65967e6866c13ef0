import { checkCallback } from '../../wire/options.ts';
import type { Agent, AgentReply, AgentRequest } from './agent.ts';

/** An agent that is a function. Throws `ConfigError` for anything else. */
export function functionAgent(
  reply: (request: AgentRequest) => string | AgentReply | Promise<string | AgentReply>,
  name = 'function',
): Agent {
  checkCallback('the reply of an agent', reply ?? null);
  return { name, reply: async (request) => reply(request) };
}
