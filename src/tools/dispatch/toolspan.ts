import { ATTR, type Attributes, closedCode, type SpanInit } from '../../telemetry/index.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { canonicalName } from '../names.ts';
import type { DispatchContext, ToolCall } from './context.ts';
import { replyFor } from './outcome.ts';
import { Suspended } from './suspended.ts';

/** Answers a call in a span, which is active in everything that the tool starts, and measures the call. */
export async function withToolSpan(
  { telemetry, tools }: DispatchContext,
  call: ToolCall,
  answer: () => Promise<TaggedJson>,
): Promise<TaggedJson> {
  const tool = tools.lookup(call.name);
  const begun = performance.now();
  let failure: string | null = null;
  const errorType = (error: unknown): string | null => {
    failure = errorTypeOf(error);
    return failure;
  };
  try {
    return await telemetry.span({ ...spanOf(call, tool, telemetry.content), errorType }, async (span) => {
      const value = await answer();
      if (telemetry.content && span.isRecording()) span.setAttribute(ATTR.toolResult, JSON.stringify(value));
      return value;
    });
  } finally {
    telemetry.record('gen_ai.execute_tool.duration', (performance.now() - begun) / 1000, {
      [ATTR.operation]: OPERATION,
      ...(tool === undefined ? {} : { [ATTR.toolName]: tool.canonicalName }),
      ...(failure === null ? {} : { [ATTR.errorType]: closedCode(failure) }),
    });
  }
}

const OPERATION = 'execute_tool';

/** Most characters of the name of a tool that does not exist, because a program can write any. */
const MAX_NAME = 100;

/** The span has the name of the tool only if there is one: SDKs count spans by their names. */
function spanOf({ id, name, args }: ToolCall, tool: ToolDefinition | undefined, content: boolean): SpanInit {
  const attributes: Attributes = {
    [ATTR.operation]: OPERATION,
    [ATTR.toolName]: tool?.canonicalName ?? canonicalName(name).slice(0, MAX_NAME),
    [ATTR.toolType]: 'function',
    [ATTR.toolCallId]: id,
  };
  if (tool === undefined) return { name: OPERATION, attributes };
  if (tool.description !== '') attributes[ATTR.toolDescription] = tool.description;
  if (content)
    attributes[ATTR.toolArguments] = JSON.stringify(
      Object.fromEntries(args.map((arg, index) => [tool.parameters[index]?.name ?? String(index + 1), arg])),
    );
  return { name: `${OPERATION} ${tool.canonicalName}`, attributes };
}

/** A call that waits for its answer is no failure. */
function errorTypeOf(error: unknown): string | null {
  if (error instanceof Suspended) return null;
  const reply = replyFor(error);
  if (reply.t === 'halt') return reply.error.code;
  return reply.t === 'error' ? `NS${reply.code}` : null;
}
