import { EnvelopeError, encodeUserdata, isJsonObject, parseStrict } from '../../aeiou/index.ts';
import { type Agent, type AgentDelta, AgentError, type AgentReply, requestReply } from '../agents/index.ts';
import type { ResolvedCeilings } from '../ceilings.ts';
import type { Clock } from '../clock.ts';
import type { LoopEventBody } from '../events.ts';
import type { AgentUse } from '../record/record.ts';
import { composePrompt, type HostSections, readReply, type TurnInput } from './input.ts';

/** The input of a turn, and the reply from which it was made. */
export interface Consultation {
  readonly input: TurnInput;
  /** Null when no prompt could be composed, as is `agent`. */
  readonly reply: string | null;
  readonly agent: AgentUse | null;
}

/** One turn for which an agent is consulted. */
export interface ConsultationInit {
  readonly sid: string;
  readonly turn: number;
  readonly agent: Agent;
  readonly sections: HostSections;
  readonly system: string;
  readonly clock: Clock;
  /** Model tokens left under every ceiling; null without a ceiling. */
  readonly tokens: number | null;
  readonly ceilings: ResolvedCeilings;
  /** Milliseconds for all replies together. */
  readonly wallMs: number;
  readonly signal: AbortSignal | undefined;
  readonly emit: (event: LoopEventBody) => void;
}

/**
 * Consults an agent for the program of a turn. After a reply without an envelope, the agent is prompted again a few times,
 * with the reason in USERDATA; the last reply counts. A reply that is too large is not requested again, because that
 * would cost the same once more. A turn whose prompt cannot be composed cannot start. Rejects with {@link AgentError}, whose
 * `tokens` count all replies.
 */
export async function consultAgent(init: ConsultationInit): Promise<Consultation> {
  const { agent, ceilings, sections, emit } = init;
  const begun = init.clock.monotonic();
  const maxAttempts = 1 + (agent.fixed === true ? 0 : ceilings.maxReasks);
  let use: AgentUse = { name: agent.name ?? null, asks: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  let problem: EnvelopeError | null = null;
  for (;;) {
    const prompt = promptOf(sections, problem, use.asks);
    if (typeof prompt !== 'string') return { input: { ok: false, text: '', failure: prompt }, reply: null, agent: null };
    const attempt = use.asks + 1;
    emit({ type: 'asked', attempt, prompt });
    const answer = await replyTo(init, prompt, use, begun);
    use = added(use, answer);
    const input = readReply(sections, answer.text);
    problem = !input.ok && input.failure instanceof EnvelopeError ? input.failure : null;
    const refused = input.ok ? null : { code: input.failure.code, message: input.failure.message };
    emit({ type: 'replied', attempt, reply: answer.text, tokens: answer.tokens, problem: refused });
    const reprompt = problem !== null && problem.code !== 'ERR_ENV_SIZE' && attempt < maxAttempts;
    if (!reprompt) return { input, reply: answer.text, agent: use };
  }
}

/** Requests one reply within the tokens and the time that are left. */
async function replyTo(init: ConsultationInit, prompt: string, use: AgentUse, begun: number): Promise<AgentReply> {
  const { sid, turn, agent, system, tokens, ceilings, signal, emit } = init;
  const left = init.wallMs - (init.clock.monotonic() - begun);
  const attempt = use.asks + 1;
  const maxTokens = tokens === null ? null : tokens - use.tokens;
  const onDelta = ({ retry, text }: AgentDelta): void => emit({ type: 'delta', attempt, retry, text });
  const request = { sid, turn, attempt, system, prompt, maxTokens, onDelta };
  try {
    if (tokens !== null && tokens <= use.tokens)
      throw new AgentError(turn, `turn ${turn} used up its model tokens: ${use.tokens} of ${tokens}`, 'ERR_QUOTA');
    const wallMs = Math.max(1, Math.min(left, ceilings.maxReplyMs));
    return await requestReply(agent, request, { wallMs, ...(signal === undefined ? {} : { signal }) });
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

/** The prompt, or why none can be composed. */
function promptOf(sections: HostSections, problem: EnvelopeError | null, attempt: number): string | EnvelopeError {
  try {
    const userdata = problem === null ? sections.userdata : withProblem(sections.userdata, problem, attempt);
    return composePrompt({ ...sections, userdata });
  } catch (error) {
    if (error instanceof EnvelopeError) return error;
    throw error;
  }
}

/** The field of USERDATA that tells an agent what was wrong with its reply. */
const PROBLEM = 'reply_problem';

/**
 * USERDATA of a repeated prompt: the host's own with one more field. It is written as JSON, so text from the agent stays text.
 * The turn itself receives the host's USERDATA unchanged.
 */
function withProblem(userdata: string, { code, message }: EnvelopeError, attempt: number): string {
  const data = parseStrict(userdata, { numbers: 'doubles', padding: true });
  if (!isJsonObject(data) || !isJsonObject(data['fields'])) return userdata;
  return encodeUserdata({ ...data, fields: { ...data['fields'], [PROBLEM]: { attempt, code, message } } });
}
