import type { LanguageModel } from 'ai';
import { checkUsd } from '../../tools/index.ts';
import { defined } from '../../wire/defined.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { TokenPrice } from '../../wire/money.ts';
import { anything, type Checks, checker, required, wholeNumber } from '../../wire/options.ts';
import {
  type Agent,
  AgentError,
  type AgentReply,
  type AgentRequest,
  type ModelIdentity,
  providerName,
  REPLY_CHARACTERS,
} from './agent.ts';
import { checkTimeout } from './brief.ts';
import { type Chat, type ChatResponse, withChatSpan } from './chat.ts';
import type { Fields } from './decoding.ts';
import { isBroken, ModelError, messageLine, ofConnection, ofResponse, ReplyTimeout } from './failure.ts';
import { checkRetry, type RetryOptions, TransportError, withRetries } from './retry.ts';
import { countOf, estimate, isUsageOnly, tokensOf } from './usage.ts';

/** Options of every model agent. */
export interface ModelAgentOptions {
  /** Most milliseconds of one attempt; two minutes when absent. */
  readonly timeoutMs?: number | undefined;
  /** How failed requests are repeated; see {@link RetryOptions} for the defaults. */
  readonly retry?: RetryOptions | undefined;
  /** Most tokens of a reply, from 1; the model's default when absent. The tokens left in a session also limit a reply. */
  readonly maxOutputTokens?: number | undefined;
  /** From 0; the model's default when absent. */
  readonly temperature?: number | undefined;
  /** What a million tokens cost, `{ usd: { in: 0.15, out: 0.6, cached: 0.075 } }`; nothing when absent. */
  readonly cost?: ModelCost | undefined;
}

export interface ModelCost {
  /** US dollars for a million tokens of each kind, with at most nine decimals. */
  readonly usd: TokenPrice;
}

/**
 * A model object of the Vercel AI SDK. It is described by its form, because the declarations of the SDK compile only with
 * `skipLibCheck`. Names of models are excluded, because the SDK would send them to a gateway.
 */
export interface SdkModel {
  /** The version of the SDK's interface that the model has. */
  readonly specificationVersion: string;
  /** The SDK's name of the provider. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly modelId: string;
  /** Requests a reply as a stream. Only the SDK calls it. */
  doStream(options: never): PromiseLike<unknown>;
}

/** The checks of {@link ModelAgentOptions}; {@link settingsOf} checks `retry`. */
export const MODEL_CHECKS: Checks<ModelAgentOptions> = {
  timeoutMs: checkTimeout,
  retry: anything,
  maxOutputTokens: wholeNumber(1),
  cost: checker<ModelCost>({
    usd: required(checker<TokenPrice>({ in: required(checkUsd), out: required(checkUsd), cached: checkUsd })),
  }),
  temperature(what, value) {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw new ConfigError(`${what} must be a number from 0, got ${String(value)}`);
  },
};

const checkModelOptions = checker(MODEL_CHECKS);

