import { setImmediate as nextRound } from 'node:timers/promises';
import type { Tool } from '@modelcontextprotocol/client';
import {
  defineTool,
  type JsonSchema,
  type StandardSchema,
  schemaWords,
  type ToolDefinition,
  ToolError,
  type ToolRuntime,
} from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { isRecord } from '../wire/unknown.ts';
import { type McpAnswer, outputCheck, plainArguments, scriptValue } from './answer.ts';
import { type McpServerConfig, scriptName } from './config.ts';
import { isTask, type McpConnection } from './connection.ts';
import { McpError, toolError } from './error.ts';
import { hintedLabels, serverLabels } from './labels.ts';
import { READERS } from './resources.ts';
import { boundedCheck, boundedSchema, plainWords } from './serverschema.ts';
import { type McpTask, taskIdIn, waitingReason } from './tasks.ts';

/**
 * Defines a server's tools as `tool.<server>.<name>`. Each takes one map of named arguments, which is checked against the
 * server's schema before anything is sent. The tools need the grant `mcp:call:<server>`, and count as writes unless the host
 * declares them read-only. Rejects with {@link McpError} (`ERR_MCP`) for names that would be the same in a script.
 */
export async function toolsOf(
  connection: McpConnection,
  config: McpServerConfig,
  tools: readonly Tool[],
): Promise<readonly ToolDefinition[]> {
  const listed = new Set([...tools.map(({ name }) => name), ...READERS]);
  for (const name of [...(config.tools ?? []), ...(config.readOnly ?? []), ...Object.keys(config.costs ?? {})])
    if (!listed.has(name))
      throw new McpError(connection.name, `it has no tool '${plainWords(name)}', which the configuration names`);
  const offered = tools.filter(({ name }) => config.tools === undefined || config.tools.includes(name));
  const seen = new Map<string, string>();
  const defined: ToolDefinition[] = [];
  for (const tool of offered) {
    const name = scriptName(tool.name);
    const other = seen.get(name.toLowerCase());
    if (other !== undefined)
      throw new McpError(
        connection.name,
        `the tools '${plainWords(other)}' and '${plainWords(tool.name)}' have the same name in a script; choose with 'tools'`,
      );
    seen.set(name.toLowerCase(), tool.name);
    defined.push(define(connection, tool, name, config));
    // A schema takes up to 40 ms.
    await nextRound();
  }
  return defined;
}

/** The tool that replaces the tools of a server that cannot be used. It says why, in listings and when it is called. */
export function standIn(server: string, error: McpError): ToolDefinition {
  return defineTool({
    setsVariables: false,
    name: `tool.${server}.Unavailable`,
    description: plainWords(error.message),
    capabilities: [`mcp:call:${server}`],
    effects: 'none',
    run: () => {
      throw new ToolError(NS_CODES.External, error.message);
    },
  });
}

/** How long a turn of the host loop waits for a task before it is put aside, in milliseconds. */
const PATIENCE_MS = 2000;

function define(connection: McpConnection, tool: Tool, name: string, config: McpServerConfig): ToolDefinition {
  const checkAnswer = outputCheck(tool.outputSchema);
  const isReadOnly = config.readOnly?.includes(tool.name) === true;
  const common = {
    name: `tool.${connection.group}.${name}`,
    description: plainWords(tool.description ?? tool.title ?? ''),
    returns: returnsOf(tool.outputSchema),
    effects: isReadOnly ? 'read' : 'write',
    cost: config.costs?.[tool.name],
    capabilities: [`mcp:call:${connection.group}`],
    run(args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) {
      const given = plainArguments(args['arguments']);
      return settled(runtime, (patienceMs) => connection.call(tool, given, runtime, patienceMs));
    },
    complete(_answer: unknown, _args: unknown, runtime: ToolRuntime) {
      const taskId = taskIdIn(runtime.waitedFor ?? '');
      if (taskId === null) throw new ToolError(NS_CODES.External, 'the call did not wait for a task of the server');
      return settled(runtime, (patienceMs) => connection.resume(taskId, runtime, patienceMs));
    },
  } as const;
  /** The answer of a call. A task that takes long suspends the turn if possible; otherwise the call waits for it. */
  async function settled(runtime: ToolRuntime, begin: (patienceMs: number) => Promise<McpAnswer | McpTask>): Promise<unknown> {
    let outcome: McpAnswer | McpTask;
    try {
      outcome = await begin(runtime.mayWait ? PATIENCE_MS : Number.POSITIVE_INFINITY);
      if (!isTask(outcome)) {
        runtime.carryMeta(serverLabels(outcome.meta, outcome.content, hintedLabels(tool.annotations)));
        return await scriptValue(outcome, checkAnswer);
      }
    } catch (error) {
      throw toolError(error, isReadOnly);
    }
    const { keptMs } = outcome;
    const reason = waitingReason(connection.name, tool.name, outcome);
    return runtime.pending({ reason, ...(keptMs === null ? {} : { expiresIn: Math.ceil(keptMs) }) });
  }

  const schema: JsonSchema = { ...boundedSchema(tool.inputSchema), type: 'object' };
  const needed = Array.isArray(schema.required) && schema.required.length > 0;
  const check = argumentsCheck(schema, needed);
  if (check !== null) return defineTool({ setsVariables: false, ...common, args: { arguments: check } });
  return defineTool({ setsVariables: false, ...common, args: [{ name: 'arguments', type: 'map', required: needed }] });
}

/** The check of the arguments, which may be absent if none is needed. Null for an invalid schema; then only the server checks. */
function argumentsCheck(schema: JsonSchema, needed: boolean): StandardSchema | null {
  try {
    const check = boundedCheck(schema, 'the arguments');
    const validate = (given: unknown) => {
      if ((given === null || given === undefined) && !needed) return { value: null };
      const result = check.validate(given);
      if (result instanceof Promise || result.issues === undefined || !isRecord(given)) return result;
      // A key that is nil and a missing key mean the same.
      const rest = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
      const without = check.validate(rest);
      return without instanceof Promise || without.issues === undefined ? without : result;
    };
    const described = () => schema;
    const standard = { ...check, validate, jsonSchema: { input: described, output: described } };
    return { '~standard': standard };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return null;
  }
}

/** A note about the result of a tool, in words. It is no check, because the check of an answer has another error. */
function returnsOf(outputSchema: unknown): string {
  const words = schemaWords(boundedSchema(outputSchema));
  return words.startsWith('{') ? words : 'string | list';
}
