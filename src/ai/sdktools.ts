import { asSchema, generateId } from 'ai';
import {
  defineTool,
  type Effects,
  fromJsonSchema,
  isJsonSchema,
  type SchemaResult,
  type StandardSchema,
  type ToolDefinition,
  ToolError,
  type ToolRuntime,
} from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { checker, checkObject, checkText, oneOf } from '../wire/options.ts';
import { messageOf } from '../wire/unknown.ts';

/** A tool of the AI SDK, as `tool()` makes it; described by the part of its form that programs need. */
export interface SdkTool {
  /** Shown to models; taken when it is text. */
  readonly description?: unknown;
  /** Checks the arguments and names them. */
  readonly inputSchema: unknown;
  /** Does the work. A tool without it cannot be used by programs. */
  readonly execute?: unknown;
  /** Anything but absence and `false`: every call needs an approval. */
  readonly needsApproval?: unknown;
  /** Makes what a model sees of the result, which is what a program gets. */
  readonly toModelOutput?: unknown;
}

/** What a program can know of all tools of a set. */
export interface SdkToolOptions {
  /** They are `tool.<group>.<name>`; `ai` when absent. */
  readonly group?: string;
  /** `write` when absent, which is the careful assumption. */
  readonly effects?: Effects;
}

const checkOptions = checker<SdkToolOptions>({ group: checkText, effects: oneOf('none', 'read', 'write') });

/**
 * The tools of a tool set of the AI SDK, for `tools` of a runtime, a run or a fork. Arguments are checked by `inputSchema` (zod, any
 * Standard Schema, `jsonSchema`), and `execute` gets what the schema makes of them. A program sees what a model would: the result of
 * `toModelOutput`, and of a stream of results the last. Every call of a tool with `needsApproval` needs an approval, also where
 * `needsApproval` is a function, since a function cannot be shown to the human before. Rejects with {@link ConfigError}
 * (`ERR_CONFIG`) for a tool without `execute`, for an input that programs cannot name, and for two tools of one name: `_` stands for other signs.
 */
export async function sdkTools(
  set: Readonly<Record<string, SdkTool>>,
  options: SdkToolOptions = {},
): Promise<readonly ToolDefinition[]> {
  checkObject('a tool set', set);
  checkOptions('the options of a tool set', options);
  const names = Object.keys(set);
  const tools = await Promise.all(Object.entries(set).map(([name, tool]) => converted(name, tool, options)));
  for (const [index, { name, canonicalName }] of tools.entries()) {
    const first = tools.findIndex((each) => each.canonicalName === canonicalName);
    if (first < index)
      throw new ConfigError(`the tools '${names[first]}' and '${names[index]}' have the same name in a program, ${name}`);
  }
  return tools;
}

async function converted(
  name: string,
  tool: SdkTool,
  { group = 'ai', effects = 'write' }: SdkToolOptions,
): Promise<ToolDefinition> {
  checkObject(`the tool '${name}'`, tool);
  const { execute, toModelOutput, needsApproval = false } = tool;
  if (typeof execute !== 'function')
    throw new ConfigError(`the tool '${name}' has no execute: a program cannot wait for a client or a provider`);
  return defineTool({
    setsVariables: false,
    name: `tool.${group}.${name.replace(/[^A-Za-z0-9_]/g, '_')}`,
    description: typeof tool.description === 'string' ? tool.description : '',
    args: await argumentsOf(name, tool.inputSchema),
    effects,
    requiresApproval: needsApproval !== false,
    async run(args: Arguments, { signal }: ToolRuntime) {
      const toolCallId = generateId();
      const call = { toolCallId, messages: [], abortSignal: signal, context: {} };
      const output = await lastOf(await Reflect.apply(execute, tool, [args, call]), signal);
      if (typeof toModelOutput !== 'function') return output ?? null;
      return shown(await Reflect.apply(toModelOutput, tool, [{ toolCallId, input: args, output }]));
    },
  });
}

/** The input of a tool: an object, by names. */
type Arguments = Readonly<Record<string, unknown>>;

/** The input schema as one that also says which arguments there are. */
async function argumentsOf(name: string, input: unknown): Promise<StandardSchema<Arguments>> {
  const what = `the input schema of the tool '${name}'`;
  const schema = await usable(what, () => asSchema<unknown>(Object(input)));
  const json = await usable(what, async () => JSON.parse(JSON.stringify(await schema.jsonSchema)));
  if (!isJsonSchema(json)) throw new ConfigError(`${what} does not describe its arguments`);
  // `jsonSchema()` makes a schema without a validator.
  const plain = schema.validate === undefined ? fromJsonSchema(json, what)['~standard'] : null;
  const standard = {
    version: 1,
    vendor: 'ai',
    jsonSchema: { input: () => json, output: () => json },
    async validate(value: unknown): Promise<SchemaResult<Arguments>> {
      const checked = await plain?.validate(value);
      // A default that is a list or map must not be shared by calls.
      if (checked !== undefined)
        return checked.issues === undefined ? { value: Object(structuredClone(checked.value)) } : checked;
      const result = (await schema.validate?.(value)) ?? { success: true, value };
      return result.success ? { value: Object(result.value) } : { issues: [{ message: result.error.message }] };
    },
  } as const;
  return { '~standard': standard };
}

/** What is read of a schema. The one that zod makes is a Standard Schema as well, so its JSON is a plain copy. */
async function usable<Read>(what: string, read: () => Read | Promise<Read>): Promise<Read> {
  try {
    return await read();
  } catch (cause) {
    throw new ConfigError(`${what} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

/** The value itself, or the last one of a stream. */
async function lastOf(output: unknown, signal: AbortSignal): Promise<unknown> {
  if (!isAsyncIterable(output)) return output;
  let last: unknown = null;
  for await (const each of output) {
    last = each;
    if (signal.aborted) break;
  }
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** What `toModelOutput` shows, as a value; a failure is an error that a program can catch. */
function shown(output: unknown): unknown {
  const { type, value, reason } = Object(output);
  if (type === 'error-text') throw new ToolError(NS_CODES.ToolExecutionFailed, String(value));
  if (type === 'error-json') throw new ToolError(NS_CODES.ToolExecutionFailed, JSON.stringify(value));
  if (type === 'execution-denied') throw new ToolError(NS_CODES.Policy, String(reason ?? 'the tool refuses this call'));
  if (type !== 'content' || !Array.isArray(value)) return value ?? null;
  const parts: unknown[] = value.map((part) => (part.type === 'text' ? part.text : part));
  return parts.length === 1 ? parts[0] : parts;
}
