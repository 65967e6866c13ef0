import type { Actor, HostContext, Logger, StoreReaders, Stores, TurnContext } from '../../context/index.ts';
import { ConfigError, NeuroScriptError } from '../../wire/errors.ts';
import {
  anything,
  checker,
  checkFlag,
  checkFunction,
  checkObject,
  checkText,
  listOf,
  oneOf,
  required,
  wholeNumber,
} from '../../wire/options.ts';
import type { CallSite } from '../../wire/protocol.ts';
import type { Value } from '../../wire/values.ts';
import type { RootPort } from '../dispatch/toolruntime.ts';
import type { Handles } from '../handles.ts';
import { canonicalName, checkToolName } from '../names.ts';
import type { PendingOptions } from '../pending.ts';
import { type Capability, parseCapability } from '../policy/capability.ts';
import type { ToolView } from '../registry.ts';
import { type ArgSpecs, type ArgsOf, type Parameter, parametersOf } from './parameters.ts';
import { type ResultKind, type ResultOf, type ReturnSpec, returnsOf } from './returns.ts';

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
  /** The procedures of the root interpreter: what is added here, runs from the next one on know. */
  readonly definitions: Pick<RootPort, 'append' | 'signatures'>;
  /**
   * Defines a global constant: all forks of this run see it at once, and all runs of the root from now on. Rejects with
   * {@link ToolError} 1003 unless the tool is one that requires trust, with 21 for a name that means something already;
   * `redefine` lets a constant get another value.
   */
  defineConstant(name: string, value: unknown, options?: { readonly redefine?: boolean }): Promise<void>;
  /**
   * For a tool whose answer comes later, from a person or a long job: `return runtime.pending({ reason })`. It throws what
   * leaves the tool. In a turn of the host loop the run is put aside, and goes on when the call is completed, in any process;
   * elsewhere the call fails with code 19.
   */
  pending(options: PendingOptions): never;
  /** Calls another tool in the calling fork's name, under the same policy. Rejects with {@link ToolError} as a script would fail. */
  callTool(name: string, args: readonly unknown[]): Promise<Value>;
}

/** `none`: neither reads nor changes anything outside; `read`: reads; `write`: may change something. */
export type Effects = 'none' | 'read' | 'write';

/** What {@link defineTool} makes a tool from. */
export interface ToolInit<S extends ArgSpecs, R extends ReturnSpec = ReturnSpec> {
  /** Where `name` is a short one: `shop` and `Price` make `tool.shop.Price`. It may have dots. */
  readonly group?: string;
  /** `tool.group.Name`, or the last part alone beside `group`; calls ignore letter case. */
  readonly name: string;
  /** What it does, in a sentence or two; the first one is what a short catalogue shows. */
  readonly description?: string;
  /** A call as a program would write it, for catalogues. */
  readonly example?: string;
  readonly args?: S;
  /**
   * What it gives back: an ArgType or a schema, to which every result is held (code 21), or words for catalogues. By ArgType
   * a result is fitted like an argument and nil passes; a schema says itself whether it does.
   */
  readonly returns?: R;
  /** `write` when absent: the careful assumption. */
  readonly effects?: Effects;
  /** Grants that a policy must give, as `resource:verb,verb[:scope,scope]` (language.md 9.6). */
  readonly capabilities?: readonly string[];
  /** Only a policy of context `config` admits the tool. */
  readonly requiresTrust?: boolean;
  /**
   * Runs only when a human has approved exactly this call: plan `{"tool": canonical name, "args": [as given]}`. Without that
   * the call fails with code 1003. Needs an `Approval` in the turn, which a loop is given and never makes.
   */
  readonly requiresApproval?: boolean;
  /** Most milliseconds of one call; then it fails with code 37 and `signal` is aborted. Only what awaits can be stopped. */
  readonly timeoutMs?: number;
  /** Most bytes of one call's arguments as JSON; more is code 4. The limit `toolBytes` holds besides. */
  readonly maxArgBytes?: number;
  /** Most bytes of one result as JSON; more is code 37, which a script can catch, unlike a breach of `toolBytes`. */
  readonly maxResultBytes?: number;
  /** Returns what `Value` holds, plain objects, a `Date`, `undefined` for nil, or a promise of these. */
  readonly run: (args: ArgsOf<S>, runtime: ToolRuntime) => ResultOf<R> | Promise<ResultOf<R>>;
  /**
   * Called when a call that `run` left with `runtime.pending()` is completed: takes the answer that was given and gives the
   * result, or waits again. The answer is the result when absent.
   */
  readonly complete?: (answer: Value, args: ArgsOf<S>, runtime: ToolRuntime) => unknown;
}

