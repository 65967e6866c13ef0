import type { LanguageModel } from 'ai';
import { ConfigError } from '../../wire/errors.ts';
import { checkOptions, type KeysOf } from '../../wire/options.ts';
import { type Agent, AgentError, type AgentReply, type AgentRequest, REPLY_CHARACTERS } from './agent.ts';
import { checkTimeout } from './brief.ts';
import { checkRetry, type RetryOptions, retryAfterMs, TransportError, withRetries } from './retry.ts';

/** What every model agent can be told. */
export interface ModelAgentOptions {
  /** Most milliseconds of one try; two minutes when absent. */
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
  /** Most tokens of a reply, from 1; the model's own when absent. What is left of a session's tokens bounds it too. */
  readonly maxOutputTokens?: number;
  /** From 0; the model's own when absent. */
  readonly temperature?: number;
}

/** A model object of the Vercel AI SDK. Not a name: that would go to a gateway. */
export type SdkModel = Exclude<LanguageModel, string>;

const KEYS: KeysOf<ModelAgentOptions> = { timeoutMs: true, retry: true, maxOutputTokens: true, temperature: true };

/** The options with their defaults. Throws {@link ConfigError} for what cannot be used. */
export function checkModelOptions(options: ModelAgentOptions): Settings {
  const { timeoutMs = TIMEOUT_MS, retry = {}, maxOutputTokens, temperature } = options;
  if (maxOutputTokens !== undefined && !(Number.isSafeInteger(maxOutputTokens) && maxOutputTokens >= 1))
    throw new ConfigError(`maxOutputTokens of an agent must be a whole number from 1, got ${String(maxOutputTokens)}`);
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0))
    throw new ConfigError(`temperature of an agent must be a number from 0, got ${String(temperature)}`);
  return {
    timeoutMs: checkTimeout(timeoutMs),
    retry: checkRetry(retry),
    maxOutputTokens: maxOutputTokens ?? null,
    temperature: temperature ?? null,
  };
}

interface Settings {
  readonly timeoutMs: number;
  readonly retry: Required<RetryOptions>;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
}

const TIMEOUT_MS = 120_000;

/**
 * An agent that is a model of the Vercel AI SDK. Replies are streamed, so that one that is too long or too slow is given up
 * early. A try that failed on its way (no connection, a broken one, 408, 429, 5xx) is made again; what the model or its
 * server refused is not. Throws {@link ConfigError} for options that cannot be used.
 */
export function modelAgent(model: SdkModel, options: ModelAgentOptions = {}): Agent {
  checkOptions('the options of a model agent', options, KEYS);
  if (typeof model !== 'object' || model === null || !('doStream' in model))
    throw new ConfigError('a model agent needs a model object of the AI SDK');
  const settings = checkModelOptions(options);
  return {
    name: model.modelId,
    reply: (request) =>
      replyOf(
        () => model,
        settings,
        request,
        (text) => text,
      ),
  };
}

/**
 * Asks a model. `clean` takes out of a message what must not be shown: a server may repeat the key that it was sent.
 */
export async function replyOf(
  model: () => SdkModel | Promise<SdkModel>,
  settings: Settings,
  request: AgentRequest,
  clean: (text: string) => string,
): Promise<AgentReply> {
  const { turn, signal } = request;
  // Tries that broke off have cost something too.
  let lost = 0;
  try {
    const loaded = await model();
    const reply = await withRetries(settings.retry, signal, () =>
      streamed(loaded, settings, request, (tokens) => {
        lost += tokens;
      }),
    );
    return { ...reply, tokens: reply.tokens + lost };
  } catch (error) {
    const reason = error instanceof ReplyTimeout ? 'ERR_TIMEOUT' : 'ERR_AGENT';
    // The error of the SDK is not kept as the cause: it holds the request, and perhaps what should not be shown.
    throw new AgentError(turn, `turn ${turn} has no reply: ${messageOf(error, clean)}`, reason, { tokens: lost });
  }
}

/** A reply that began, perhaps, and did not end in time. */
class ReplyTimeout extends Error {}

/** Bytes of text that stand for about one token. */
const BYTES_PER_TOKEN = 4;

