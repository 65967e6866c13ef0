import type { Actor, HostContext, Logger, StoreReaders, Stores, TurnContext } from '../context/index.ts';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { checkOptions, type KeysOf } from '../wire/options.ts';
import type { CallSite } from '../wire/protocol.ts';
import type { Value } from '../wire/values.ts';
import { type ArgType, type ArgTypes, argTypeNames, coerce, isArgType } from './argtypes.ts';
import { type Capability, parseCapability } from './capability.ts';
import type { Handles } from './handles.ts';
import { canonicalName, checkToolName } from './names.ts';
import type { ToolView } from './registry.ts';
import { isStandardSchema, type StandardSchema } from './schema.ts';

/**
 * What a tool throws to raise an error of the language: `on error` sees this code and message. Anything else that a tool
 * throws becomes code 21 with the text of its message.
 */
export class ToolError extends NeuroScriptError {
  /** A number of the table in `docs/errors`, or one of the tool's own from 1000 on; `code` is `NS` and that number. */
  readonly nsCode: number;
  readonly hint: string | undefined;
  constructor(nsCode: number, message: string, hint?: string, options?: ErrorOptions) {
    super(`NS${nsCode}`, message, options);
    this.nsCode = nsCode;
    this.hint = hint;
  }
}

/**
 * What a tool receives besides its arguments: the running operation as its immediate caller sees it (P29). It is of use
 * while the call lasts; afterwards every method rejects with `TurnClosedError` (`ERR_TURN_CLOSED`).
 */
export interface ToolRuntime {
  /** Id of the fork that made the call. */
  readonly forkId: string;
  /** Where in the script the call stands. */
  readonly site: CallSite;
  readonly host: HostContext;
  readonly actor: Actor | null;
  /** Session, turn index, deadline and the application's values. */
  readonly turn: TurnContext;
  /** Aborted when the run is cancelled, reaches a time limit, or ends. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The tools that the calling fork can see. */
  readonly tools: ToolView;
  /** A variable of the calling fork, or undefined when it has none of that name. */
  getVar(name: string): Promise<Value | undefined>;
  /** Sets a variable of the calling fork. Rejects with {@link ToolError} 43 when a script could not set it there either. */
  setVar(name: string, value: unknown): Promise<void>;
  /** Objects of the host that scripts hold as handles: those of the caller's session, or of its run outside of any. */
  readonly handles: Handles;
  /** The accounts, agent models and capsules of the root interpreter, to be read. */
  readonly stores: StoreReaders;
  /** The same to be changed. Throws {@link ToolError} 1003 unless the tool is one that requires trust. */
  adminStores(): Stores;
  /**
   * A directory of the caller's session, or of its run outside of any: absolute, empty at first, removed with all that is in
   * it when the session ends. Made at the first call. Rejects with {@link ToolError} 26 when it cannot be.
   */
  sandboxDir(): Promise<string>;
  /** Calls another tool in the calling fork's name, under the same policy. Rejects with {@link ToolError} as a script would fail. */
  callTool(name: string, args: readonly unknown[]): Promise<Value>;
}

/** One argument by ArgType. */
export interface ArgSpec {
  readonly name: string;
  /** `any` when absent. */
  readonly type?: ArgType;
  readonly description?: string;
  /** True when absent, unless there is a default. Only an argument that is not required may be nil or left out. */
  readonly required?: boolean;
  /** Used when the argument is left out or nil. */
  readonly default?: Value;
}

/** Arguments by ArgType, or by a schema each: `{ path: z.string() }`; their order is the order of the call. */
export type ArgSpecs = readonly ArgSpec[] | Readonly<Record<string, StandardSchema>>;

type ArgOf<S extends ArgSpec> =
  | (S extends { readonly type: infer T extends ArgType } ? ArgTypes[T] : Value)
  | (S extends { readonly required: false } ? (S extends { readonly default: unknown } ? never : null) : never);

/** The object that `run` receives, typed from the argument specs. */
export type ArgsOf<S extends ArgSpecs> = S extends readonly ArgSpec[]
  ? { readonly [A in S[number] as A['name']]: ArgOf<A> }
  : { readonly [K in keyof S]: S[K] extends StandardSchema<infer Output> ? Output : never };

/** `none`: neither reads nor changes anything outside; `read`: reads; `write`: may change something. */
export type Effects = 'none' | 'read' | 'write';

