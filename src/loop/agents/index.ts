/** Agents, which write the next envelope. */

export type { ModelIdentity } from './agent.ts';
export {
  type Agent,
  type AgentDelta,
  AgentError,
  type AgentFailure,
  type AgentReason,
  type AgentReply,
  type AgentRequest,
  functionAgent,
  programReply,
} from './agent.ts';
export { type AgentBrief, agentBrief, languageBrief, languageCard } from './brief.ts';
export { type CommandAgentOptions, commandAgent } from './command.ts';
export type { GrammarServer } from './decoding.ts';
export { type ModelAgentOptions, modelAgent, type SdkModel } from './model.ts';
export { type OpenaiAgentOptions, openaiAgent } from './openai.ts';
export type { RetryOptions } from './retry.ts';
export { scriptAgent } from './script.ts';
export { type TranscriptEntry, transcribed } from './transcript.ts';
