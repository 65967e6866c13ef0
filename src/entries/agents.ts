/**
 * Agents, which write the programs of a session. Entry point `neuroscript-runtime/agents`.
 */

export {
  type Agent,
  type AgentBrief,
  type AgentDelta,
  type AgentProvider,
  type AgentReason,
  type AgentReply,
  type AgentRequest,
  agentBrief,
  type CommandAgentOptions,
  commandAgent,
  functionAgent,
  type GrammarServer,
  languageBrief,
  languageCard,
  type ModelAgentOptions,
  type ModelIdentity,
  modelAgent,
  type OpenaiAgentOptions,
  openaiAgent,
  openaiProvider,
  programReply,
  type RetryOptions,
  requestReply,
  type SdkModel,
  scriptAgent,
  splitTranscript,
  type TranscriptEntry,
  transcribed,
} from '../loop/index.ts';
