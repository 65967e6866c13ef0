import { decode, encode } from '../../wire/codec.ts';
import { ConfigError } from '../../wire/errors.ts';
import { orConfigError } from '../../wire/foreign.ts';
import { anything, checker, checkFlag, checkText, required } from '../../wire/options.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { OrderedValue, Value } from '../../wire/values.ts';
import { type ArgType, type ArgTypes, argTypeNames, coerce, isArgType, type Ordered } from './argtypes.ts';
import {
  argsFromJsonSchema,
  describeSchema,
  type FromJsonSchema,
  isJsonSchema,
  isPlainObject,
  type JsonSchema,
} from './jsonschema.ts';
import { isStandardSchema, type StandardSchema } from './standardschema.ts';

/** One argument by ArgType. */
export interface ArgSpec {
  /** Name of the argument, a name of the language. */
  readonly name: string;
  /** `any` when absent. */
  readonly type?: ArgType;
  /** What the argument means, shown to models. */
  readonly description?: string;
  /** True when absent, unless there is a default. Only an optional argument may be nil or left out. */
  readonly required?: boolean | undefined;
  /** Used when the argument is left out or nil. Null says that it may be nil. */
  readonly default?: Value | OrderedValue | undefined;
}

/**
 * The arguments of a tool, in the order of the call. Three forms: a list with ArgTypes; one schema for each argument,
 * `{ path: z.string() }` or `{ path: { type: 'string' } }`; or one schema for all, `z.object({…})` or
 * `{ type: 'object', properties: {…} }`.
 */
export type ArgSpecs =
  | readonly ArgSpec[]
  | StandardSchema<object>
  | ObjectSchema
  | Readonly<Record<string, StandardSchema | (JsonSchema & { readonly '~standard'?: never })>>;

/** A JSON Schema of an object: its properties are the arguments, in their order. */
export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  /** The arguments by name. */
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

type ArgOf<S extends ArgSpec> =
  | (S extends { readonly type: infer T extends ArgType } ? ArgTypes[T] : Value)
  | (S extends { readonly default: infer D } ? Extract<D, null> : S extends { readonly required: false } ? null : never);

/** The type of the object that `run` receives. */
export type ArgsOf<S extends ArgSpecs> = S extends readonly ArgSpec[]
  ? { readonly [A in S[number] as A['name']]: ArgOf<A> }
  : S extends StandardSchema<infer Output>
    ? Output
    : S extends ObjectSchema
      ? FromJsonSchema<S>
      : { readonly [K in keyof S]: S[K] extends StandardSchema<infer Output> ? Output : FromJsonSchema<S[K]> };

/** The type of the object that `run` receives in a tool with `orderedMaps`. A schema gets ES maps and decides what they become. */
export type OrderedArgsOf<S extends ArgSpecs> = S extends readonly ArgSpec[]
  ? { readonly [A in S[number] as A['name']]: Ordered<ArgOf<A>> }
  : ArgsOf<S>;

/** The check of one argument: by ArgType, by its own schema, or together with the others by one schema. */
export type ParameterKind =
  /** The value is converted to an ArgType. */
  | { readonly type: ArgType }
  /** The value is checked by a schema of its own. */
  | { readonly schema: StandardSchema }
  /** One schema checks all arguments; `whole` is its JSON Schema. */
  | { readonly partOf: StandardSchema; readonly whole: JsonSchema };

/** One checked argument of a tool. */
export interface Parameter {
  /** Name of the argument. */
  readonly name: string;
  /** What the argument means; empty when the tool does not say. */
  readonly description: string;
  /** Whether a call must have it. */
  readonly required: boolean;
  /** Takes the place of nil for an argument with an ArgType, as tagged JSON. Schemas have defaults of their own. */
  readonly default: TaggedJson;
  /** The check and the conversion of a value. */
  readonly kind: ParameterKind;
  /** The JSON Schema of its schema; empty where the schema cannot describe itself, and for an ArgType. */
  readonly schema: JsonSchema;
}

