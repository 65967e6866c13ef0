import type { Tool } from '@modelcontextprotocol/client';
import {
  defineTool,
  fromJsonSchema,
  issuesText,
  type JsonSchema,
  type StandardSchema,
  schemaWords,
  type ToolDefinition,
  ToolError,
  type ToolRuntime,
} from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { TimeDate } from '../wire/values.ts';
import type { McpServerConfig } from './config.ts';
import { type McpAnswer, type McpConnection, McpError } from './connection.ts';
import { boundedSchema, plainWords } from './serverschema.ts';

/**
 * Defines a server's tools as `tool.<server>.<name>`. Each takes one map of named arguments, which is checked against the
 * server's schema before anything is sent. The tools need the grant `mcp:call:<server>`, and count as writes unless the host
 * declares them read-only. Throws {@link ConfigError} (`ERR_CONFIG`) for names that would be the same in a script.
 */
export function toolsOf(connection: McpConnection, config: McpServerConfig, tools: readonly Tool[]): readonly ToolDefinition[] {
  const listed = new Set(tools.map(({ name }) => name));
  for (const name of [...(config.tools ?? []), ...(config.readOnly ?? [])])
    if (!listed.has(name))
      throw new McpError(connection.name, `it has no tool '${plainWords(name)}', which the configuration names`);
  const offered = tools.filter(({ name }) => config.tools === undefined || config.tools.includes(name));
  const seen = new Map<string, string>();
  return offered.map((tool) => {
    const name = scriptName(tool.name);
    const other = seen.get(name.toLowerCase());
    if (other !== undefined)
      throw new ConfigError(
        `MCP server '${connection.name}': the tools '${plainWords(other)}' and '${plainWords(tool.name)}' have the same name in a script; choose with 'tools'`,
      );
    seen.set(name.toLowerCase(), tool.name);
    return define(connection, tool, name, config);
  });
}

/** The name as an identifier: every other character becomes `_`. */
function scriptName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 100);
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}

function define(connection: McpConnection, tool: Tool, name: string, config: McpServerConfig): ToolDefinition {
  const checkAnswer = outputCheck(tool.outputSchema);
  const common = {
    name: `tool.${connection.name}.${name}`,
    description: plainWords(tool.description ?? tool.title ?? ''),
    returns: returnsOf(tool.outputSchema),
    effects: config.readOnly?.includes(tool.name) === true ? 'read' : 'write',
    capabilities: [`mcp:call:${connection.name}`],
    async run(args: Readonly<Record<string, unknown>>, { signal }: ToolRuntime) {
      try {
        return await scriptValue(await connection.call(tool.name, plainArguments(args['arguments']), signal), checkAnswer);
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        throw new ToolError(NS_CODES.External, error.message, undefined, { cause: error });
      }
    },
  } as const;
  const schema: JsonSchema = { ...boundedSchema(tool.inputSchema), type: 'object' };
  const needed = Array.isArray(schema.required) && schema.required.length > 0;
  const check = argumentsCheck(schema, needed);
  if (check !== null) return defineTool({ ...common, args: { arguments: check } });
  return defineTool({ ...common, args: [{ name: 'arguments', type: 'map', required: needed }] });
}

/** The check of the arguments, which may be left out if none is needed. Null for an invalid schema: then only the server checks. */
function argumentsCheck(schema: JsonSchema, needed: boolean): StandardSchema | null {
  try {
    const { '~standard': check } = fromJsonSchema(schema, 'the arguments');
    const validate = (given: unknown) =>
      (given === null || given === undefined) && !needed ? { value: null } : check.validate(given);
    const described = () => schema;
    const standard = { ...check, validate, jsonSchema: { input: described, output: described } };
    return { '~standard': standard };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return null;
  }
}

/** What a tool returns, in words: a note, because the check of an answer has an error of its own. */
function returnsOf(outputSchema: unknown): string {
  const words = schemaWords(boundedSchema(outputSchema));
  return words.startsWith('{') ? words : 'string | list';
}

/** The named arguments as JSON. Throws {@link ToolError} 4 for values that JSON cannot represent. */
function plainArguments(given: unknown): Record<string, unknown> {
  if (given === null || given === undefined) return {};
  return Object.fromEntries(Object.entries(Object(given)).map(([key, value]) => [key, plain(key, value)]));
}

function plain(key: string, value: unknown): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof TimeDate) return value.text;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map((each) => plain(key, each));
  if (isPlainMap(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(name, each)]));
  throw new ToolError(NS_CODES.ArgMismatch, `'${key}' holds a value that cannot be sent: pass texts, numbers, lists and maps`);
}

function isPlainMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Returns how a structured answer violates the schema that the server announced, or null. */
type OutputCheck = (value: unknown) => Promise<string | null>;

function outputCheck(schema: unknown): OutputCheck {
  if (schema === undefined) return async () => null;
  try {
    const standard = fromJsonSchema(boundedSchema(schema), 'an answer')['~standard'];
    return async (value) => {
      const { issues } = await standard.validate(value);
      return issues === undefined ? null : issuesText(issues);
    };
  } catch {
    return async () => null;
  }
}

async function scriptValue({ isError, content, structured }: McpAnswer, check: OutputCheck): Promise<unknown> {
  const parts = content.map(partOf);
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

/** A text part as a string, an image or audio part with its bytes, and every other part as a map. */
function partOf(part: unknown): unknown {
  if (!isPlainMap(part)) return null;
  const { type, text, data, _meta, annotations, ...rest } = part;
  if (type === 'text' && typeof text === 'string') return text.toWellFormed();
  return { type, ...rest, ...(typeof data === 'string' ? { data: new Uint8Array(Buffer.from(data, 'base64')) } : {}) };
}
