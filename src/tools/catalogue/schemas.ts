import type { ToolDefinition } from '../define/definition.ts';
import type { JsonSchema } from '../define/jsonschema.ts';
import { type CatalogueTool, toolCatalogue } from './entry.ts';

/** A tool as the Model Context Protocol describes it: a name, and JSON Schemas of its arguments and its result. */
export interface ToolSchema {
  /** The name as its definition has it, such as `tool.fs.Read`. */
  readonly name: string;
  /** What the tool does. */
  readonly description: string;
  /** The schema of an object with the arguments by name, in the order of the call. */
  readonly inputSchema: JsonSchema;
  /** Of the result; absent when the tool does not say. */
  readonly outputSchema?: JsonSchema | undefined;
  /** `readOnlyHint` is true for a tool without effects or with effects `read`. */
  readonly annotations: { readonly readOnlyHint: boolean };
}

/** The catalogue of tools as JSON Schemas, in their order. */
export function toolSchemas(tools: readonly ToolDefinition[]): readonly ToolSchema[] {
  return toolCatalogue(tools).map((entry, index) => {
    const { name, description, effects, resultSchema } = entry;
    return {
      name,
      description,
      inputSchema: inputSchema(entry, tools[index]),
      outputSchema: resultSchema,
      annotations: { readOnlyHint: effects !== 'write' },
    };
  });
}

function inputSchema({ args }: CatalogueTool, tool: ToolDefinition | undefined): JsonSchema {
  const kind = tool?.parameters[0]?.kind;
  // A schema of all arguments has more constraints than its properties.
  if (kind !== undefined && 'partOf' in kind) return kind.whole;
  const withDefault = args.map(({ name, schema, default: fallback }) => [
    name,
    fallback === undefined ? schema : { ...schema, default: fallback },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(withDefault),
    required: args.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}
