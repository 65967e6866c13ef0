import type { AgentRequest } from '../../../src/loop/agents/index.ts';

/** What a session would ask of an agent. */
export const requestOf = (fields: Partial<AgentRequest> = {}): AgentRequest => ({
  sid: 's',
  turn: 1,
  attempt: 1,
  system: '',
  prompt: 'the envelope',
  maxTokens: null,
  signal: new AbortController().signal,
  ...fields,
});