/** A checked, frozen tool, as {@link defineTool} makes it. */
export interface ToolDefinition {
  readonly name: string;
  /** `isolate`: a pure tool, which runs where the script does and never comes to the host (`definePure`). */
  readonly where: 'host' | 'isolate';
  /** The registry's key: {@link name} in lower case. */
  readonly canonicalName: string;
  readonly description: string;
  readonly example: string;
  readonly parameters: readonly Parameter[];
  /** What it gives back, in words. */
  readonly returns: string;
  /** What every result is held to; null where `returns` is but words. */
  readonly result: ResultKind | null;
  readonly effects: Effects;
  readonly capabilities: readonly Capability[];
  readonly requiresTrust: boolean;
  readonly requiresApproval: boolean;
  /** Null: no bound of its own, only that of the run. */
  readonly timeoutMs: number | null;
  readonly maxArgBytes: number | null;
  readonly maxResultBytes: number | null;
  /** Takes the arguments by name, already fitted to {@link parameters}. */
  readonly run: (args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown;
  /** Makes a result of the answer to a call that waited; null: the answer is the result. */
  readonly complete: ((answer: Value, args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown) | null;
}

/** So that nothing counts as checked which did not come through here. */
const made = new WeakSet<object>();

/** Longest time that a timer can wait. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const checkInit = checker<ToolInit<ArgSpecs>>({
  group: anything,
  name: required(anything),
  description: checkText,
  example: checkText,
  args: anything,
  returns: anything,
  effects: oneOf('none', 'read', 'write'),
  capabilities: listOf(checkText),
  requiresTrust: checkFlag,
  requiresApproval: checkFlag,
  timeoutMs: wholeNumber(1, MAX_TIMEOUT_MS),
  maxArgBytes: wholeNumber(1),
  maxResultBytes: wholeNumber(1),
  run: required(checkFunction),
  complete: checkFunction,
});

/** Checks and freezes a tool. Throws {@link ConfigError} (`ERR_CONFIG`) that names the tool and the field. */
export function defineTool<const S extends ArgSpecs = readonly [], const R extends ReturnSpec = string>(
  init: ToolInit<S, R>,
): ToolDefinition {
  return defineAt('host', init);
}

/** As {@link defineTool}, for a tool that runs there. */
export function defineAt<const S extends ArgSpecs, const R extends ReturnSpec>(
  where: ToolDefinition['where'],
  init: ToolInit<S, R>,
): ToolDefinition {
  checkObject('a tool', init);
  const name = checkToolName(init.group === undefined ? init.name : `tool.${init.group}.${init.name}`);
  checkInit(name, init);
  const tool = Object.freeze({
    name,
    where,
    canonicalName: canonicalName(name),
    description: init.description ?? '',
    example: init.example ?? '',
    parameters: Object.freeze(parametersOf(name, init.args ?? [])),
    ...returnsOf(name, init.returns ?? 'any'),
    effects: init.effects ?? 'write',
    capabilities: Object.freeze((init.capabilities ?? []).map(parseCapability)),
    requiresTrust: init.requiresTrust ?? false,
    requiresApproval: init.requiresApproval ?? false,
    timeoutMs: init.timeoutMs ?? null,
    maxArgBytes: init.maxArgBytes ?? null,
    maxResultBytes: init.maxResultBytes ?? null,
    // The dispatcher calls `run` with exactly what `parameters` describe, and `ArgsOf<S>` is their type.
    run: init.run as ToolDefinition['run'],
    complete: (init.complete ?? null) as ToolDefinition['complete'],
  });
  made.add(tool);
  return tool;
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for what looks like a tool and was not made by {@link defineTool}. */
export function checkTool(tool: ToolDefinition): ToolDefinition {
  if (made.has(tool)) return tool;
  throw new ConfigError('a tool must be made with defineTool, which checks it');
}