/** One try: the text as it comes, until it ends, is too long, takes too long, or breaks off. */
async function streamed(
  model: SdkModel,
  settings: Settings,
  request: AgentRequest,
  onLost: (tokens: number) => void,
): Promise<AgentReply> {
  const { APICallError, streamText } = await import('ai');
  const { system, prompt } = request;
  const over = new AbortController();
  const late = AbortSignal.timeout(settings.timeoutMs);
  const maxOutputTokens = mostOutput(settings, request);
  let failure: unknown = null;
  const result = streamText({
    model,
    ...(system === '' ? {} : { instructions: system }),
    prompt,
    maxRetries: 0,
    abortSignal: AbortSignal.any([request.signal, over.signal, late]),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(settings.temperature === null ? {} : { temperature: settings.temperature }),
    // By default the SDK prints what goes wrong.
    onError: ({ error }) => {
      failure ??= error;
    },
  });
  let text = '';
  let usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined } | null = null;
  try {
    for await (const part of result.stream) {
      if (part.type === 'text-delta') text += part.text;
      if (part.type === 'finish') usage = part.totalUsage;
      if (part.type === 'error') failure ??= part.error;
      if (text.length >= REPLY_CHARACTERS) break;
    }
  } catch (error) {
    failure ??= error;
  } finally {
    over.abort();
  }
  if (text.length >= REPLY_CHARACTERS) return counted(text, request, null);
  if (failure === null && usage !== null) return counted(text, request, usage);
  if (text !== '') onLost(counted(text, request, null).tokens);
  if (late.aborted) throw new ReplyTimeout(`the model did not end its reply within ${settings.timeoutMs} ms`);
  if (failure === null) throw new TransportError('the reply of the model broke off');
  throw APICallError.isInstance(failure) && !isBroken(failure) ? ofResponse(failure) : ofConnection(failure);
}

/** What the server counted; where it does not count, an estimate, so that no ceiling is without effect. */
function counted(
  text: string,
  { system, prompt }: AgentRequest,
  usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined } | null,
): AgentReply {
  const inputTokens = usage?.inputTokens ?? estimate(system) + estimate(prompt);
  const outputTokens = usage?.outputTokens ?? estimate(text);
  return { text, tokens: inputTokens + outputTokens, inputTokens, outputTokens };
}

function estimate(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** What the reply may take when the prompt has taken its part. */
function mostOutput({ maxOutputTokens }: Settings, { maxTokens, system, prompt }: AgentRequest): number | null {
  if (maxTokens === null) return maxOutputTokens;
  const left = Math.max(1, maxTokens - estimate(system) - estimate(prompt));
  return Math.min(left, maxOutputTokens ?? left);
}

interface CallFailure {
  readonly message: string;
  readonly statusCode?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
}

/** A server that is overloaded or broken may be well again in a moment; one that refuses will refuse again. */
function ofResponse({ message, statusCode, responseHeaders }: CallFailure): Error {
  if (statusCode === undefined) return new TransportError(message);
  const text = `the model's server answered ${statusCode}: ${message}`;
  if (statusCode !== 408 && statusCode !== 429 && statusCode < 500) return new Error(text);
  return new TransportError(text, retryAfterMs(responseHeaders?.['retry-after']));
}

/** An answer that began well, and broke while it was read: what broke it is the cause. */
function isBroken({ statusCode, cause }: CallFailure & ErrorOptions): boolean {
  return cause instanceof Error && (statusCode === undefined || statusCode < 300);
}

/**
 * Connections that fail or break are told by Node's codes or come as a TypeError of `fetch`; a stream that stops too early is
 * told by the SDK. Everything else is what it is, without the wrapping.
 */
function ofConnection(error: unknown): Error {
  let last = error instanceof Error ? error : new Error(String(error));
  for (let at: unknown = last; at instanceof Error; at = at.cause) {
    last = at;
    if ('code' in at && typeof at.code === 'string' && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(at.code))
      return new TransportError(`the connection to the model failed: ${at.code}`);
    if (at instanceof TypeError && /terminated|fetch failed/.test(at.message) && !(at.cause instanceof Error))
      return new TransportError('the connection to the model broke off');
    if (/without a finish reason/.test(at.message)) return new TransportError('the reply of the model broke off');
  }
  return last;
}

/** Longest part of a foreign message that is shown. */
const SHOWN = 500;

function messageOf(error: unknown, clean: (text: string) => string): string {
  // Before it is cut: a part of what must not be shown would not be found any more.
  const text = clean(error instanceof Error ? error.message : String(error));
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
