import { NS_CODES } from '../../wire/codes.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { coerce } from '../define/argtypes.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { issuesText } from '../define/standardschema.ts';
import { ToolError } from '../errors.ts';
import { leastBytes } from './hold.ts';
import { jsonSize, orderedValueFrom } from './large.ts';
import { encodeAs, tooLarge } from './outcome.ts';

/** Types whose values are short. Their results have at most this many bytes of JSON. */
const SHORT: ReadonlySet<string> = new Set([
  'int',
  'float',
  'number',
  'bool',
  'boolean',
  'timedate',
  'fuzzy',
  'handle',
  'nil',
  'void',
]);
const SHORT_BYTES = 1024;

/** The most bytes of JSON that a result of a tool may have: what it declares, else what its type says. Null when it says nothing. */
function declaredBytes({ maxResultBytes, result }: ToolDefinition): number | null {
  return maxResultBytes ?? (result !== null && 'type' in result && SHORT.has(result.type) ? SHORT_BYTES : null);
}

/**
 * The bytes that a call reserves before it begins: the largest result of its tool. A tool that declares none gets an equal share of half
 * the journal, so that all calls of a block begin at once.
 */
export function reservedBytes(tool: ToolDefinition, { toolBytes, journalBytes, togetherCalls }: LimitValues): number {
  return Math.min(toolBytes, declaredBytes(tool) ?? Math.floor(journalBytes / 2 / togetherCalls));
}

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
  const least = leastBytes(result);
  if (least > toolBytes) throw tooLarge(unholdable(tool), toolBytes);
  const most = declaredBytes(tool) ?? toolBytes;
  if (least > most) throw moreThan(most, tool, least);
  const held = tool.result === null ? result : await heldToPromise(tool, tool.result, result, toolBytes);
  const json = await encodeAs(NS_CODES.ToolExecutionFailed, unholdable(tool), held, toolBytes);
  if (most >= toolBytes) return json;
  const bytes = await jsonSize(json);
  if (bytes > most) throw moreThan(most, tool, bytes);
  return json;
}

function moreThan(most: number, { canonicalName }: ToolDefinition, bytes: number): ToolError {
  return new ToolError(
    NS_CODES.ResourceExhaustion,
    `tool '${canonicalName}' returned ${grouped(bytes)} bytes, ${grouped(most)} are allowed`,
  );
}

function unholdable(tool: ToolDefinition): string {
  return `tool '${tool.canonicalName}' returned what a script cannot hold`;
}

function broken(tool: ToolDefinition, problem: string): never {
  const message = `tool '${tool.canonicalName}' returned something else than it promises: ${problem}`;
  throw new ToolError(NS_CODES.ToolExecutionFailed, message);
}
