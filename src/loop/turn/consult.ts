import { EnvelopeError, encodeUserdata, isJsonObject, parseStrict } from '../../aeiou/index.ts';
import { defined } from '../../wire/defined.ts';
import { quotaError } from '../../wire/errorinfo.ts';
import {
  type Nanos,
  nanosOf,
  outputFor,
  sumUsd,
  type TokenCount,
  type TokenPrice,
  tokenCost,
  usdOf,
  usdText,
} from '../../wire/money.ts';
import { MAX_TIMER_MS } from '../../wire/options.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { errorOf, isRecord, messageOf } from '../../wire/unknown.ts';
import {
  type Agent,
  type AgentDelta,
  AgentError,
  type AgentReply,
  type AgentRequest,
  REPLY_CHARACTERS,
} from '../agents/agent.ts';
import { ofConnection } from '../agents/failure.ts';
import { TransportError } from '../agents/retry.ts';
import { countOf, estimate } from '../agents/usage.ts';
import type { ResolvedCeilings } from '../ceilings.ts';
import type { LoopEventBody } from '../events.ts';
import type { AgentUse } from '../record/record.ts';
import { costs } from '../spent.ts';
import { brief, type Feedback } from './feedback.ts';
import { composePrompt, type HostSections, readReply, type TurnInput } from './input.ts';

/** The input of a turn, and the reply from which it was made. */
export interface Consultation {
  readonly input: TurnInput;
  /** Null when no prompt could be composed, as is `agent`. */
  readonly reply: string | null;
  readonly agent: AgentUse | null;
}

/** What is left under every ceiling for the replies of a turn; null without a ceiling. */
export interface Means {
  /** Model tokens. */
  readonly tokens: number | null;
  /** What tokens may cost. */
  readonly money: Nanos | null;
}

/** One turn for which an agent is consulted. */
export interface ConsultationInit {
  readonly sid: string;
  readonly turn: number;
  readonly agent: Agent;
  readonly sections: HostSections;
  readonly system: string;
  readonly grammar: string | null;
  readonly means: Means;
  readonly ceilings: ResolvedCeilings;
  /** Milliseconds for the reply. */
  readonly wallMs: number;
  /** The agent's usage for earlier replies of the turn; null before the first. */
  readonly before: AgentUse | null;
  /** What the agent is told of its last program; null for the first one of the turn. */
  readonly feedback: Feedback | null;
  readonly signal: AbortSignal | undefined;
  readonly emit: (event: LoopEventBody) => void;
}

/**
 * Requests one reply of an agent, the program of a turn. After an attempt that did not decide the turn, the prompt tells the agent why. A turn
 * whose prompt cannot be composed does not start. Rejects with {@link AgentError}, whose `tokens` count all replies of the turn.
 */
