import { type DecoderTool, decoderGrammar, type LiteralKind, type LiteralType } from '../../../grammar/decoder/index.ts';
import { MAGIC_TOOL } from '../../../grammar/vocabulary/names.ts';
import { methods } from '../../wire/options.ts';
import type { ArgType } from '../define/argtypes.ts';
import type { ToolDefinition, ToolView } from '../define/definition.ts';
import type { JsonSchema } from '../define/jsonschema.ts';
import type { Parameter } from '../define/parameters.ts';
import { PolicyGuard } from '../policy/guard.ts';
import type { PolicyOptions } from '../policy/options.ts';
import { Policy } from '../policy/policy.ts';

/** Options of {@link toolGrammar}. */
export interface ToolGrammarOptions {
  /** The grammar leaves out tools that this policy denies. Without a policy it has every tool of the view. */
  readonly policy?: Policy | PolicyOptions;
  /** `program`, when absent: a file of the language. `turn`: the whole reply of an agent, an envelope whose program emits a token last. */
  readonly of?: 'program' | 'turn';
  /** Only the plainest statements in one layout: a quarter of the text, for models that fail with the whole language. */
  readonly small?: boolean;
  /** `gbnf` (llama.cpp) when absent, or `ebnf` (XGrammar). The rules are the same; the note in front names the reader. */
  readonly format?: 'gbnf' | 'ebnf';
}

const checkView = methods('names', 'lookup');

/** The readers of each notation. */
const READERS = { gbnf: 'GBNF for llama.cpp', ebnf: 'EBNF for XGrammar, as in vLLM and SGLang' } as const;

/**
 * A grammar for a decoder: with it a model can write only programs of the language, and in them only calls of these tools, each with a
 * number of arguments that the tool takes and with literals of their types. It is for llama.cpp and for XGrammar.
 */
export function toolGrammar(
  view: readonly ToolDefinition[] | Pick<ToolView, 'names' | 'lookup'>,
  { policy, of = 'program', small = false, format = 'gbnf' }: ToolGrammarOptions = {},
): string {
  if (!Array.isArray(view)) checkView('the tools', view);
  const tools = 'lookup' in view ? view.names().flatMap((name) => view.lookup(name) ?? []) : view;
  const guard = policy === undefined ? null : new PolicyGuard(policy instanceof Policy ? policy : new Policy(policy));
  // The grammar of a turn has its own rule for the tool that makes tokens; elsewhere there is no such tool.
  const callable = tools.filter((tool) => tool.canonicalName !== MAGIC_TOOL && (guard?.denial(tool, false) ?? null) === null);
  const what = of === 'turn' ? 'reply' : 'program';
  const count = `${callable.length} tool${callable.length === 1 ? '' : 's'}`;
  return decoderGrammar({ tools: decoderTools(callable), whole: of === 'turn' ? 'turn' : 'file', small }, [
    `NeuroScript: a ${what} that can call ${count}. ${READERS[format]}.`,
  ]);
}

/** Most parameters that the grammar checks, because it nests one level for each. A tool with more takes any arguments. */
const MOST_PARAMETERS = 250;

/** The data of tools that a grammar needs. */
export function decoderTools(tools: readonly ToolDefinition[]): readonly DecoderTool[] {
  return tools.map(({ name, parameters }) => ({
    name,
    args: parameters.length > MOST_PARAMETERS ? null : parameters.map(literalsOf),
    least: parameters.findLastIndex(({ required }) => required) + 1,
  }));
}

/** The literals that fit a parameter. */
function literalsOf({ kind, required, schema }: Parameter): LiteralType {
  const fitting = 'type' in kind ? BY_TYPE[kind.type] : bySchema(schema, MAX_DEPTH);
  if (fitting !== 'any') return required ? fitting : [...fitting, 'nil'];
  // Only an ArgType refuses nil for every required argument; a schema decides by itself.
  return required && 'type' in kind ? ANY_VALUE : 'any';
}

const ANY_VALUE: readonly LiteralKind[] = ['string', 'number', 'boolean', { list: 'any' }, 'map'];
const NUMBERS: readonly LiteralKind[] = ['number', 'numeral'];
const LIST: readonly LiteralKind[] = [{ list: 'any' }];

const BY_TYPE: { readonly [T in ArgType]: LiteralType } = {
  any: 'any',
  string: ['string'],
  int: ['integer', 'numeral'],
  float: NUMBERS,
  number: NUMBERS,
  bool: ['boolean', 'number', 'truth'],
  boolean: ['boolean', 'number', 'truth'],
  map: ['map'],
  list: LIST,
  slice: LIST,
  slice_any: LIST,
  slice_string: [{ list: ['string', 'nil'] }],
  slice_int: [{ list: ['boolean', ...NUMBERS] }],
  slice_float: [{ list: NUMBERS }],
  slice_bool: [{ list: ['boolean', 'number', 'truth', 'nil'] }],
  slice_map: [{ list: ['map'] }],
  map_string_string: ['map'],
  map_string_int: ['map'],
  map_string_any: ['map'],
  map_any_any: ['map'],
  blob: ['string'],
  nil: ANY_VALUE,
  void: ANY_VALUE,
  handle: ['string'],
  nodeid: ['string', 'map'],
  entityid: ['string', 'map'],
  embedding: [{ list: NUMBERS }],
  timedate: ['string'],
};

/** Deeper lists may have any items. */
const MAX_DEPTH = 4;

function bySchema(schema: JsonSchema | boolean | undefined, depth: number): LiteralType {
  if (typeof schema !== 'object' || depth === 0) return 'any';
  if (schema.const !== undefined) return [ofValue(schema.const)];
  if (Array.isArray(schema.enum)) return together(schema.enum.map((value) => [ofValue(value)]));
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return together(choices.map((each) => bySchema(each, depth - 1)));
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.length === 0 ? 'any' : together(types.map((type) => ofType(String(type), schema, depth)));
}

function together(types: readonly LiteralType[]): LiteralType {
  const kinds = types.flatMap((type) => (type === 'any' ? [] : type));
  return kinds.length === 0 || types.includes('any') ? 'any' : kinds;
}

function ofType(type: string, { items }: JsonSchema, depth: number): LiteralType {
  switch (type) {
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      return [type];
    case 'null':
      return ['nil'];
    case 'array':
      return [{ list: bySchema(items, depth - 1) }];
    case 'object':
      return ['map'];
    default:
      return 'any';
  }
}

function ofValue(value: unknown): LiteralKind {
  if (typeof value === 'string') return { texts: [value] };
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value === 'number' ? 'number' : 'boolean';
  if (value === null) return 'nil';
  return Array.isArray(value) ? { list: 'any' } : 'map';
}
