import { ConfigError } from '../../wire/errors.ts';
import type { TimeDate } from '../../wire/values.ts';
import { type ArgType, type ArgTypes, argTypeNames, isArgType } from './argtypes.ts';
import { describeSchema, type FromJsonSchema, fromJsonSchema, isJsonSchema, type JsonSchema } from './jsonschema.ts';
import { schemaWords } from './schemawords.ts';
import { isStandardSchema, type StandardSchema } from './standardschema.ts';

/** The declared result of a tool: an ArgType, a schema, or words. */
export type ReturnSpec = string | StandardSchema | (JsonSchema & { readonly '~standard'?: never });

type Nothing = ReturnType<() => void>;

/** The types that `run` may return for ArgTypes whose JavaScript type is not that of an argument. */
interface ResultTypes {
  any: unknown;
  map: object;
  list: readonly unknown[];
  slice: readonly unknown[];
  slice_any: readonly unknown[];
  slice_map: readonly object[];
  map_string_any: object;
  map_any_any: object;
  nil: Nothing;
  void: Nothing;
  embedding: Float32Array | readonly number[];
  timedate: TimeDate | Date;
}

/** The type that `run` may return: that of the ArgType or nil, the input of the schema, or anything for words. */
export type ResultOf<R extends ReturnSpec> = R extends string
  ? R extends keyof ResultTypes
    ? ResultTypes[R] | null | undefined
    : R extends ArgType
      ? ArgTypes[R] | null | undefined
      : unknown
  : R extends StandardSchema<unknown, infer Input>
    ? Input
    : FromJsonSchema<R>;

/** The check of a tool's results: by an ArgType, or by a schema. */
export type ResultKind =
  /** The result is converted to an ArgType. */
  | { readonly type: ArgType }
  /** The result is checked by a schema; `json` is its JSON Schema. */
  | { readonly schema: StandardSchema; readonly json: JsonSchema };

/** Types of JSON Schema and of other languages that are no ArgTypes. They are refused as words, because they look like a check. */
const FOREIGN_TYPES = ['integer', 'array', 'object', 'null', 'str', 'dict', 'double', 'bytes'];

function isForeignType(word: string): boolean {
  const name = word.toLowerCase().replace(/\[\]$/, '');
  return !isArgType(word) && (FOREIGN_TYPES.includes(name) || isArgType(name));
}

/** The fields of a definition for its result. Throws {@link ConfigError} (`ERR_CONFIG`). */
export function returnsOf(tool: string, returns: unknown): { readonly returns: string; readonly result: ResultKind | null } {
  if (typeof returns === 'string') {
    if (isForeignType(returns))
      throw new ConfigError(
        `${tool}: returns is '${returns}', which is not an ArgType, so nothing would be checked; known are ${argTypeNames().join(', ')}`,
      );
    const checked = isArgType(returns) && returns !== 'any';
    return { returns, result: checked ? Object.freeze({ type: returns }) : null };
  }
  if (isStandardSchema(returns)) return described(returns, describeSchema(returns, 'output'));
  if (isJsonSchema(returns)) return described(fromJsonSchema(returns, `${tool}: returns`), returns);
  throw new ConfigError(`${tool}: returns must be an ArgType, words, a Standard Schema or a JSON Schema`);
}

function described(schema: StandardSchema, json: JsonSchema): { readonly returns: string; readonly result: ResultKind } {
  const words = typeof json.description === 'string' ? json.description : schemaWords(json);
  return { returns: words, result: Object.freeze({ schema, json }) };
}
