import type { Actor, HostContext, Logger, StoreReaders, Stores, TurnContext } from '../../context/index.ts';
import type { CallSite, TaggedJson } from '../../wire/protocol.ts';
import type { OrderedValue, Value } from '../../wire/values.ts';
import type { Handles } from '../handles.ts';
import type { PendingOptions } from '../pending.ts';
import type { Capability } from '../policy/capability.ts';
import type { CallPrice } from './cost.ts';
import type { Parameter } from './parameters.ts';
import type { ResultKind } from './returns.ts';

/** Effects of a tool outside of the program. `none`: it reads and changes nothing; `read`: it reads; `write`: it may change something. */
export type Effects = 'none' | 'read' | 'write';

/** A checked, frozen tool, as `defineTool` makes it. */
export interface ToolDefinition {
  /** The name as it was given, such as `tool.fs.Read`. */
  readonly name: string;
  /** `isolate`: a pure tool, which runs beside the script and never reaches the host (`definePure`). */
  readonly where: 'host' | 'isolate';
  /** Set for the standard tools, which a text for a model lists by name only. */
  readonly standard: boolean;
  /** The registry's key: {@link name} in lower case. */
  readonly canonicalName: string;
  /** What the tool does; empty when it does not say. */
  readonly description: string;
  /** A call, in the language; empty when there is none. */
  readonly example: string;
  /** The arguments, in the order of a call. */
  readonly parameters: readonly Parameter[];
  /** The result, in words. */
  readonly returns: string;
  /** The check of every result; null where `returns` is only words. */
  readonly result: ResultKind | null;
  /** Whether the tool reads or changes something outside of the program. */
  readonly effects: Effects;
  /** Whether a call that is repeated after a crash has no second effect. */
  readonly idempotent: boolean;
  /** Whether a call may set variables and constants of the program. */
  readonly setsVariables: boolean;
  /** What a call costs; null for nothing. */
  readonly price: CallPrice | null;
  /** What a policy must grant. */
  readonly capabilities: readonly Capability[];
  /** True when only a run with the context `config` may call it. */
  readonly requiresTrust: boolean;
  /** True when a human must approve every call. */
  readonly requiresApproval: boolean;
  /** Most milliseconds of a call; null when only the limits of the run count. */
  readonly timeoutMs: number | null;
  /** Most bytes of the arguments; null when only the limits of the run count. */
  readonly maxArgBytes: number | null;
  /** Most bytes of the result; null when only the limits of the run count. */
  readonly maxResultBytes: number | null;
  /** Whether `run` and `complete` get maps as ES maps, in place of plain objects. */
  readonly orderedMaps: boolean;
  /** Runs the tool. Takes the arguments by name, converted to the types of {@link parameters}. */
  readonly run: (args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown;
  /** Makes the result from the answer to a suspended call; null when the answer is the result. */
  readonly complete:
    | ((answer: Value | OrderedValue, args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown)
    | null;
}

/** Identifies a call to the systems that a tool changes, so that a repeated call has no second effect there. */
export interface CallIdentity {
  /**
   * The session, the turn, the call, and a digest of tool and arguments, as visible ASCII. A turn that runs again after a crash makes
   * the same call with the same key; no other call has it. Null outside of a session of the host loop.
   */
  readonly key: string | null;
  /**
   * Number of the claim under which this process drives the session. It only grows: a system that remembers the highest number of a
   * session can refuse a process that has lost the session. Null for a session that no process claims.
   */
  readonly fence: number | null;
}

/** The tools that a fork can see. */
export interface ToolView {
  /** The fork whose view this is. */
  readonly forkId: string;
  /** By any spelling of the name; undefined when there is none. */
  lookup(name: string): ToolDefinition | undefined;
  /** True for a tool that the host gave to this fork alone. */
  isOwn(name: string): boolean;
  /** Canonical names, sorted. */
  names(): readonly string[];
}

/**
 * The second parameter of a tool: the context of its immediate caller. It is valid while the call lasts; afterwards every method rejects
 * with `TurnClosedError` (`ERR_TURN_CLOSED`).
 */
export interface ToolRuntime {
  /** Id of the fork that made the call. */
  readonly forkId: string;
  /** Where in the script the call stands. */
  readonly site: CallSite;
  /** Identifies the call to systems that must not do the same twice. */
  readonly call: CallIdentity;
  /** The connections of the application. */
  readonly host: HostContext;
  /** On whose behalf the program runs; null when it is unknown. */
  readonly actor: Actor | null;
  /** Session, turn index, deadline and the application's values. */
  readonly turn: TurnContext;
  /** Aborted when the run is cancelled, reaches a time limit, or ends. */
  readonly signal: AbortSignal;
  /** The application's logger. */
  readonly logger: Logger;
  /** The tools that the calling fork can see. */
  readonly tools: ToolView;
  /** Whether the policies let the program call a tool; false for an unknown one. Call limits do not count. */
  mayCall(name: string): boolean;
  /** A variable of the calling fork, or undefined when it has none of that name. */
  getVar(name: string): Promise<Value | undefined>;
  /** Sets a variable of the calling fork. Rejects with `ToolError` 43 when a script could not set it there either. */
  setVar(name: string, value: unknown): Promise<void>;
  /** Objects of the host that scripts hold as handles. They belong to the caller's session, or to its run outside of any session. */
  readonly handles: Handles;
  /** The accounts, agent models and capsules of the root interpreter, read-only. */
  readonly stores: StoreReaders;
  /** The same stores, writable. Throws `ToolError` 1003 unless the tool requires trust. */
  adminStores(): Stores;
  /**
   * A directory of the caller's session, or of its run outside of any session: an absolute path, empty at first. The first call
   * makes it; the end of the session removes it with its content. Rejects with `ToolError` 26 when it cannot be made.
   */
  sandboxDir(): Promise<string>;
  /** The procedures of the root interpreter. Later runs have the procedures that are added here. */
  readonly definitions: Pick<RootDefinitions, 'append' | 'signatures'>;
  /**
   * Defines a global constant: all forks of this run see it at once, and all later runs of the root. Rejects with `ToolError` 1003
   * unless the tool requires trust, and with 21 for a name that is taken; `redefine` gives an existing constant another value.
   */
  defineConstant(name: string, value: unknown, options?: { readonly redefine?: boolean }): Promise<void>;
  /**
   * For a tool whose answer comes later, from a person or a long job: `return runtime.pending({ reason })`. It throws. In a turn of
   * the host loop the run is put aside, and continues when the call is completed, in any process; elsewhere the call fails with
   * code 19.
   */
  pending(options: PendingOptions): never;
  /** Whether the run can be put aside by {@link pending}. */
  readonly mayWait: boolean;
  /** In `complete`: the reason for which the call waited. Null elsewhere. */
  readonly waitedFor: string | null;
  /**
   * Waits until the run may hold so many bytes more on the host. A tool that reads a large value into memory reserves its size before it
   * reads, because 64 calls may run together: what does not fit waits until other calls have ended. It replaces what
   * the host reserved when the call began, and ends with the call. Rejects when the call is over.
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Charges the program for work on so many bytes that this call does on the host, as fuel and as CPU time. A tool declares so what its
   * arguments and its result do not show, for instance the bytes of a file of which it returns the hash. It works in pieces of about 256
   * KiB and awaits the charge of each: the calls of a run take turns, so that other runs keep their share of the host.
   */
  charge(bytes: number): Promise<void>;
  /**
   * Names of all labels that the call carries, in its arguments and by what decided that it is made. Empty without rules about origin
   * (`flow` of a policy).
   */
  readonly labels: readonly string[];
  /**
   * Gives the result of the call these labels, for a tool that returns what an earlier call has stored. Labels that no rule names have no
   * effect.
   */
  carry(labels: readonly string[]): void;
  /**
   * Gives the result of the call the labels that the server behind the tool says it has: `untrusted`, `private` or none. They count where a
   * policy says `meta` for this server.
   */
  carryMeta(labels: readonly string[]): void;
  /** Calls another tool in the calling fork's name, under the same policy. Rejects with the `ToolError` that a script would get. */
  callTool(name: string, args: readonly unknown[]): Promise<Value>;
}

/** The operations of tools on the definitions of their root interpreter. */
export interface RootDefinitions {
  /** Adds a library for later runs. */
  append(source: string, name?: string): Promise<LoadedLibrary>;
  /** `name` to `name(a, [b])`. */
  signatures(): Promise<ReadonlyMap<string, string>>;
  /** Why a constant cannot have the name; null when it can. */
  constantProblem(name: string, redefine: boolean): string | null;
  /** Defines a constant for all later runs of the root. */
  setConstant(name: string, value: TaggedJson): void;
}

/** The content of a loaded library. */
export interface LoadedLibrary {
  /** Names of its procedures. */
  readonly procedures: readonly string[];
  /** The number of its event handlers. */
  readonly events: number;
  /** The `::` lines at the top of the library. */
  readonly metadata: Readonly<Record<string, string>>;
}
