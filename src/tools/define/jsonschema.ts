import { z } from 'zod';
import { ConfigError } from '../../wire/errors.ts';
import type { SchemaResult, StandardSchema } from './standardschema.ts';

/** A JSON Schema (draft 2020-12) as an object; the keywords that types are read from are named. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema | boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** The types that JSON Schema knows. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

interface TypeOfName {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
  object: Readonly<Record<string, unknown>>;
}

type Members<P, Required> = {
  readonly [K in keyof P as K extends Required ? K : HasDefault<P[K]> extends true ? K : never]: FromJsonSchema<P[K]>;
} & {
  readonly [K in keyof P as K extends Required ? never : HasDefault<P[K]> extends true ? never : K]?: FromJsonSchema<P[K]>;
};

type HasDefault<S> = S extends { readonly default: unknown } ? true : false;
type Flat<T> = { readonly [K in keyof T]: T[K] };

type FromType<S, T> = T extends 'array'
  ? readonly (S extends { readonly items: infer Item } ? FromJsonSchema<Item> : unknown)[]
  : T extends 'object'
    ? S extends { readonly properties: infer P }
      ? Flat<Members<P, S extends { readonly required: readonly (infer R)[] } ? R : never>>
      : TypeOfName['object']
    : T extends keyof TypeOfName
      ? TypeOfName[T]
      : unknown;

/** The type of the values that a JSON Schema, given as a literal, accepts; `unknown` where its keywords do not tell. */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] } | { readonly oneOf: readonly (infer A)[] }
      ? FromJsonSchema<A>
      : S extends { readonly type: readonly (infer T)[] }
        ? FromType<S, T>
        : S extends { readonly type: infer T }
          ? FromType<S, T>
          : unknown;

/** Whether a value has the outer form of a JSON Schema; what is in it shows when it is compiled. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('~standard' in value);
}

/**
 * A JSON Schema as something that validates. Throws {@link ConfigError} (`ERR_CONFIG`) for a schema that is wrong and for
 * keywords that cannot be enforced (`if`, `not`, `unevaluatedProperties` …): what is not checked must not look checked.
 */
export function fromJsonSchema(schema: JsonSchema, what: string): StandardSchema {
  try {
    // The schema is compiled from its JSON: keywords of any kind are looked at there, not by the type.
    const plain: Parameters<typeof z.fromJSONSchema>[0] = JSON.parse(JSON.stringify(schema));
    return z.fromJSONSchema(plain, { defaultTarget: 'draft-2020-12' });
  } catch (cause) {
    const problem = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unreadable';
    throw new ConfigError(`${what} has a JSON Schema that cannot be used: ${problem}`, { cause });
  }
}

/**
 * {@link fromJsonSchema} for arguments: a default of the schema that is a list or map is a new one at every call, so that what a
 * tool does to it does not show in the next call, of another session.
 */
export function argsFromJsonSchema(schema: JsonSchema, what: string): StandardSchema {
  const { '~standard': standard } = fromJsonSchema(schema, what);
  if (!JSON.stringify(schema).includes('"default"')) return { '~standard': standard };
  return {
    '~standard': {
      version: 1,
      vendor: standard.vendor,
      validate(value) {
        const result = standard.validate(value);
        return result instanceof Promise ? result.then(unshared) : unshared(result);
      },
    },
  };
}

function unshared(result: SchemaResult<unknown>): SchemaResult<unknown> {
  return result.issues === undefined ? { value: copied(result.value) } : result;
}

/** Lists and maps anew, as far as they are made of such; arguments of a script do not contain themselves. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copied(item)]));
}

/** A schema that can describe itself, as the Standard JSON Schema interface has it (zod and arktype do). */
interface Describing {
  readonly input: (options: { readonly target: string }) => unknown;
  readonly output: (options: { readonly target: string }) => unknown;
}

/**
 * The JSON Schema of what a Standard Schema takes (`input`) or gives (`output`); empty, which means anything, when the
 * library cannot say (valibot on its own, a custom check).
 */
export function describeSchema(schema: StandardSchema, side: 'input' | 'output'): JsonSchema {
  const standard: object = schema['~standard'];
  if (!('jsonSchema' in standard) || !isDescribing(standard.jsonSchema)) return {};
  try {
    // A copy: zod's own answer is a Standard Schema besides, which a JSON Schema here is not.
    const described: unknown = { ...Object(standard.jsonSchema[side]({ target: 'draft-2020-12' })), $schema: undefined };
    return isJsonSchema(described) ? described : {};
  } catch {
    // What JSON cannot describe, such as a class instance, is documented as anything.
    return {};
  }
}

function isDescribing(value: unknown): value is Describing {
  if (typeof value !== 'object' || value === null) return false;
  return 'input' in value && typeof value.input === 'function' && 'output' in value && typeof value.output === 'function';
}
