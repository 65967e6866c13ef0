import { z } from 'zod';
import { ConfigError } from '../../wire/errors.ts';
import { isHeavy } from '../../wire/pieces.ts';
import { checkKeywords, checkReferences } from './keywords.ts';
import type { SchemaResult, StandardSchema } from './standardschema.ts';

/** A JSON Schema (draft 2020-12) as an object. It names the keywords from which types are derived. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  /** The types of accepted values. */
  readonly type?: JsonType | readonly JsonType[];
  /** What the value means, shown to models. */
  readonly description?: string;
  /** The value that replaces an absent one. */
  readonly default?: unknown;
  /** The accepted values. */
  readonly enum?: readonly unknown[];
  /** The one accepted value. */
  readonly const?: unknown;
  /** The schema of every item of a list. */
  readonly items?: JsonSchema | boolean;
  /** The schemas of the values of a map, by key. */
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  /** Keys that a map must have. */
  readonly required?: readonly string[];
  /** Schemas of which at least one accepts the value. */
  readonly anyOf?: readonly JsonSchema[];
  /** Schemas of which exactly one accepts the value. */
  readonly oneOf?: readonly JsonSchema[];
}

/** The types of JSON Schema. */
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

/** The type of the values that a literal JSON Schema accepts; `unknown` where its keywords do not determine it. */
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

/** Whether a value is a plain object that can be a JSON Schema. Compiling it checks the content. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return isPlainObject(value) && !('~standard' in value);
}

/** True for an object literal of any realm; false for an instance of a class, such as a schema of zod 3. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Ends a check at the first issue. The type of zod's settings lacks `abortEarly`. */
const FIRST_ISSUE = { reportInput: false, abortEarly: true } as const;

/**
 * The validator of a JSON Schema. Throws {@link ConfigError} (`ERR_CONFIG`) for a bad schema and for keywords that cannot be enforced
 * (`if`, `not`, `minLenght` …): ignoring them would accept values that the schema forbids.
 */
export function fromJsonSchema(schema: JsonSchema, what: string): StandardSchema {
  try {
    checkKeywords(schema);
    // The check of the keywords and zod's compiler validate the schema.
    const plain: Parameters<typeof z.fromJSONSchema>[0] = JSON.parse(JSON.stringify(schema));
    checkReferences(plain);
    const compiled = z.fromJSONSchema(plain, { defaultTarget: 'draft-2020-12' });
    // A schema that nests too deep overflows the stack at the check of any value.
    compiled.safeParse(null);
    const { '~standard': standard } = compiled;
    const validate = (value: unknown): SchemaResult<unknown> | Promise<SchemaResult<unknown>> => {
      const { success, data, error } = compiled.safeParse(value, FIRST_ISSUE);
      if (success) return { value: data };
      // Collecting all issues of a large value may take gigabytes.
      return isHeavy(value) ? error : standard.validate(value);
    };
    return { '~standard': { version: 1, vendor: standard.vendor, validate } };
  } catch (cause) {
    const said = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unreadable';
    const problem = cause instanceof RangeError ? "it nests too deep, or '$ref' leads to itself" : said;
    throw new ConfigError(`${what} has a JSON Schema that cannot be used: ${problem}`, { cause });
  }
}

/**
 * {@link fromJsonSchema} for arguments. Every call gets a copy of a default that is a list or map: a tool may change it, and another
 * session must not see the change.
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

/** Copies nested lists and maps. Arguments of a script contain no cycles. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copied(item)]));
}

/** A schema that can describe itself by the Standard JSON Schema interface, as those of zod and arktype can. */
interface Describing {
  readonly input: (options: { readonly target: string }) => unknown;
  readonly output: (options: { readonly target: string }) => unknown;
}

/**
 * The JSON Schema of the input or output of a Standard Schema. It is empty, which means anything, when the library cannot describe
 * the schema (valibot on its own, a custom check).
 */
export function describeSchema(schema: StandardSchema, side: 'input' | 'output'): JsonSchema {
  const standard: object = schema['~standard'];
  if (!('jsonSchema' in standard) || !isDescribing(standard.jsonSchema)) return {};
  try {
    // A copy without prototype: zod returns an object that is also a Standard Schema, and here a JSON Schema must not be one.
    const described: unknown = { ...Object(standard.jsonSchema[side]({ target: 'draft-2020-12' })), $schema: undefined };
    return isJsonSchema(described) ? described : {};
  } catch {
    // JSON cannot describe every value, for example a class instance. Such a value is documented as anything.
    return {};
  }
}

function isDescribing(value: unknown): value is Describing {
  if (typeof value !== 'object' || value === null) return false;
  return 'input' in value && typeof value.input === 'function' && 'output' in value && typeof value.output === 'function';
}
