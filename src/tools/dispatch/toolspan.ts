import { ATTR, type Attributes, closedCode, OWN, type SpanInit, type Telemetry } from '../../telemetry/index.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { canonicalName } from '../names.ts';
import type { DispatchContext, ToolCall } from './context.ts';
import { replyFor } from './outcome.ts';
import { Suspended } from './suspended.ts';

/** The span and the metric of one call. */
export class CallMeasure {
  /** The span, which is active in everything that the tool starts. */
  readonly span: SpanInit;
  readonly #telemetry: Telemetry;
  readonly #tool: ToolDefinition | undefined;
  readonly #begun = performance.now();
  #failure: string | null = null;

  constructor({ telemetry, tools }: DispatchContext, call: ToolCall) {
    this.#telemetry = telemetry;
    this.#tool = tools.lookup(call.name);
    const tool = this.#tool;
    // The span has the name of the tool only if there is one: SDKs count spans by their names.
    const name = tool === undefined ? OPERATION : `${OPERATION} ${tool.canonicalName}`;
    this.span = { name, attributes: () => attributesOf(call, tool, telemetry.content), errorType: errorTypeOf };
  }

  /** The call ends with this error. */
  failed(error: unknown): void {
    this.#failure = errorTypeOf(error);
  }

  /** The call has ended. */
  end(): void {
    this.#telemetry.record('gen_ai.execute_tool.duration', (performance.now() - this.#begun) / 1000, {
      [ATTR.operation]: OPERATION,
      [ATTR.toolName]: this.#tool?.canonicalName,
      [ATTR.errorType]: this.#failure === null ? undefined : closedCode(this.#failure),
    });
  }
}

const OPERATION = 'execute_tool';

/** Most characters of the name of a tool that does not exist, because a program can write any. */
const MAX_NAME = 100;

function attributesOf({ id, name, args, site, depth }: ToolCall, tool: ToolDefinition | undefined, content: boolean): Attributes {
  const attributes: Attributes = {
    [ATTR.operation]: OPERATION,
    [ATTR.toolName]: tool?.canonicalName ?? canonicalName(name).slice(0, MAX_NAME),
    [ATTR.toolType]: 'function',
    [ATTR.toolCallId]: id(),
  };
  if (site.together !== undefined && depth === 0) attributes[OWN.together] = site.together;
  if (tool === undefined) return attributes;
  if (tool.description !== '') attributes[ATTR.toolDescription] = tool.description;
  if (content)
    attributes[ATTR.toolArguments] = JSON.stringify(
      Object.fromEntries(args.map((arg, index) => [tool.parameters[index]?.name ?? String(index + 1), arg])),
    );
  return attributes;
}

/** A call that waits for its answer is no failure. */
function errorTypeOf(error: unknown): string | null {
  if (error instanceof Suspended) return null;
  const reply = replyFor(error);
  if (reply.t === 'halt') return reply.error.code;
  return reply.t === 'error' ? `NS${reply.code}` : null;
}
