import { setImmediate as nextRound } from 'node:timers/promises';
import { ValueMeter } from '../../files/valuemeter.ts';
import { defined } from '../../wire/defined.ts';
import { ConfigError } from '../../wire/errors.ts';
import { anything, checker, checkText, oneOf, required } from '../../wire/options.ts';
import { type Agent, type AgentRequest, REPLY_CHARACTERS } from './agent.ts';
import { decodingFields, type Fields, GRAMMAR_SERVERS, type GrammarServer } from './decoding.ts';
import { MODEL_CHECKS, type ModelAgentOptions, PROVIDER, replyOf, type SdkModel, settingsOf } from './model.ts';

/** Options of {@link openaiAgent}. */
export interface OpenaiAgentOptions extends ModelAgentOptions {
  /** The server's name for the model. */
  readonly model: string;
  /** Base URL of the API, for instance `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; none when absent. Messages never contain it. */
  readonly apiKey?: string | undefined;
  /** The form in which the server takes the grammar of a request. When absent, it gets none. */
  readonly grammar?: GrammarServer | undefined;
}

const checkOpenaiOptions = checker<OpenaiAgentOptions>({
  ...MODEL_CHECKS,
  model: required(checkText),
  baseUrl: required(anything),
  apiKey: checkText,
  grammar: oneOf(...GRAMMAR_SERVERS),
});

/** Most bytes of one response. Streaming wraps every few characters of a reply in many times their size. */
const RESPONSE_BYTES = 64 * REPLY_CHARACTERS;
const LF = 0x0a;
/**
 * Most bytes that the SDK gets before the host does other work: the SDK spends more time on a line of five bytes than a small tool takes.
 */
const PIECE_BYTES = 4096;
/** Most bytes of one line, because the SDK buffers a line until it ends. */
const LINE_BYTES = 4 * REPLY_CHARACTERS;
/** Most values of one event, which the SDK parses and checks in one piece. An event of a stream has some twenty. */
const EVENT_VALUES = { containers: 1000, items: 10_000 };
/** Most bytes of the answer of a server that refuses: the SDK parses it in one piece. */
const REFUSAL_BYTES = 64 * 1024;

/**
 * Creates an agent from a model behind a server with an OpenAI-compatible API. The first reply loads the packages that it
 * needs. Redirections are not followed, because they would send prompt and key to a server that is not configured. Throws
 * {@link ConfigError} for invalid options.
 *
 * @example
 * ```ts
 * import { openaiAgent } from 'neuroscript-runtime/loop';
 *
 * const apiKey = process.env['MODEL_KEY'];
 * const agent = openaiAgent({ model: 'm-1', baseUrl: 'https://models.example/v1', ...(apiKey ? { apiKey } : {}) });
 * ```
 */
export function openaiAgent(options: OpenaiAgentOptions): Agent {
  checkOpenaiOptions('the options of a model agent', options);
  const { model: name, apiKey } = options;
  if (name === '') throw new ConfigError('a model agent needs the name of a model');
  const baseURL = checkUrl(options.baseUrl);
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ConfigError('the key of a model agent must be visible ASCII characters without blanks');
  const settings = settingsOf(options);
  const clean = (text: string): string => (apiKey === undefined ? text : text.replaceAll(apiKey, '[key]'));
  let loaded: Promise<SdkModel> | null = null;
  const model = (): Promise<SdkModel> => {
    loaded ??= load(name, baseURL, apiKey);
    return loaded;
  };
  const identity = { provider: 'openai', name, url: baseURL };
  const fields = (request: AgentRequest): Fields => decodingFields(options.grammar, request);
  return {
    name,
    model: identity,
    price: options.cost?.usd,
    reply: (request) => replyOf({ identity, load: model, settings, clean, fields }, request),
  };
}

async function load(name: string, baseURL: string, apiKey: string | undefined): Promise<SdkModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    ...{ name: PROVIDER, baseURL, includeUsage: true, fetch: boundedFetch },
    ...defined({ apiKey }),
  });
  return provider.chatModel(name);
}

/** Like `fetch`, but does not follow redirections, gives its response in pieces, and fails when a response is too large. */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new Error(`the model's server answered ${response.status}: redirections are not followed`);
  }
  if (response.body === null) return response;
  const { ok, status, statusText, headers } = response;
  if (!ok) return new Response(response.body.pipeThrough(beginning(REFUSAL_BYTES)), { status, statusText, headers });
  const meter = new ValueMeter(true, EVENT_VALUES);
  let bytes = 0;
  let line = 0;
  let piece = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      bytes += chunk.length;
      const feed = chunk.lastIndexOf(LF);
      line = feed < 0 ? line + chunk.length : chunk.length - feed - 1;
      if (bytes > RESPONSE_BYTES || line > LINE_BYTES) {
        controller.error(new Error("the answer of the model's server is too large"));
        return;
      }
      if (!meter.take(chunk)) {
        controller.error(new Error("an event of the model's server nests too deep, or has too many values"));
        return;
      }
      for (let start = 0; start < chunk.length; ) {
        const part = chunk.subarray(start, start + PIECE_BYTES - piece);
        controller.enqueue(part);
        start += part.length;
        piece += part.length;
        if (piece < PIECE_BYTES) continue;
        piece = 0;
        await nextRound();
      }
    },
  });
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
}

/** Passes on the first bytes. */
function beginning(most: number): TransformStream<Uint8Array, Uint8Array> {
  let left = most;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}

function checkUrl(text: unknown): string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigError(`baseUrl of a model agent must be an http or https URL, got '${String(text).slice(0, 200)}'`);
  // Credentials would appear wherever the URL is shown.
  if (url.username !== '' || url.password !== '') throw new ConfigError('baseUrl of a model agent must hold no user or password');
  const parts = url.href.split('/');
  return parts.slice(0, parts.findLastIndex((part) => part !== '') + 1).join('/');
}
