import { ConfigError, NeuroScriptError } from '../wire/errors.ts';

/** What an agent is asked for: the program of one turn. */
export interface AgentRequest {
  readonly sid: string;
  readonly turn: number;
  /** The envelope of this turn: USERDATA, what the last turn emitted and whispered, and an example of ACTIONS. */
  readonly prompt: string;
  /** Most model tokens that the answer may take, of the prompt and the reply together; null when nobody counts. */
  readonly maxTokens: number | null;
  /** Aborted when the session is cancelled or its time is used up. */
  readonly signal: AbortSignal;
}

/**
 * Who writes the next program. It answers with text that holds exactly one envelope; prose around it is ignored, and of
 * the envelope nothing but ACTIONS is used (AMB-27b). It has no way to run code (A3-2-1).
 */
export interface Agent {
  reply(request: AgentRequest): Promise<string | AgentReply>;
}

/** A reply of an agent that counts. */
export interface AgentReply {
  readonly text: string;
  /** Model tokens that this answer took, of the prompt and the reply together. */
  readonly tokens: number;
}

/** Why an agent gave no reply: its own fault, it took more tokens than allowed, or the host gave it up. */
export type AgentReason = 'ERR_AGENT' | 'ERR_CANCELLED' | 'ERR_TIMEOUT' | 'ERR_QUOTA';

/** There is no reply for a turn. The session ends with HALT and `reason`; the turns before it stand. */
export class AgentError extends NeuroScriptError {
  static readonly code = 'ERR_AGENT';
  readonly turn: number;
  readonly reason: AgentReason;
  constructor(turn: number, message: string, reason: AgentReason = 'ERR_AGENT', options?: ErrorOptions) {
    super(AgentError.code, message, options);
    this.turn = turn;
    this.reason = reason;
  }
}

/** As {@link consult}, for a host that does not count tokens. */
export async function ask(
  agent: Agent,
  request: Omit<AgentRequest, 'signal' | 'maxTokens'>,
  options: AskOptions,
): Promise<string> {
  return (await consult(agent, { ...request, maxTokens: null }, options)).text;
}

/** How long an agent is waited for. */
export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly wallMs?: number;
}

/**
 * Asks an agent, and waits no longer than it may take: also one that ignores its signal. Rejects with {@link AgentError}
 * for whatever goes wrong, and for a reply that took more tokens than allowed.
 */
export async function consult(
  agent: Agent,
  request: Omit<AgentRequest, 'signal'>,
  { signal, wallMs }: AskOptions,
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
    giveUp(new AgentError(turn, `turn ${turn} has no reply: the session's time was used up`, 'ERR_TIMEOUT'));
  const timer = wallMs === undefined ? undefined : setTimeout(timeUp, Math.min(wallMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const reply = await Promise.race([given.promise, answer(agent, { ...request, signal: own.signal })]);
    if (maxTokens !== null && reply.tokens > maxTokens)
      throw new AgentError(turn, `the reply of turn ${turn} took ${reply.tokens} tokens, ${maxTokens} were left`, 'ERR_QUOTA');
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
    if (typeof reply === 'string') return { text: reply, tokens: 0 };
    if (isReply(reply)) return { text: reply.text, tokens: reply.tokens };
    throw new TypeError(`the agent answered with ${reply === null ? 'null' : `a ${typeof reply}`}, not with a text`);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new AgentError(request.turn, `turn ${request.turn} has no reply: ${message}`, 'ERR_AGENT', { cause: error });
  }
}

function isReply(value: unknown): value is AgentReply {
  if (typeof value !== 'object' || value === null || !('text' in value) || !('tokens' in value)) return false;
  return typeof value.text === 'string' && Number.isSafeInteger(value.tokens) && Number(value.tokens) >= 0;
}

const START = '<<<NSENV:V3:START>>>';
const END = '<<<NSENV:V3:END>>>';

/**
 * An agent that plays a transcript: one reply per envelope in it, in order, each with the prose that stands before it.
 * `name` is shown in messages. Throws {@link ConfigError} for a transcript without any envelope; `reply` throws
 * {@link AgentError} when the session asks for more turns than the transcript has.
 */
export function scriptAgent(transcript: string, name: string): Agent {
  const replies = splitTranscript(transcript);
  if (replies.length === 0) throw new ConfigError(`${name} holds no envelope: it has no line ${START}`);
  return {
    async reply({ turn }) {
      const reply = replies[turn - 1];
      if (reply === undefined) {
        const has = replies.length === 1 ? 'one envelope' : `${replies.length} envelopes`;
        throw new AgentError(turn, `turn ${turn} has no reply: ${name} holds ${has}`);
      }
      return reply;
    },
  };
}

/**
 * Cuts after every END line. What follows the last one is prose, unless it starts another envelope: then it is a reply
 * of its own, so that a missing END is reported by the turn that meets it.
 */
function splitTranscript(transcript: string): readonly string[] {
  const replies: string[] = [];
  let lines: string[] = [];
  let started = false;
  for (const line of transcript.split('\n')) {
    lines.push(line);
    if (line === START) started = true;
    if (line === END && started) {
      replies.push(lines.join('\n'));
      lines = [];
      started = false;
    }
  }
  if (started) replies.push(lines.join('\n'));
  return replies;
}
