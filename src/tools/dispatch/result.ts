import { NS_CODES } from '../../wire/codes.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { coerce } from '../define/argtypes.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { issuesText } from '../define/standardschema.ts';
import { ToolError } from '../errors.ts';
import { leastBytes } from './hold.ts';
import { orderedValueFrom, textOf } from './large.ts';
import { encodeAs, tooLarge } from './outcome.ts';

/** Checks a result against the `returns` of its tool. Throws {@link ToolError} 21, which names the tool and the problem. */
async function heldToPromise(
  tool: ToolDefinition,
  promised: NonNullable<ToolDefinition['result']>,
  result: unknown,
  maxBytes: number,
): Promise<unknown> {
  if ('type' in promised) {
    const value = await orderedValueFrom(await encodeAs(NS_CODES.ToolExecutionFailed, unholdable(tool), result, maxBytes));
    if (value === null) return null;
    const fitted = coerce(promised.type, value);
    return fitted.ok ? fitted.value : broken(tool, fitted.problem);
  }
  const judged = await promised.schema['~standard'].validate(result);
  return judged.issues === undefined ? judged.value : broken(tool, issuesText(judged.issues));
}

/**
 * A result, checked and encoded. Throws {@link ToolError} 37 for a result that is larger than the tool itself allows, and `Halt` for
 * one that is larger than `toolBytes`, which no tool can widen.
 */
export async function resultJson(tool: ToolDefinition, result: unknown, toolBytes: number): Promise<TaggedJson> {
  // Others may run together with this call, so a large result is refused before any part of it is encoded.
  if (leastBytes(result) > toolBytes) throw tooLarge(unholdable(tool), toolBytes);
  const held = tool.result === null ? result : await heldToPromise(tool, tool.result, result, toolBytes);
  const json = await encodeAs(NS_CODES.ToolExecutionFailed, unholdable(tool), held, toolBytes);
  const most = tool.maxResultBytes;
  if (most === null || most >= toolBytes) return json;
  const bytes = Buffer.byteLength(await textOf(json), 'utf8');
  if (bytes <= most) return json;
  const message = `tool '${tool.canonicalName}' returned ${bytes} bytes, ${most} are allowed`;
  throw new ToolError(NS_CODES.ResourceExhaustion, message);
}

function unholdable(tool: ToolDefinition): string {
  return `tool '${tool.canonicalName}' returned what a script cannot hold`;
}

function broken(tool: ToolDefinition, problem: string): never {
  const message = `tool '${tool.canonicalName}' returned something else than it promises: ${problem}`;
  throw new ToolError(NS_CODES.ToolExecutionFailed, message);
}
