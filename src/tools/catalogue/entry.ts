import { encode } from '../../wire/codec.ts';
import { checkObject, listOf } from '../../wire/options.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { costFrom, type ToolCost } from '../define/cost.ts';
import type { Effects, ToolDefinition } from '../define/definition.ts';
import type { JsonSchema } from '../define/jsonschema.ts';
import type { Parameter } from '../define/parameters.ts';
import { schemaNotes, schemaWords } from '../define/schemawords.ts';
import { capabilityText } from '../policy/capability.ts';
import { oneLine } from './lines.ts';
import { argTypeSchema } from './types.ts';

/** One argument of a {@link CatalogueTool}. */
export interface CatalogueArgument {
  /** Name of the argument. */
  readonly name: string;
  /** An ArgType, or a schema as a type: `list of string`, `{path: string, depth?: int}`. */
  readonly type: string;
  /** False when a call may leave it out. */
  readonly required: boolean;
  /** The default as tagged JSON. */
  readonly default?: TaggedJson;
  /** What the argument means; empty when the tool does not say. */
  readonly description: string;
  /** The schema of its values. */
  readonly schema: JsonSchema;
}

/** Most descriptions of parts of one argument. */
const MAX_NOTES = 40;

/** The catalogue entry of a tool: public JSON (`docs/schemas/catalogue.schema.json`). */
export interface CatalogueTool {
  /** The name as its definition has it, such as `tool.fs.Read`. */
  readonly name: string;
  /** The part between `tool.` and the last dot. */
  readonly group: string;
  /** What the tool does; empty when it does not say. */
  readonly description: string;
  /** Its signature: `tool.shop.Price(item: string, count: int = 1) -> float`. */
  readonly call: string;
  /** In the order of a call. */
  readonly args: readonly CatalogueArgument[];
  /** The result, in words. */
  readonly returns: string;
  /** The JSON Schema of results; absent where `returns` is only words. */
  readonly resultSchema?: JsonSchema;
  /** Whether the tool reads or changes something outside of the program. */
  readonly effects: Effects;
  /** What a policy must grant, as `resource:verb,verb[:scope,scope]`. */
  readonly capabilities: readonly string[];
  /** True when only a run with the context `config` may call it. */
  readonly requiresTrust: boolean;
  /** Present when a human has to approve every single call. */
  readonly requiresApproval?: true;
  /** What a call costs, as it is declared; absent for nothing. */
  readonly cost?: ToolCost;
  /** Most milliseconds of a call; absent when only the limits of the run count. */
  readonly timeoutMs?: number;
  /** Most bytes of the arguments; absent when only the limits of the run count. */
  readonly maxArgBytes?: number;
  /** Most bytes of the result; absent when only the limits of the run count. */
  readonly maxResultBytes?: number;
  /** A call, in the language. */
  readonly example?: string;
}

const checkTools = listOf(checkObject);

/** The catalogue of tools as data, in their order. */
export function toolCatalogue(tools: readonly ToolDefinition[]): readonly CatalogueTool[] {
  checkTools('the tools', tools);
  return tools.map(entryOf);
}

function entryOf(tool: ToolDefinition): CatalogueTool {
  const { name, description, returns, effects, capabilities, requiresTrust, timeoutMs, maxArgBytes, maxResultBytes } = tool;
  const args = tool.parameters.map(argumentOf);
  const schema = resultSchema(tool);
  return {
    name,
    group: name.split('.').slice(1, -1).join('.'),
    description,
    call: `${name}${argumentsOf(args)}${returns === 'any' || returns === '' ? '' : ` -> ${returns}`}`,
    args,
    returns,
    ...(schema === null ? {} : { resultSchema: schema }),
    effects,
    capabilities: capabilities.map(capabilityText),
    requiresTrust,
    ...(tool.requiresApproval ? { requiresApproval: true } : {}),
    ...(tool.price === null ? {} : { cost: costFrom(tool.price) }),
    ...(timeoutMs === null ? {} : { timeoutMs }),
    ...(maxArgBytes === null ? {} : { maxArgBytes }),
    ...(maxResultBytes === null ? {} : { maxResultBytes }),
    ...(tool.example === '' ? {} : { example: tool.example }),
  };
}

function argumentOf(parameter: Parameter): CatalogueArgument {
  const { name, description, required, kind } = parameter;
  const own = 'type' in kind ? argTypeSchema(kind.type) : parameter.schema;
  const fallback = 'type' in kind ? parameter.default : encode(parameter.schema.default);
  return {
    name,
    type: 'type' in kind ? kind.type : schemaWords(parameter.schema),
    required,
    ...(fallback === null ? {} : { default: fallback }),
    description,
    schema: description === '' ? own : { ...own, description },
  };
}

/** The descriptions of the arguments and of the parts of their schemas: `item: Which one.`, `options.depth: How deep.` */
export function argumentNotes(args: readonly CatalogueArgument[]): readonly string[] {
  return args.flatMap(({ name, description, schema }) => [
    ...(description === '' ? [] : [`${name}: ${description}`]),
    ...schemaNotes(schema, MAX_NOTES).map((note) => `${name}${note.path}: ${note.description}`),
  ]);
}

/** The form of a call, such as `(options: {depth: int})`. */
export function callForm({ parameters }: ToolDefinition): string {
  return oneLine(argumentsOf(parameters.map(argumentOf)));
}

function argumentsOf(args: readonly CatalogueArgument[]): string {
  const shown = args.map(({ name: arg, type, required, default: fallback }) => {
    const typed = type === 'any' ? '' : `: ${type}`;
    if (fallback !== undefined) return `${arg}${typed} = ${JSON.stringify(fallback)}`;
    return `${arg}${required ? '' : '?'}${typed}`;
  });
  return `(${shown.join(', ')})`;
}

function resultSchema({ result }: ToolDefinition): JsonSchema | null {
  if (result === null) return null;
  // An ArgType allows nil as well.
  return 'type' in result ? { anyOf: [argTypeSchema(result.type), { type: 'null' }] } : result.json;
}
