import type { CallToolResult } from '@modelcontextprotocol/client';
import { issuesText, ToolError } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { isRecord } from '../wire/unknown.ts';
import { isValueMap, TimeDate } from '../wire/values.ts';
import { boundedCheck, boundedSchema, plainWords } from './serverschema.ts';

/** The answer to a call of a server's tool. */
export interface McpAnswer {
  readonly isError: boolean;
  readonly content: readonly unknown[];
  /** Undefined if there is none. */
  readonly structured: unknown;
  readonly meta: unknown;
}

export function answerOf(result: unknown): McpAnswer {
  const { isError, content, structuredContent, _meta: meta }: Partial<CallToolResult> = isRecord(result) ? result : {};
  return { isError: isError === true, content: Array.isArray(content) ? content : [], structured: structuredContent, meta };
}

/** The named arguments as JSON. Throws {@link ToolError} 4 for values that JSON cannot represent. */
export function plainArguments(given: unknown): Record<string, unknown> {
  if (given === null || given === undefined) return {};
  return Object.fromEntries(Object.entries(Object(given)).map(([key, value]) => [key, plain(key, value)]));
}

function plain(key: string, value: unknown): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof TimeDate) return value.text;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((each) => plain(key, each));
  if (isValueMap(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(name, each)]));
  throw new ToolError(NS_CODES.ArgMismatch, `'${key}' holds a value that cannot be sent: pass texts, numbers, lists and maps`);
}

/** The named arguments of a prompt, whose values are texts. */
export function argumentTexts(given: unknown): Record<string, string> {
  const entries = Object.entries(plainArguments(given));
  return Object.fromEntries(entries.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]));
}

/** Returns how a structured answer violates the schema that the server announced, or null. */
export type OutputCheck = (value: unknown) => Promise<string | null>;

export function outputCheck(schema: unknown): OutputCheck {
  if (schema === undefined) return async () => null;
  try {
    const check = boundedCheck(boundedSchema(schema), 'an answer');
    return async (value) => {
      const { issues } = await check.validate(value);
      return issues === undefined ? null : issuesText(issues);
    };
  } catch {
    return async () => null;
  }
}

/**
 * The value that a program gets for an answer. Rejects with {@link ToolError}: 21 for an error of the tool, 1002 for an answer of the
 * wrong form.
 */
export async function scriptValue(
  { isError, content, structured }: Omit<McpAnswer, 'meta'>,
  check: OutputCheck,
): Promise<unknown> {
  const parts = content.map((part, index) => partOf(part, `content[${index}]`));
  if (isError) {
    const text = parts.filter((part) => typeof part === 'string').join(' ');
    throw new ToolError(NS_CODES.ToolExecutionFailed, text === '' ? 'the tool failed and does not say why' : plainWords(text));
  }
  if (structured !== undefined) {
    const problem = await check(structured);
    if (problem === null) return structured;
    throw new ToolError(NS_CODES.External, `the answer violates the schema that the server announced: ${plainWords(problem)}`);
  }
  if (parts.length === 0) return null;
  return parts.length === 1 && typeof parts[0] === 'string' ? parts[0] : parts;
}

/**
 * A text part as a string, an image or audio part with its bytes, and every other part as a map. `place` says where the part stands in the
 * answer. Throws {@link ToolError} 1002 for one that is not a map, and for bytes that are not base64.
 */
export function partOf(part: unknown, place: string): unknown {
  if (!isValueMap(part)) throw unreadable(`${place} is not an object`);
  const { type, text, data, _meta, annotations, ...rest } = part;
  if (type === 'text' && typeof text === 'string') return text.toWellFormed();
  return { type, ...rest, ...(typeof data === 'string' ? { data: bytesOf(data, `${place}.data`) } : {}) };
}

/** The bytes of base64, with line breaks and without padding as well. Throws {@link ToolError} 1002 for another text. */
export function bytesOf(base64: string, place: string): Uint8Array {
  const bytes = Buffer.from(base64, 'base64');
  const bare = (text: string): string => ['=', '\r', '\n'].reduce((left, part) => left.replaceAll(part, ''), text);
  if (bare(bytes.toString('base64')) !== bare(base64)) throw unreadable(`${place} is not base64`);
  return new Uint8Array(bytes);
}

function unreadable(what: string): ToolError {
  return new ToolError(NS_CODES.External, `the answer of the server cannot be read: ${what}`);
}
