import { MAX_ENVELOPE_BYTES } from '../../aeiou/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';

/** What an agent is asked for: the program of one turn. */
export interface AgentRequest {
  readonly sid: string;
  readonly turn: number;
  /** How often this turn has been asked for, this time included: more than 1 after replies that held no envelope. */
  readonly attempt: number;
  /** What an agent must know beside the prompt: rules, language, tools (`agentBrief`). The same in every turn. */
  readonly system: string;
  /** The envelope of this turn: USERDATA, what the last turn emitted and whispered, and an example of ACTIONS. */
  readonly prompt: string;
  /** Most model tokens that the answer may take, of the prompt and the reply together; null when nobody counts. */
  readonly maxTokens: number | null;
  /** Aborted when the session is cancelled or its time is used up. */
  readonly signal: AbortSignal;
}

/**
 * Who writes the next program. It answers with text that holds exactly one envelope; prose around it is ignored, and of
 * the envelope nothing but ACTIONS is used (AMB-27b). It has no way to run code (A3-2-1). `functionAgent`, `scriptAgent`,
 * `commandAgent` and `modelAgent` make one.
 */
export interface Agent {
  /** What wrote the replies, for spans and transcripts: a model's name, a command. */
  readonly name?: string;
  /** True for one that answers the same however often it is asked for a turn: then it is asked once. */
  readonly fixed?: boolean;
  reply(request: AgentRequest): Promise<string | AgentReply>;
}

/** A reply of an agent that counts. */
export interface AgentReply {
  readonly text: string;
  /** Model tokens that this answer took, of the prompt and the reply together. */
  readonly tokens: number;
  /** How many of these were the prompt's and the reply's, where the agent knows. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** Why an agent gave no reply: its own fault, it took more tokens than allowed, or the host gave it up. */
export type AgentReason = 'ERR_AGENT' | 'ERR_CANCELLED' | 'ERR_TIMEOUT' | 'ERR_QUOTA';

/** There is no reply for a turn. The session ends with HALT and `reason`; the turns before it stand. */
export class AgentError extends NeuroScriptError {
  static readonly code = 'ERR_AGENT';
  readonly turn: number;
  readonly reason: AgentReason;
  /** Model tokens that were used up although there is no reply, as far as anybody knows. */
  readonly tokens: number;
  constructor(
    turn: number,
    message: string,
    reason: AgentReason = 'ERR_AGENT',
    { tokens = 0, ...options }: ErrorOptions & { readonly tokens?: number } = {},
  ) {
    super(AgentError.code, message, options);
    this.turn = turn;
    this.reason = reason;
    this.tokens = tokens;
  }
}

/** How long an agent is waited for. */
export interface ConsultOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly wallMs?: number;
}

/**
 * Characters kept of a reply: enough to be refused for its size, whatever was sent. An agent that reads from a stream need
 * not read on.
 */
export const REPLY_CHARACTERS: number = MAX_ENVELOPE_BYTES + 8;

/**
 * Asks an agent, and waits no longer than it may take: also one that ignores its signal. Rejects with {@link AgentError}
 * for whatever goes wrong, and for a reply that took more tokens than allowed. A reply that is larger than any envelope is
 * cut to a size that is refused.
 */
export async function consult(
  agent: Agent,
  request: Omit<AgentRequest, 'signal'>,
  { signal, wallMs }: ConsultOptions,
): Promise<AgentReply> {
  const { turn, maxTokens } = request;
  if (signal?.aborted === true) throw cancelled(turn);
  const own = new AbortController();
  const given = Promise.withResolvers<never>();
  const giveUp = (error: AgentError): void => {
    given.reject(error);
    own.abort(error);
  };
  const cancel = (): void => giveUp(cancelled(turn));
  const timeUp = (): void =>
    giveUp(new AgentError(turn, `turn ${turn} has no reply: the time for it was used up`, 'ERR_TIMEOUT'));
  const timer = wallMs === undefined ? undefined : setTimeout(timeUp, Math.min(wallMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const reply = await Promise.race([given.promise, answer(agent, { ...request, signal: own.signal })]);
    if (maxTokens !== null && reply.tokens > maxTokens) {
      const message = `the reply of turn ${turn} took ${reply.tokens} tokens, ${maxTokens} were left`;
      throw new AgentError(turn, message, 'ERR_QUOTA', { tokens: reply.tokens });
    }
    return reply;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

function cancelled(turn: number): AgentError {
  return new AgentError(turn, `turn ${turn} was cancelled before the agent had answered`, 'ERR_CANCELLED');
}

/** Longest delay that `setTimeout` takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function answer(agent: Agent, request: AgentRequest): Promise<AgentReply> {
  try {
    const reply: unknown = await agent.reply(request);
    if (typeof reply === 'string') return { text: reply.slice(0, REPLY_CHARACTERS), tokens: 0 };
    if (isReply(reply)) return { ...reply, text: reply.text.slice(0, REPLY_CHARACTERS) };
    throw new TypeError(`the agent answered with ${reply === null ? 'null' : `a ${typeof reply}`}, not with a text`);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new AgentError(request.turn, `turn ${request.turn} has no reply: ${message}`, 'ERR_AGENT', { cause: error });
  }
}

function isReply(value: unknown): value is AgentReply {
  if (typeof value !== 'object' || value === null || !('text' in value) || !('tokens' in value)) return false;
  const counts = ['tokens', 'inputTokens', 'outputTokens'].map((key) => Reflect.get(value, key));
  const [tokens, ...parts] = counts;
  return typeof value.text === 'string' && isCount(tokens) && parts.every((part) => part === undefined || isCount(part));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