/** Checked options with their defaults. Throws {@link ConfigError} for invalid retries. */
export function settingsOf({ timeoutMs = TIMEOUT_MS, retry = {}, maxOutputTokens, temperature }: ModelAgentOptions): Settings {
  return {
    timeoutMs,
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
 * Creates an agent from a model of the Vercel AI SDK. Replies are streamed, so a reply that is too long or too slow is
 * abandoned early. A failed transport (no connection, a broken one, 408, 429, 5xx) is retried; a refusal by the model or its
 * server is not. Throws {@link ConfigError} for invalid options.
 *
 * @example
 * ```ts
 * import { modelAgent, type SdkModel } from 'neuroscript-runtime/loop';
 *
 * // Any provider of the AI SDK makes such a model: `anthropic('claude-sonnet-4-5')` of `@ai-sdk/anthropic`.
 * declare const model: SdkModel;
 * const agent = modelAgent(model, { maxOutputTokens: 4_000, timeoutMs: 60_000 });
 * ```
 */
export function modelAgent(model: SdkModel, options: ModelAgentOptions = {}): Agent {
  checkModelOptions('the options of a model agent', options);
  languageModel(model);
  const settings = settingsOf(options);
  const identity = { provider: providerName(model.provider), name: model.modelId };
  return {
    name: model.modelId,
    model: identity,
    price: options.cost?.usd,
    reply: (request) => replyOf({ identity, load: () => model, settings, clean: (text) => text, fields: () => ({}) }, request),
  };
}

/** The model, as the SDK types it. Throws {@link ConfigError} for anything else. */
function languageModel(model: SdkModel): LanguageModel {
  if (!isLanguageModel(model)) throw new ConfigError('a model agent needs a model object of the AI SDK');
  return model;
}

function isLanguageModel(model: unknown): model is Exclude<LanguageModel, string> {
  return typeof model === 'object' && model !== null && 'doStream' in model && 'specificationVersion' in model;
}

/** A model, and how it is asked. */
export interface ModelSource {
  readonly identity: ModelIdentity;
  readonly load: () => SdkModel | Promise<SdkModel>;
  readonly settings: Settings;
  /** Removes secrets from error messages: a server may repeat the key that it received. */
  readonly clean: (text: string) => string;
  readonly fields: (request: AgentRequest) => Fields;
}

/** Requests a reply from a model. */
export async function replyOf(
  { identity, load, settings, clean, fields }: ModelSource,
  request: AgentRequest,
): Promise<AgentReply> {
  const { turn, signal } = request;
  const maxTokens = mostOutput(settings, request);
  const { temperature } = settings;
  // Tokens of attempts that broke off count as well.
  let lost = 0;
  try {
    const model = await load();
    const reply = await withRetries(settings.retry, signal, (retry) =>
      withChatSpan({ model: identity, request, retry, maxTokens, temperature }, (chat) =>
        streamed({ model, settings, request, maxTokens, retry, chat, fields: fields(request) }, (tokens) => {
          lost += tokens;
        }),
      ),
    );
    return { ...reply, tokens: reply.tokens + lost };
  } catch (error) {
    const reason = error instanceof ReplyTimeout ? 'ERR_TIMEOUT' : 'ERR_AGENT';
    // The SDK's error is not kept as the cause, because it contains the request and may contain secrets.
    const retryable = error instanceof TransportError || (error instanceof ModelError && error.retryable);
    throw new AgentError(turn, `turn ${turn} has no reply: ${messageLine(error, clean)}`, reason, { tokens: lost, retryable });
  }
}

/** The SDK's name of an OpenAI-compatible server. It sends what it does not know of the options of that name. */
export const PROVIDER = 'model';

/** Most calls of tools that a reply may begin. None is offered, and the SDK compares each call with those before. */
const MOST_CALLS = 100;

interface Attempt {
  readonly model: SdkModel;
  readonly settings: Settings;
  readonly request: AgentRequest;
  readonly maxTokens: number | null;
  /** Number of earlier attempts. */
  readonly retry: number;
  readonly chat: Chat;
  readonly fields: Fields;
}

/** Makes the attempt: reads the text until it ends, is too long, takes too long, or breaks off. */
async function streamed(
  { model, settings, request, maxTokens, retry, chat, fields }: Attempt,
  onLost: (tokens: number) => void,
): Promise<AgentReply> {
  const { APICallError, streamText } = await import('ai');
  const { system, prompt } = request;
  const over = new AbortController();
  const late = AbortSignal.timeout(settings.timeoutMs);
  let failure: unknown = null;
  const result = streamText({
    model: languageModel(model),
    ...(system === '' ? {} : { instructions: system }),
    prompt,
    maxRetries: 0,
    providerOptions: { [PROVIDER]: fields },
    abortSignal: AbortSignal.any([request.signal, over.signal, late]),
    ...(maxTokens === null ? {} : { maxOutputTokens: maxTokens }),
    // This package makes the spans.
    telemetry: { isEnabled: false },
    ...(settings.temperature === null ? {} : { temperature: settings.temperature }),
    // By default the SDK prints errors.
    onError: ({ error }) => {
      if (!isUsageOnly(error)) failure ??= error;
    },
  });
  let text = '';
  let calls = 0;
  let usage: StepEnd['usage'] | null = null;
  try {
    for await (const part of result.stream) {
      if (part.type === 'text-delta') {
        if (text === '' && part.text !== '') chat.began();
        text += part.text;
        request.onDelta?.({ text: part.text, retry });
      }
      if (part.type === 'finish-step') chat.responded(responseOf(part));
      if (part.type === 'finish') usage = part.totalUsage;
      if (part.type === 'error' && !isUsageOnly(part.error)) failure ??= part.error;
      if (part.type === 'tool-input-start') calls += 1;
      if (calls > MOST_CALLS) throw new ModelError('the model calls tools, and none is offered', 'tool_calls');
      if (text.length >= REPLY_CHARACTERS) break;
    }
  } catch (error) {
    failure ??= error;
  } finally {
    over.abort();
  }
  chat.replied(text);
  if (text.length >= REPLY_CHARACTERS) return counted(text, request, null);
  if (failure === null && usage !== null) return counted(text, request, usage);
  if (text !== '') onLost(counted(text, request, null).tokens);
  if (late.aborted) throw new ReplyTimeout(`the model did not end its reply within ${settings.timeoutMs} ms`, text !== '');
  if (request.signal.aborted) throw new ModelError('the request was cancelled', 'ERR_CANCELLED');
  if (failure === null) throw new TransportError('the reply of the model broke off');
  throw APICallError.isInstance(failure) && !isBroken(failure) ? ofResponse(failure) : ofConnection(failure);
}

/** The SDK's data at the end of a response. */
interface StepEnd {
  readonly response: { readonly id: string; readonly modelId: string };
  readonly finishReason: string;
  readonly usage: {
    readonly inputTokens: number | undefined;
    readonly outputTokens: number | undefined;
    readonly inputTokenDetails: {
      readonly cacheReadTokens: number | undefined;
      readonly cacheWriteTokens: number | undefined;
    };
    readonly outputTokenDetails: { readonly reasoningTokens: number | undefined };
  };
}

function responseOf({ response, finishReason, usage }: StepEnd): ChatResponse {
  const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = usage;
  return {
    id: response.id,
    model: response.modelId,
    finishReason,
    inputTokens: countOf(inputTokens),
    outputTokens: countOf(outputTokens),
    cacheReadTokens: countOf(inputTokenDetails.cacheReadTokens),
    cacheCreationTokens: countOf(inputTokenDetails.cacheWriteTokens),
    reasoningTokens: countOf(outputTokenDetails.reasoningTokens),
  };
}

/** The tokens that the server counted. Falls back to an estimate, so that every ceiling has an effect. */
function counted(
  text: string,
  { system, prompt }: AgentRequest,
  usage: Pick<StepEnd['usage'], 'inputTokens' | 'outputTokens' | 'inputTokenDetails'> | null,
): AgentReply {
  const inputTokens = tokensOf(system + prompt, usage?.inputTokens);
  const outputTokens = tokensOf(text, usage?.outputTokens);
  // The SDK says 0 for a server that says nothing.
  const cachedTokens = countOf(usage?.inputTokenDetails?.cacheReadTokens) || undefined;
  return { text, tokens: inputTokens + outputTokens, inputTokens, outputTokens, ...defined({ cachedTokens }) };
}

/** Most tokens of the reply, after the estimated tokens of the prompt. */
function mostOutput({ maxOutputTokens }: Settings, { maxTokens, system, prompt }: AgentRequest): number | null {
  if (maxTokens === null) return maxOutputTokens;
  const left = Math.max(1, maxTokens - estimate(system) - estimate(prompt));
  return Math.min(left, maxOutputTokens ?? left);
}
