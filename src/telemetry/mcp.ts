import { SpanKind } from '@opentelemetry/api';
import { ATTR } from './conventions.ts';
import { type Attributes, codeOf, currentTelemetry, describe, fail, type Telemetry, traceFields } from './telemetry.ts';

export interface McpCall {
  /** The server's name of the tool. */
  readonly tool: string;
  /** The URL of a server over HTTP; null for one over standard streams. */
  readonly url: string | null;
  /** The version of the protocol that was agreed on. */
  readonly protocol: string | undefined;
  /** The id of the session with the server. */
  readonly session: string | undefined;
}

/**
 * Sends the call with the active trace for its `_meta`, and measures it. It has no span of its own, because it is what the active
 * span of a tool call does: it describes that one.
 */
export async function withMcpCall<T extends { readonly isError: boolean }>(
  { tool, url, protocol, session }: McpCall,
  send: (meta: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const common = { [ATTR.mcpMethod]: 'tools/call', ...placeOf(url) };
  describe({ ...common, [ATTR.mcpProtocol]: protocol, [ATTR.mcpSession]: session });
  const begun = performance.now();
  let failure: string | null = null;
  try {
    const answer = await send(traceFields());
    if (answer.isError) failure = 'tool_error';
    return answer;
  } catch (error) {
    failure = codeOf(error);
    throw error;
  } finally {
    currentTelemetry().record('mcp.client.operation.duration', (performance.now() - begun) / 1000, {
      ...common,
      [ATTR.toolName]: tool,
      ...(failure === null ? {} : { [ATTR.errorType]: failure }),
    });
  }
}

function placeOf(url: string | null): Attributes {
  return url === null ? { [ATTR.networkTransport]: 'pipe' } : { [ATTR.networkTransport]: 'tcp', ...serverAttributes(url) };
}

/** The host and the port of a URL as attributes. */
export function serverAttributes(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  return { [ATTR.serverAddress]: hostname, [ATTR.serverPort]: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
}

/** A call that a client makes of a tool of ours. */
export interface McpServed {
  readonly tool: string;
  /** What the request says beside its arguments: among it the trace of the client. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly protocol: string | undefined;
  readonly session: string | undefined;
}

/** Answers a call of a client in a span of the client's trace, and measures it. */
export async function withServedCall<T extends object>(
  telemetry: Telemetry,
  { tool, meta = {}, protocol, session }: McpServed,
  work: () => Promise<T>,
): Promise<T> {
  const common = { [ATTR.mcpMethod]: 'tools/call', [ATTR.toolName]: tool };
  const about = { [ATTR.operation]: 'execute_tool', [ATTR.mcpProtocol]: protocol, [ATTR.mcpSession]: session };
  const begun = performance.now();
  let failure: string | null = null;
  const init = { name: `tools/call ${tool}`, kind: SpanKind.SERVER, attributes: { ...common, ...about }, caller: meta };
  try {
    return await telemetry.span(init, async (span) => {
      const answer = await work();
      if (!('isError' in answer) || answer.isError !== true) return answer;
      failure = 'tool_error';
      fail(span, failure);
      return answer;
    });
  } catch (error) {
    failure = codeOf(error);
    throw error;
  } finally {
    const seconds = (performance.now() - begun) / 1000;
    telemetry.record('mcp.server.operation.duration', seconds, {
      ...common,
      ...(failure === null ? {} : { [ATTR.errorType]: failure }),
    });
  }
}
