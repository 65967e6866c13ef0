import { EnvelopeError, encodeUserdata, isJsonObject, parseStrict } from '../../aeiou/index.ts';
import type { CheckedCeilings } from '../ceilings.ts';
import type { LoopEventBody } from '../events.ts';
import type { Clock } from '../ports.ts';
import { composePrompt, type HostSections, readReply, type TurnInput } from '../turn/input.ts';
import { type Agent, AgentError, type AgentReply, consult } from './index.ts';

/** What a turn took of its agent. */
export interface AgentUse {
  /** What the agent calls itself; null when it has no name. */
  readonly name: string | null;
  /** How often it was asked: more than once after replies that held no envelope. */
  readonly asks: number;
  /** Model tokens of all its replies to this turn. */
  readonly tokens: number;
  /** How many of these were prompts and replies; null where the agent does not tell. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** What a turn starts from, and what it was made from. */
export interface Asked {
  readonly input: TurnInput;
  readonly reply: string | null;
  readonly agent: AgentUse | null;
}

/** One turn to ask for. */
export interface Asking {
  readonly sid: string;
  readonly turn: number;
  readonly agent: Agent;
  readonly sections: HostSections;
  readonly system: string;
  readonly clock: Clock;
  /** Model tokens that are left of every ceiling; null without one. */
  readonly tokens: number | null;
  readonly ceilings: CheckedCeilings;
  /** Milliseconds for all replies together. */
  readonly wallMs: number;
  readonly signal: AbortSignal | undefined;
  readonly emit: (event: LoopEventBody) => void;
}

/**
 * Asks an agent for the program of a turn. A reply that holds no envelope is refused before anything runs, so the agent may
 * be asked again, a few times, with the reason in USERDATA; the reply that counts in the end is the last one, whatever it
 * is. One that is too large is not asked for again: it would only cost the same once more. A prompt that cannot be composed
 * is a turn that cannot start (AL3-2-5). Rejects with {@link AgentError}, which says what all replies have cost.
 */
export async function askAgent(asking: Asking): Promise<Asked> {
  const { agent, ceilings, sections, emit } = asking;
  const begun = asking.clock.monotonic();
  const most = 1 + (agent.fixed === true ? 0 : ceilings.maxReasks);
  let use: AgentUse = { name: agent.name ?? null, asks: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  let problem: EnvelopeError | null = null;
  for (;;) {
    const prompt = promptOf(sections, problem, use.asks);
    if (typeof prompt !== 'string') return { input: { ok: false, text: '', failure: prompt }, reply: null, agent: null };
    const attempt = use.asks + 1;
    emit({ type: 'asked', attempt, prompt });
    const answer = await replyTo(asking, prompt, use, begun);
    use = added(use, answer);
    const input = readReply(sections, answer.text);
    problem = !input.ok && input.failure instanceof EnvelopeError ? input.failure : null;
    const refused = input.ok ? null : { code: input.failure.code, message: input.failure.message };
    emit({ type: 'replied', attempt, reply: answer.text, tokens: answer.tokens, problem: refused });
    const again = problem !== null && problem.code !== 'ERR_ENV_SIZE' && attempt < most;
    if (!again) return { input, reply: answer.text, agent: use };
  }
}

/** One reply, within what is left of tokens and time. */
async function replyTo(asking: Asking, prompt: string, use: AgentUse, begun: number): Promise<AgentReply> {
  const { sid, turn, agent, system, tokens, ceilings, signal, emit } = asking;
  const left = asking.wallMs - (asking.clock.monotonic() - begun);
  const request = { sid, turn, attempt: use.asks + 1, system, prompt, maxTokens: tokens === null ? null : tokens - use.tokens };
  try {
    if (tokens !== null && tokens <= use.tokens)
      throw new AgentError(turn, `turn ${turn} used up its model tokens: ${use.tokens} of ${tokens}`, 'ERR_QUOTA');
    const wallMs = Math.max(1, Math.min(left, ceilings.maxReplyMs));
    return await consult(agent, request, { wallMs, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    emit({ type: 'unanswered', reason: error.reason, message: error.message });
    const { message, reason, cause } = error;
    throw new AgentError(turn, message, reason, { tokens: error.tokens + use.tokens, cause });
  }
}

function added(use: AgentUse, { tokens, inputTokens, outputTokens }: AgentReply): AgentUse {
  const sum = (before: number | null, more: number | undefined) => (before === null || more === undefined ? null : before + more);
  return {
    ...use,
    asks: use.asks + 1,
    tokens: use.tokens + tokens,
    inputTokens: sum(use.inputTokens, inputTokens),
    outputTokens: sum(use.outputTokens, outputTokens),
  };
}

/** The prompt, or why there can be none. */
function promptOf(sections: HostSections, problem: EnvelopeError | null, attempt: number): string | EnvelopeError {
  try {
    const userdata = problem === null ? sections.userdata : withProblem(sections.userdata, problem, attempt);
    return composePrompt({ ...sections, userdata });
  } catch (error) {
    if (error instanceof EnvelopeError) return error;
    throw error;
  }
}

/** Name of the field in which an agent finds what was wrong with its reply. */
const PROBLEM = 'reply_problem';

/**
 * USERDATA of a prompt that is shown again: the host's own and one more field, as JSON, so that no text of the agent becomes
 * anything but a text. The turn itself gets the host's USERDATA, unchanged.
 */
function withProblem(userdata: string, { code, message }: EnvelopeError, attempt: number): string {
  const data = parseStrict(userdata, { numbers: 'doubles', padding: true });
  if (!isJsonObject(data) || !isJsonObject(data['fields'])) return userdata;
  return encodeUserdata({ ...data, fields: { ...data['fields'], [PROBLEM]: { attempt, code, message } } });
}