const checkArgSpec = checker<ArgSpec>({
  name: required(checkText),
  type: anything,
  description: checkText,
  required: checkFlag,
  default: anything,
});

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The parameters of a declaration. Throws {@link ConfigError} (`ERR_CONFIG`) that names the tool and the argument. */
export function parametersOf(tool: string, specs: ArgSpecs): readonly Parameter[] {
  const parameters = read(tool, specs);
  const seen = new Set<string>();
  for (const { name } of parameters) {
    if (!IDENTIFIER.test(name)) throw new ConfigError(`${tool}: '${name}' is not an argument name; use letters, digits and _`);
    if (seen.has(name)) throw new ConfigError(`${tool}: the argument '${name}' is declared twice`);
    seen.add(name);
  }
  const firstOptional = parameters.findIndex((parameter) => !parameter.required);
  const stray = parameters
    .slice(firstOptional < 0 ? parameters.length : firstOptional)
    .find((parameter) => 'type' in parameter.kind && parameter.required);
  if (stray !== undefined)
    throw new ConfigError(
      `${tool}: the required argument '${stray.name}' stands after an optional one, so no call could leave that out`,
    );
  return parameters;
}

function read(tool: string, specs: ArgSpecs): readonly Parameter[] {
  if (isSpecList(specs)) return specs.map((spec, index) => typed(tool, spec, index));
  if (isStandardSchema(specs)) return together(tool, specs, describeSchema(specs, 'input'));
  if (!isPlainObject(specs))
    throw new ConfigError(`${tool}: args must be a list of arguments, a map of schemas, or one schema of an object`);
  if (typeof specs['type'] === 'string' || Array.isArray(specs['type'])) {
    if (!isJsonSchema(specs)) throw new ConfigError(`${tool}: args is neither a map of schemas nor a JSON Schema`);
    return together(tool, argsFromJsonSchema(specs, `${tool}: args`), specs);
  }
  return Object.entries(specs).map(([name, schema]) => single(tool, name, schema));
}

function isSpecList(specs: ArgSpecs): specs is readonly ArgSpec[] {
  return Array.isArray(specs);
}

/** An argument with a schema of its own. */
function single(tool: string, name: string, given: unknown): Parameter {
  const schema = isStandardSchema(given) ? given : null;
  if (schema === null && (!isJsonSchema(given) || Object.values(given).every((value) => value === undefined)))
    throw new ConfigError(`${tool}: '${name}' must be a Standard Schema (zod, valibot, arktype) or a JSON Schema`);
  const validator = schema ?? argsFromJsonSchema(given as JsonSchema, `${tool}: '${name}'`);
  const json = schema === null ? (given as JsonSchema) : describeSchema(schema, 'input');
  return fromSchema(name, json, refusesNothing(validator), { schema: validator });
}

/** Arguments that one schema checks together. */
function together(tool: string, schema: StandardSchema, json: JsonSchema): readonly Parameter[] {
  const { properties, required = [] } = json;
  if (json.type !== 'object' || typeof properties !== 'object' || properties === null)
    throw new ConfigError(
      `${tool}: the schema of args does not say which arguments there are: it must describe an object with properties. ` +
        'Give one schema for each argument, { name: schema }, if its library cannot describe it',
    );
  return Object.entries(properties).map(([name, each]) =>
    fromSchema(name, isJsonSchema(each) ? each : {}, required.includes(name), { partOf: schema, whole: json }),
  );
}

function fromSchema(name: string, schema: JsonSchema, required: boolean, kind: ParameterKind): Parameter {
  const description = typeof schema.description === 'string' ? schema.description : '';
  return Object.freeze({ name, description, required, default: null, kind: Object.freeze(kind), schema: Object.freeze(schema) });
}

/**
 * Whether a schema refuses `undefined`, so that a call must have the argument. An asynchronous schema, or one that throws, decides at
 * each call.
 */
function refusesNothing(schema: StandardSchema): boolean {
  try {
    const result = schema['~standard'].validate(undefined);
    if (!(result instanceof Promise)) return result.issues !== undefined;
    // An asynchronous verdict comes too late for the declaration.
    result.catch(() => null);
    return false;
  } catch {
    return false;
  }
}

function typed(tool: string, spec: ArgSpec, index: number): Parameter {
  checkArgSpec(`${tool}: args[${index}]`, spec);
  const type = spec.type ?? 'any';
  if (!isArgType(type))
    throw new ConfigError(
      `${tool}: '${spec.name}' has the unknown type '${String(type)}'; known are ${argTypeNames().join(', ')}`,
    );
  const fallback = orConfigError(`${tool}: the default of '${spec.name}' is not a value of a script`, () => encode(spec.default));
  if (fallback !== null) {
    const fitted = coerce(type, decode(fallback));
    if (!fitted.ok) throw new ConfigError(`${tool}: the default of '${spec.name}' does not fit: ${fitted.problem}`);
  }
  return Object.freeze({
    name: spec.name,
    description: spec.description ?? '',
    required: spec.required ?? spec.default === undefined,
    default: fallback,
    kind: Object.freeze({ type }),
    schema: Object.freeze({}),
  });
}