export async function consultAgent(init: ConsultationInit): Promise<Consultation> {
  const { agent, sections, feedback, before, emit } = init;
  const use: AgentUse = before ?? { name: agent.name ?? null, asks: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  const prompt = promptOf(sections, feedback);
  if (typeof prompt !== 'string') return { input: { ok: false, text: '', failure: prompt }, reply: null, agent: null };
  const attempt = use.asks + 1;
  emit({ type: 'asked', attempt, prompt });
  const answer = await replyTo(init, prompt, use);
  const cost = replyCost(agent, answer);
  const input = readReply(sections, answer.text);
  const problem = input.ok ? null : { code: input.failure.code, message: input.failure.message };
  emit({ type: 'replied', attempt, reply: answer.text, tokens: answer.tokens, problem, ...costs(cost) });
  return { input, reply: answer.text, agent: added(use, answer, cost) };
}

/** Requests one reply within the tokens and the time that are left. */
async function replyTo(init: ConsultationInit, prompt: string, use: AgentUse): Promise<AgentReply> {
  const { sid, turn, agent, system, grammar, means, ceilings, signal, emit } = init;
  const { tokens } = means;
  const attempt = use.asks + 1;
  const money = means.money === null || agent.price === undefined ? null : means.money - nanosOf(use.cost ?? 0);
  const affordable = money === null || agent.price === undefined ? null : affordableTokens(agent.price, money, system + prompt);
  const maxTokens = least(tokens === null ? null : tokens - use.tokens, affordable);
  const onDelta = ({ retry, text }: AgentDelta): void => emit({ type: 'delta', attempt, retry, text });
  const request = { sid, turn, attempt, system, prompt, maxTokens, onDelta, ...(grammar === null ? {} : { grammar }) };
  try {
    if (tokens !== null && tokens <= use.tokens)
      throw new AgentError(
        turn,
        `turn ${turn} used up its model tokens: ${grouped(use.tokens)} of ${grouped(tokens)}`,
        'ERR_QUOTA',
      );
    if (affordable === 0) throw tooDear(turn, money ?? 0);
    const wallMs = Math.max(1, Math.min(init.wallMs, ceilings.maxReplyMs));
    const reply = await requestReply(agent, request, { wallMs, signal });
    const cost = replyCost(agent, reply);
    if (money !== null && nanosOf(cost) > money) throw tooDear(turn, money, cost, reply.tokens);
    return reply;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    emit({ type: 'unanswered', reason: error.reason, message: error.message });
    throw error.costing(error.tokens + use.tokens, sumUsd(use.cost, replyCost(agent, error)));
  }
}

/** What the tokens of a reply cost, US dollars. */
function replyCost({ price }: Agent, counts: TokenCount): number {
  return price === undefined ? 0 : usdOf(tokenCost(price, counts));
}

/** Most tokens of a prompt and its reply; 0 when not even the prompt can be paid. */
function affordableTokens(price: TokenPrice, money: Nanos, prompt: string): number {
  const inputTokens = estimate(prompt);
  const rest = money - tokenCost(price, { tokens: inputTokens, inputTokens });
  const most = rest < 0 ? 0 : outputFor(price, rest);
  return most === 0 ? 0 : inputTokens + most;
}

function tooDear(turn: number, money: Nanos, cost?: number, tokens?: number): AgentError {
  const left = usdText(usdOf(Math.max(0, money)));
  const message =
    cost === undefined
      ? `turn ${turn} has no reply: ${left} is left for it, and its prompt costs more`
      : `the reply of turn ${turn} cost ${usdText(cost)}, ${left} was left`;
  const failure = quotaError({ limit: 'cost', allowed: usdOf(Math.max(0, money)), used: cost }, message);
  return new AgentError(turn, message, 'ERR_QUOTA', { tokens: tokens ?? 0, failure });
}

/** The lower of two amounts; null stands for no limit. */
function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Limits on one reply. */
export interface ReplyLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly wallMs?: number;
}

/**
 * Requests one reply within the time allowed, even from an agent that ignores its signal. Rejects with {@link AgentError}
 * for every failure and for a reply that used more tokens than allowed. Cuts a reply that is larger than any envelope to a
 * size that will be refused.
 */
