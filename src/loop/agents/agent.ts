import { composeEnvelope, MAX_ENVELOPE_BYTES } from '../../aeiou/index.ts';
import { type ErrorInfo, NeuroScriptError } from '../../wire/errors.ts';
import type { TokenPrice } from '../../wire/money.ts';
import { checkCallback } from '../../wire/options.ts';

/** A request for the program of one turn. */
export interface AgentRequest {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Number of this request for the turn, from 1. It exceeds 1 after an attempt that did not decide the turn. */
  readonly attempt: number;
  /** The system text: rules, language, tools (`agentBrief`). The same in every turn. */
  readonly system: string;
  /** The grammar of a reply (`toolGrammar` of a turn), for servers that decode under one. The same in every turn. */
  readonly grammar?: string;
  /** The envelope of this turn: USERDATA, what the last turn emitted and whispered, and an example of ACTIONS. */
  readonly prompt: string;
  /** Most model tokens for prompt and reply together; null when there is no ceiling. */
  readonly maxTokens: number | null;
  /** Aborted when the session is cancelled or its time is used up. */
  readonly signal: AbortSignal;
  /** An agent that reads its reply as a stream passes each piece on. It has no effect after the end of the request. */
  readonly onDelta?: (delta: AgentDelta) => void;
}

/** A piece of a reply that is under way. */
export interface AgentDelta {
  /** The characters that follow those of the delta before. */
  readonly text: string;
  /**
   * 0 for the first attempt at the reply. A higher number begins the reply anew: the transport of an earlier attempt failed, so the
   * pieces with a lower number do not count.
   */
  readonly retry: number;
}

/**
 * The author of programs. An agent replies with text that holds exactly one envelope; prose around it is ignored, and only
 * ACTIONS is used. An agent cannot run code. `functionAgent`, `scriptAgent`, `commandAgent` and `modelAgent` create agents.
 */
export interface Agent {
  /** The author of the replies, for spans and transcripts: a model's name, a command. */
  readonly name?: string | undefined;
  /** The model that writes the replies, for spans. */
  readonly model?: ModelIdentity | undefined;
  /** What the tokens of its replies cost; nothing when absent. */
  readonly price?: TokenPrice | undefined;
  /** True if the agent gives the same reply whenever a turn is requested again. It is then consulted once per turn. */
  readonly fixed?: boolean | undefined;
  /** Replies to a request: the text, or the text with its cost. A rejection ends the session with a HALT. */
  reply(request: AgentRequest): Promise<string | AgentReply>;
}

/** A reply with its cost. */
export interface AgentReply {
  /** The reply, with one envelope in it. */
  readonly text: string;
  /** Model tokens of the prompt and the reply together. */
  readonly tokens: number;
  /** Tokens of the prompt, if known. */
  readonly inputTokens?: number | undefined;
  /** Tokens of the reply, if known. */
  readonly outputTokens?: number | undefined;
  /** Tokens of the prompt that the provider had in its cache, if known. */
  readonly cachedTokens?: number | undefined;
}

/**
 * Creates an agent from a function, which gets the request of a turn and returns the reply. Throws `ConfigError` for anything else.
 *
 * @example
 * ```ts
 * import { functionAgent, programReply } from 'neuroscript-runtime/loop';
 *
 * const agent = functionAgent(({ turn }) =>
 *   programReply(`command\n  emit "turn ${turn}"\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand`),
 * );
 * ```
 */
export function functionAgent(
  reply: (request: AgentRequest) => string | AgentReply | Promise<string | AgentReply>,
  name = 'function',
): Agent {
  checkCallback('the reply of an agent', reply ?? null);
  return { name, reply: async (request) => reply(request) };
}

/** Wraps a program in an envelope, as the reply of an agent. Throws `EnvelopeError` for a program that cannot be ACTIONS. */
export function programReply(program: string): string {
  return new TextDecoder().decode(composeEnvelope({ userdata: '{}', actions: program }));
}

/** Why an agent gave no reply: its own failure, a cancellation, too little time, or too many tokens. */
export type AgentReason = 'ERR_AGENT' | 'ERR_CANCELLED' | 'ERR_TIMEOUT' | 'ERR_QUOTA';

/** What an {@link AgentError} may say beside its reason. */
export interface AgentFailure extends ErrorOptions {
  /** Model tokens used although there is no reply; 0 when absent. */
  readonly tokens?: number;
  /** US dollars for these tokens; 0 when absent. */
  readonly cost?: number;
  /** The limit that is reached, where a result has to name it; null when absent. */
  readonly failure?: ErrorInfo | null;
  /** See {@link AgentError.retryable}; false when absent. */
  readonly retryable?: boolean;
}

/** A turn has no reply. The session ends with HALT and `reason`, unless it is left open; earlier turns remain valid. */
export class AgentError extends NeuroScriptError {
  static readonly code = 'ERR_AGENT';
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** The reason of the HALT. */
  readonly reason: AgentReason;
  /** Model tokens used although there is no reply, as far as they are known. */
  readonly tokens: number;
  /** US dollars for these tokens. */
  readonly cost: number;
  /** The limit that is reached, where a result has to name it; null for every other reason. */
  readonly failure: ErrorInfo | null;
  /** Whether the cause lies outside of the session, so that the same request may have a reply later: the server is away, or refuses the key. */
  readonly retryable: boolean;
  constructor(
    turn: number,
    message: string,
    reason: AgentReason = 'ERR_AGENT',
    { tokens = 0, cost = 0, failure = null, retryable = false, ...options }: AgentFailure = {},
  ) {
    super(AgentError.code, message, options);
    this.turn = turn;
    this.reason = reason;
    this.tokens = tokens;
    this.cost = cost;
    this.failure = failure;
    this.retryable = retryable;
  }

  /** The same failure with these tokens and their cost. */
  costing(tokens: number, cost: number): AgentError {
    const { turn, message, reason, failure, retryable, cause } = this;
    return new AgentError(turn, message, reason, { tokens, cost, failure, retryable, cause });
  }
}

/**
 * Characters kept of a reply: enough that an oversized reply is refused for its size. An agent that reads from a stream can
 * stop here.
 */
export const REPLY_CHARACTERS: number = MAX_ENVELOPE_BYTES + 8;

/** The model behind an agent, for spans and metrics. */
export interface ModelIdentity {
  /** The provider, such as `openai` or `anthropic`: by the name of the OpenTelemetry conventions if they have one. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly name: string;
  /** The URL of the model's server, where it is known. Spans have its host and port. */
  readonly url?: string;
}

/** The names that the conventions give to the providers of the AI SDK, which names them `provider.api`. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'gcp.gemini',
  groq: 'groq',
  mistral: 'mistral_ai',
  openai: 'openai',
  perplexity: 'perplexity',
  xai: 'x_ai',
};

/** The OpenTelemetry name of a provider of the AI SDK; the SDK's own name if the conventions have none. */
export function providerName(provider: string): string {
  if (provider.startsWith('google.vertex')) return 'gcp.vertex_ai';
  const [name = provider] = provider.split('.');
  return PROVIDERS[name] ?? name;
}