/** What {@link defineTool} makes a tool from. */
export interface ToolInit<S extends ArgSpecs> {
  /** `tool.group.Name`; calls ignore letter case. */
  readonly name: string;
  readonly description?: string;
  readonly args?: S;
  /** What it gives back, in words or as an ArgType; for catalogues. */
  readonly returns?: string;
  /** `write` when absent: the careful assumption. */
  readonly effects?: Effects;
  /** Grants that a policy must give, as `resource:verb,verb[:scope,scope]` (language.md 9.6). */
  readonly capabilities?: readonly string[];
  /** Only a policy of context `config` admits the tool. */
  readonly requiresTrust?: boolean;
  /** Returns what `Value` holds, plain objects, a `Date`, `undefined` for nil, or a promise of these. */
  readonly run: (args: ArgsOf<S>, runtime: ToolRuntime) => unknown;
}

/** One argument, ready to be matched. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly default: Value;
  readonly kind: { readonly type: ArgType } | { readonly schema: StandardSchema };
}

/** A checked, frozen tool, as {@link defineTool} makes it. */
export interface ToolDefinition {
  readonly name: string;
  /** The registry's key: {@link name} in lower case. */
  readonly canonicalName: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly returns: string;
  readonly effects: Effects;
  readonly capabilities: readonly Capability[];
  readonly requiresTrust: boolean;
  /** Takes the arguments by name, already fitted to {@link parameters}. */
  readonly run: (args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown;
}

const INIT_KEYS: KeysOf<ToolInit<ArgSpecs>> = {
  name: true,
  description: true,
  args: true,
  returns: true,
  effects: true,
  capabilities: true,
  requiresTrust: true,
  run: true,
};
const SPEC_KEYS: KeysOf<ArgSpec> = { name: true, type: true, description: true, required: true, default: true };

/** So that nothing counts as checked which did not come through here. */
const made = new WeakSet<object>();

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Checks and freezes a tool. Throws {@link ConfigError} (`ERR_CONFIG`) that names the tool and the field. */
export function defineTool<const S extends ArgSpecs = readonly []>(init: ToolInit<S>): ToolDefinition {
  checkOptions('a tool', init, INIT_KEYS);
  const name = checkToolName(init.name);
  if (typeof init.run !== 'function') throw new ConfigError(`${name}: run must be a function`);
  const effects = init.effects ?? 'write';
  if (!['none', 'read', 'write'].includes(effects)) throw new ConfigError(`${name}: effects must be none, read or write`);
  const tool = Object.freeze({
    name,
    canonicalName: canonicalName(name),
    description: init.description ?? '',
    parameters: Object.freeze(parametersOf(name, init.args ?? [])),
    returns: init.returns ?? 'any',
    effects,
    capabilities: Object.freeze((init.capabilities ?? []).map(parseCapability)),
    requiresTrust: init.requiresTrust ?? false,
    // The dispatcher calls `run` with exactly what `parameters` describe, and `ArgsOf<S>` is their type.
    run: init.run as ToolDefinition['run'],
  });
  made.add(tool);
  return tool;
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for what looks like a tool and was not made by {@link defineTool}. */
export function checkTool(tool: ToolDefinition): ToolDefinition {
  if (made.has(tool)) return tool;
  throw new ConfigError('a tool must be made with defineTool, which checks it');
}

function parametersOf(tool: string, specs: ArgSpecs): readonly Parameter[] {
  const parameters = isSpecList(specs)
    ? specs.map((spec) => parameterOf(tool, spec))
    : Object.entries(specs).map(([name, schema]) => schemaParameter(tool, name, schema));
  const seen = new Set<string>();
  for (const { name } of parameters) {
    if (!IDENTIFIER.test(name)) throw new ConfigError(`${tool}: '${name}' is no argument name; use letters, digits and _`);
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

function isSpecList(specs: ArgSpecs): specs is readonly ArgSpec[] {
  return Array.isArray(specs);
}

function schemaParameter(tool: string, name: string, schema: unknown): Parameter {
  if (!isStandardSchema(schema)) throw new ConfigError(`${tool}: '${name}' must be a Standard Schema (zod, valibot, arktype)`);
  return Object.freeze({ name, description: '', required: false, default: null, kind: Object.freeze({ schema }) });
}

function parameterOf(tool: string, spec: ArgSpec): Parameter {
  checkOptions(`${tool}: an argument`, spec, SPEC_KEYS);
  const type = spec.type ?? 'any';
  if (!isArgType(type))
    throw new ConfigError(
      `${tool}: '${spec.name}' has the unknown type '${String(type)}'; known are ${argTypeNames().join(', ')}`,
    );
  const fallback = spec.default ?? null;
  if (fallback !== null) {
    const fitted = coerce(type, fallback);
    if (!fitted.ok) throw new ConfigError(`${tool}: the default of '${spec.name}' does not fit: ${fitted.problem}`);
  }
  return Object.freeze({
    name: spec.name,
    description: spec.description ?? '',
    required: spec.required ?? fallback === null,
    default: fallback,
    kind: Object.freeze({ type }),
  });
}