export async function requestReply(
  agent: Agent,
  request: Omit<AgentRequest, 'signal'>,
  { signal, wallMs }: ReplyLimits,
): Promise<AgentReply> {
  const deltas = request.onDelta === undefined ? null : new Deltas(request.onDelta);
  const { turn, maxTokens } = request;
  if (signal?.aborted === true) throw cancelled(turn);
  const own = new AbortController();
  const given = Promise.withResolvers<never>();
  const giveUp = (error: AgentError): void => {
    deltas?.end();
    given.reject(error);
    own.abort(error);
  };
  const cancel = (): void => giveUp(cancelled(turn));
  const timeUp = (): void =>
    giveUp(new AgentError(turn, `turn ${turn} has no reply: the time for it was used up`, 'ERR_TIMEOUT'));
  const timer = wallMs === undefined ? undefined : setTimeout(timeUp, Math.min(wallMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const reply = await Promise.race([given.promise, answer(agent, { ...request, ...deltas?.asOption, signal: own.signal })]);
    if (maxTokens !== null && reply.tokens > maxTokens) {
      const message = `the reply of turn ${turn} took ${grouped(reply.tokens)} tokens, ${grouped(maxTokens)} were left`;
      throw new AgentError(turn, message, 'ERR_QUOTA', { tokens: reply.tokens });
    }
    return reply;
  } finally {
    deltas?.end();
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

/** Passes the pieces of one reply on, until the request ends and at most as many characters as a reply keeps. */
class Deltas {
  readonly #onDelta: (delta: AgentDelta) => void;
  #retry = 0;
  #left = REPLY_CHARACTERS;
  #ended = false;

  constructor(onDelta: (delta: AgentDelta) => void) {
    this.#onDelta = onDelta;
  }

  /** The option of the agent's request that receives the pieces. */
  readonly asOption = {
    onDelta: ({ text, retry }: AgentDelta): void => {
      if (typeof text !== 'string') throw new TypeError('a piece of a reply must be a text');
      if (retry > this.#retry) {
        this.#retry = retry;
        this.#left = REPLY_CHARACTERS;
      }
      const piece = text.slice(0, this.#left);
      if (this.#ended || retry < this.#retry || piece === '') return;
      this.#left -= piece.length;
      this.#onDelta({ text: piece, retry });
    },
  };

  end(): void {
    this.#ended = true;
  }
}

function cancelled(turn: number): AgentError {
  return new AgentError(turn, `turn ${turn} was cancelled before the agent had answered`, 'ERR_CANCELLED');
}

async function answer(agent: Agent, request: AgentRequest): Promise<AgentReply> {
  try {
    const reply: unknown = await agent.reply(request);
    if (typeof reply === 'string') return { text: reply.slice(0, REPLY_CHARACTERS), tokens: 0 };
    if (isRecord(reply) && typeof reply['text'] === 'string') return replyFrom(request, reply['text'], reply);
    throw new TypeError(`the agent answered with ${reply === null ? 'null' : `a ${typeof reply}`}, not with a text`);
  } catch (thrown) {
    const error = errorOf(thrown);
    if (error instanceof AgentError) throw error;
    const retryable = ofConnection(error) instanceof TransportError;
    throw new AgentError(request.turn, `turn ${request.turn} has no reply: ${messageOf(error)}`, 'ERR_AGENT', {
      retryable,
      cause: error,
    });
  }
}

/** A reply whose counts may be anything. Where they are no counts of tokens, the tokens of the texts are estimated. */
function replyFrom({ system, prompt }: AgentRequest, text: string, counts: Readonly<Record<string, unknown>>): AgentReply {
  const [inputTokens, outputTokens] = [countOf(counts['inputTokens']), countOf(counts['outputTokens'])];
  const cachedTokens = countOf(counts['cachedTokens']);
  const tokens = countOf(counts['tokens']);
  const estimated = (inputTokens ?? estimate(system + prompt)) + (outputTokens ?? estimate(text));
  return {
    text: text.slice(0, REPLY_CHARACTERS),
    tokens: tokens === undefined ? estimated : Math.max(tokens, (inputTokens ?? 0) + (outputTokens ?? 0)),
    ...defined({ inputTokens, outputTokens, cachedTokens }),
  };
}

function added(use: AgentUse, { tokens, inputTokens, outputTokens }: AgentReply, cost: number): AgentUse {
  const sum = (before: number | null, more: number | undefined) => (before === null || more === undefined ? null : before + more);
  return {
    ...use,
    asks: use.asks + 1,
    tokens: use.tokens + tokens,
    inputTokens: sum(use.inputTokens, inputTokens),
    outputTokens: sum(use.outputTokens, outputTokens),
    ...costs(use.cost, cost),
  };
}

/** The prompt, or why none can be composed. */
function promptOf(sections: HostSections, feedback: Feedback | null): string | EnvelopeError {
  // Feedback that does not fit into the envelope is told without its long parts.
  const told = feedback === null ? [null] : [feedback, brief(feedback), null];
  let problem: EnvelopeError | null = null;
  for (const each of told)
    try {
      const userdata = each === null ? sections.userdata : withFeedback(sections.userdata, each);
      return composePrompt({ ...sections, userdata });
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      problem = error;
    }
  if (problem === null) throw new TypeError('no prompt was composed');
  return problem;
}

/** The field of USERDATA that tells an agent what was wrong with its reply. */
const PROBLEM = 'reply_problem';

/**
 * USERDATA of a repeated prompt: the host's own with one more field. It is written as JSON, so text from the agent stays text.
 * The turn itself receives the host's USERDATA unchanged.
 */
function withFeedback(userdata: string, feedback: Feedback): string {
  const data = parseStrict(userdata, { numbers: 'doubles', padding: true });
  if (!isJsonObject(data) || !isJsonObject(data['fields'])) return userdata;
  return encodeUserdata({ ...data, fields: { ...data['fields'], [PROBLEM]: { ...feedback } } });
}
