import type { Actor, HostContext, Logger, StoreReaders, Stores, TurnContext } from '../../context/index.ts';
import { TurnClosedError } from '../../context/index.ts';
import type { CallIo } from '../../wire/call.ts';
import { decode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { variableProblem } from '../../wire/options.ts';
import type { CallSite, TaggedJson } from '../../wire/protocol.ts';
import type { Value } from '../../wire/values.ts';
import { type ToolDefinition, ToolError, type ToolRuntime } from '../define/define.ts';
import type { Handles } from '../handles.ts';
import { type PendingOptions, pending } from '../pending.ts';
import type { ToolView } from '../registry.ts';
import type { Belongings } from '../sessionresources.ts';
import { encodeAs } from './outcome.ts';

/** What tools may do to the definitions of the root that a run descends from. */
export interface RootPort {
  /** Adds a library for the runs to come. */
  append(source: string, name?: string): Promise<Loaded>;
  /** `name` to `name(a, [b])`. */
  signatures(): Promise<ReadonlyMap<string, string>>;
  /** Null, or why the name cannot be a constant's. */
  refusesConstant(name: string, redefine: boolean): string | null;
  setConstant(name: string, value: TaggedJson): void;
}

/** What a library brought. */
export interface Loaded {
  readonly procedures: readonly string[];
  /** How many event handlers it has. */
  readonly events: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What the calls of a run share with each other, and with other runs of the same root or session. */
export interface Shared {
  readonly stores: Stores;
  /** The same, to be read. */
  readonly readers: StoreReaders;
  readonly root: RootPort;
  /** Those of the session, or of the run outside of any; made at the first use. */
  belongings(): Belongings;
}

/** What a call is made of. */
export interface CallInit {
  readonly site: CallSite;
  readonly host: HostContext;
  readonly turn: TurnContext;
  readonly tools: ToolView;
  readonly variables: CallIo;
  /** Aborted when the tool's own time is over; null for a tool without such a bound. */
  readonly expired: AbortSignal | null;
  readonly toolBytes: number;
  readonly shared: Shared;
  readonly callTool: (name: string, args: readonly unknown[]) => Promise<Value>;
}

/** The {@link ToolRuntime} of one call of one tool: bound to the calling fork, and useless once the call has ended. */
export class ToolCall implements ToolRuntime {
  readonly #init: CallInit;
  readonly #tool: ToolDefinition;
  #ended = false;
  #signal: AbortSignal | null = null;

  constructor(tool: ToolDefinition, init: CallInit) {
    this.#tool = tool;
    this.#init = init;
  }

  get forkId(): string {
    return this.#init.site.fork;
  }
  get site(): CallSite {
    return this.#init.site;
  }
  get host(): HostContext {
    return this.#init.host;
  }
  get actor(): Actor | null {
    return this.#init.host.actor;
  }
  get logger(): Logger {
    return this.#init.host.logger;
  }
  get turn(): TurnContext {
    return this.#init.turn;
  }
  get tools(): ToolView {
    return this.#init.tools;
  }
  get stores(): StoreReaders {
    return this.#init.shared.readers;
  }
  get handles(): Handles {
    this.#mustBeOpen('handles');
    return this.#init.shared.belongings().handles;
  }
  get signal(): AbortSignal {
    const { variables, turn, expired } = this.#init;
    this.#signal ??= AbortSignal.any([variables.signal, turn.signal, ...(expired === null ? [] : [expired])]);
    return this.#signal;
  }

  adminStores(): Stores {
    this.#mustBeOpen('adminStores');
    // A tool that requires trust was admitted by a policy of context `config`, or it would not run (language.md 10.7).
    if (this.#tool.requiresTrust) return this.#init.shared.stores;
    throw new ToolError(NS_CODES.Policy, `tool '${this.#tool.canonicalName}' requires a privileged context to change a store`);
  }

  async sandboxDir(): Promise<string> {
    this.#mustBeOpen('sandboxDir');
    return this.#init.shared.belongings().sandboxDir();
  }

  async getVar(name: string): Promise<Value | undefined> {
    this.#mustBeOpen('getVar');
    const { found, value } = await this.#init.variables.getVar(name);
    return found ? decode(value) : undefined;
  }

  async setVar(name: string, value: unknown): Promise<void> {
    this.#mustBeOpen('setVar');
    const unnamable = variableProblem(name);
    if (unnamable !== null) throw new ToolError(NS_CODES.ToolExecutionFailed, unnamable);
    const json = encodeAs(NS_CODES.ToolExecutionFailed, `the variable '${name}' cannot be set`, value, this.#init.toolBytes);
    const problem = await this.#init.variables.setVar(name, json);
    if (problem !== null) throw new ToolError(NS_CODES.WriteViolation, problem);
  }

  get definitions(): Pick<RootPort, 'append' | 'signatures'> {
    this.#mustBeOpen('definitions');
    return this.#init.shared.root;
  }

  async defineConstant(name: string, value: unknown, options: { readonly redefine?: boolean } = {}): Promise<void> {
    this.#mustBeOpen('defineConstant');
    const { variables, shared, toolBytes } = this.#init;
    const what = `the constant '${name}' cannot be defined`;
    if (!this.#tool.requiresTrust)
      throw new ToolError(NS_CODES.Policy, `${what}: '${this.#tool.canonicalName}' does not require a privileged context`);
    const problem = variableProblem(name);
    if (problem !== null) throw new ToolError(NS_CODES.ToolExecutionFailed, problem);
    const redefine = options.redefine ?? false;
    const json = encodeAs(NS_CODES.ToolExecutionFailed, what, value, toolBytes);
    const refused = shared.root.refusesConstant(name, redefine) ?? (await variables.defineConst(name, json, redefine));
    if (refused !== null) throw new ToolError(NS_CODES.ToolExecutionFailed, `${what}: ${refused}`);
    shared.root.setConstant(name, json);
  }

  pending(options: PendingOptions): never {
    this.#mustBeOpen('pending');
    throw pending(options);
  }

  async callTool(name: string, args: readonly unknown[]): Promise<Value> {
    this.#mustBeOpen('callTool');
    return this.#init.callTool(name, args);
  }

  /** The tool has returned: refuses any further use. Variables that are being set reach the script before the answer does. */
  end(): void {
    this.#ended = true;
  }

  #mustBeOpen(method: string): void {
    if (this.#init.turn.closed)
      throw new TurnClosedError(`tool '${this.#tool.canonicalName}' used ${method} after the turn had ended`);
    if (this.#ended || this.#init.expired?.aborted === true)
      throw new TurnClosedError(`tool '${this.#tool.canonicalName}' used ${method} after its call had ended`);
  }
}
