import { decode } from '../../wire/codec.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { ToolDefinition, ToolRuntime } from '../define/definition.ts';
import { ToolError } from '../errors.ts';
import { Pending } from '../pending.ts';
import { approvedCall } from './approval.ts';
import type { CallingRun, ToolCall } from './context.ts';
import { translate } from './outcome.ts';
import { unlessOver } from './over.ts';
import type { Completion } from './recorded.ts';
import { resultJson } from './result.ts';
import { suspend } from './suspended.ts';
import { timeboxed } from './timebox.ts';
import { CallRuntime } from './toolruntime.ts';

/**
 * Runs a tool with checked arguments, within its own time and until the call is over. `callNested` is how the tool calls other
 * tools. Rejects with `ToolError` or `Halt`.
 */
export async function invoke(
  { context }: CallingRun,
  tool: ToolDefinition,
  args: Readonly<Record<string, unknown>>,
  { args: given, site, io, depth, completion }: ToolCall,
  callNested: ToolRuntime['callTool'],
): Promise<TaggedJson> {
  const { turn, limits } = context;
  const expired = tool.timeoutMs === null ? null : new AbortController();
  const runtime = new CallRuntime(tool, {
    context,
    site,
    io,
    expired: expired?.signal ?? null,
    callNested,
    mayWait: depth === 0 && (context.mayWait ?? false),
    waitedFor: completion?.waitedFor ?? null,
  });
  const run = async (): Promise<TaggedJson> => {
    // A call that is completed began in an earlier run, with the approval that it needed.
    const result =
      completion === null
        ? await approvedCall(tool, given, turn, () => tool.run(args, runtime))
        : await complete(tool, completion, args, runtime);
    return resultJson(tool, result, limits.toolBytes);
  };
  try {
    return await unlessOver(io, () => timeboxed(tool, expired, run));
  } catch (error) {
    if (error instanceof Pending) throw suspend(tool, error, depth, context.mayWait ?? false);
    throw translate(tool, error);
  } finally {
    runtime.end();
  }
}

/** What a tool makes of the answer to a suspended call. */
async function complete(
  tool: ToolDefinition,
  completion: Completion,
  args: Readonly<Record<string, unknown>>,
  runtime: ToolRuntime,
): Promise<unknown> {
  if (!completion.ok) throw new ToolError(completion.code, completion.message);
  const answer = decode(completion.value);
  return tool.complete === null ? answer : tool.complete(answer, args, runtime);
}
