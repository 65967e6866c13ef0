import { SpanKind } from '@opentelemetry/api';
import { ATTR, type Attributes, codeOf, currentTelemetry, OWN, serverAttributes, type Telemetry } from '../../telemetry/index.ts';
import type { AgentRequest, ModelIdentity } from './agent.ts';

/** The metadata of a model's response. */
export interface ChatResponse {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly finishReason: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheCreationTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
}

/** One request to a model. */
export interface ChatInit {
  readonly model: ModelIdentity;
  readonly request: AgentRequest;
  /** Number of earlier attempts at the request. */
  readonly retry: number;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
}

/** Reports the progress of a request to its span. */
export interface Chat {
  /** The first text came. */
  began(): void;
  /** The model has described its response. */
  responded(response: ChatResponse): void;
  /** The whole text is there. */
  replied(text: string): void;
}

/** Sends a request to a model in a span, and measures it. */
export async function withChatSpan<T>(init: ChatInit, send: (chat: Chat) => Promise<T>): Promise<T> {
  const telemetry = currentTelemetry();
  const common = commonOf(init.model);
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  let outcome: Attributes = {};
  const attributes = { ...common, ...requestOf(init, telemetry) };
  try {
    return await telemetry.span(
      { name: `${CHAT} ${init.model.name}`, kind: SpanKind.CLIENT, attributes, errorType: errorTypeOf },
      async (span) =>
        await send({
          began() {
            span.setAttribute(ATTR.timeToFirstChunk, seconds());
            telemetry.record('gen_ai.client.operation.time_to_first_chunk', seconds(), common);
          },
          responded(response) {
            if (response.model !== undefined) outcome = { [ATTR.responseModel]: response.model };
            span.setAttributes(responseAttributes(response));
            for (const [type, used] of [
              ['input', response.inputTokens],
              ['output', response.outputTokens],
            ] as const)
              if (used !== undefined)
                telemetry.record('gen_ai.client.token.usage', used, { ...common, ...outcome, [ATTR.tokenType]: type });
          },
          replied(text) {
            if (telemetry.content) span.setAttribute(ATTR.outputMessages, messages('assistant', text));
          },
        }),
    );
  } catch (error) {
    outcome = { ...outcome, [ATTR.errorType]: errorTypeOf(error) };
    throw error;
  } finally {
    telemetry.record('gen_ai.client.operation.duration', seconds(), { ...common, ...outcome });
  }
}

const CHAT = 'chat';

/** The attributes that spans and metrics share. */
function commonOf({ provider, name, url }: ModelIdentity): Attributes {
  return {
    [ATTR.operation]: CHAT,
    [ATTR.provider]: provider,
    [ATTR.requestModel]: name,
    ...(url === undefined ? {} : serverAttributes(url)),
  };
}

function requestOf({ request, retry, maxTokens, temperature }: ChatInit, { content }: Telemetry): Attributes {
  const { sid, turn, attempt, system, prompt } = request;
  return {
    [ATTR.conversation]: sid,
    [ATTR.requestStream]: true,
    [OWN.turn]: turn,
    [OWN.attempt]: attempt,
    ...(retry === 0 ? {} : { [OWN.retry]: retry }),
    ...(maxTokens === null ? {} : { [ATTR.requestMaxTokens]: maxTokens }),
    ...(temperature === null ? {} : { [ATTR.requestTemperature]: temperature }),
    ...(content ? { [ATTR.inputMessages]: messages('user', prompt) } : {}),
    ...(content && system !== '' ? { [ATTR.systemInstructions]: JSON.stringify([{ type: 'text', content: system }]) } : {}),
  };
}

function responseAttributes(response: ChatResponse): Attributes {
  return {
    [ATTR.responseId]: response.id,
    [ATTR.responseModel]: response.model,
    [ATTR.finishReasons]: [response.finishReason],
    [ATTR.inputTokens]: response.inputTokens,
    [ATTR.outputTokens]: response.outputTokens,
    [ATTR.cacheReadTokens]: response.cacheReadTokens,
    [ATTR.cacheCreationTokens]: response.cacheCreationTokens,
    [ATTR.reasoningTokens]: response.reasoningTokens,
  };
}

/** One message, in the form that the conventions prescribe. */
function messages(role: 'user' | 'assistant', content: string): string {
  const finish = role === 'assistant' ? { finish_reason: 'stop' } : {};
  return JSON.stringify([{ role, parts: [{ type: 'text', content }], ...finish }]);
}

/** The status of a refusal, `timeout`, or the code of an error of the connection. */
function errorTypeOf(error: unknown): string {
  if (error instanceof Error && 'type' in error && typeof error.type === 'string') return error.type;
  return codeOf(error);
}
