import {
  type Actor,
  type HostContext,
  type Logger,
  type StoreReaders,
  type Stores,
  TurnClosedError,
  type TurnContext,
} from '../../context/index.ts';
import type { CallIo } from '../../wire/call.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import { variableProblem } from '../../wire/options.ts';
import type { CallSite } from '../../wire/protocol.ts';
import type { Value } from '../../wire/values.ts';
import type { CallIdentity, RootDefinitions, ToolDefinition, ToolRuntime, ToolView } from '../define/definition.ts';
import { ToolError } from '../errors.ts';
import type { Handles } from '../handles.ts';
import { type PendingOptions, pending } from '../pending.ts';
import type { CallOrigin } from '../policy/origin.ts';
import type { DispatchContext } from './context.ts';
import type { CallHold } from './hold.ts';
import { valueFrom } from './large.ts';
import { encodeAs } from './outcome.ts';

/** One call, as its {@link ToolRuntime} needs it. */
export interface CallRuntimeInit {
  readonly context: DispatchContext;
  readonly site: CallSite;
  readonly identity: CallIdentity;
  readonly io: CallIo;
  readonly hold: CallHold;
  /** Aborted when the tool's own time is over; null for a tool without such a bound. */
  readonly expired: AbortSignal | null;
  readonly callNested: ToolRuntime['callTool'];
  /** Whether the call sets no variables and constants. */
  readonly keepsVariables: boolean;
  readonly mayWait: boolean;
  readonly waitedFor: string | null;
  /** The labels of the call; null without rules about origin. */
  readonly origin: CallOrigin | null;
}

/** The {@link ToolRuntime} of one call: bound to the calling fork, and invalid once the call has ended. */
export class CallRuntime implements ToolRuntime {
  readonly #init: CallRuntimeInit;
  readonly #tool: ToolDefinition;
  #ended = false;
  #signal: AbortSignal | null = null;

  constructor(tool: ToolDefinition, init: CallRuntimeInit) {
    this.#tool = tool;
    this.#init = init;
  }

  get forkId(): string {
    return this.#init.site.fork;
  }
  get site(): CallSite {
    return this.#init.site;
  }
  get call(): CallIdentity {
    return this.#init.identity;
  }
  get host(): HostContext {
    return this.#init.context.host;
  }
  get actor(): Actor | null {
    return this.host.actor;
  }
  get logger(): Logger {
    return this.host.logger;
  }
  get turn(): TurnContext {
    return this.#init.context.turn;
  }
  get tools(): ToolView {
    return this.#init.context.tools.bind(this.forkId);
  }
  mayCall(name: string): boolean {
    const { tools, guards } = this.#init.context;
    const tool = tools.lookup(name);
    return tool !== undefined && guards.every((guard) => guard.denial(tool, tools.isOwn(name)) === null);
  }
  get stores(): StoreReaders {
    return this.#init.context.readers;
  }
  get handles(): Handles {
    this.#mustBeOpen('handles');
    return this.#init.context.resources().handles;
  }
  get mayWait(): boolean {
    return this.#init.mayWait;
  }
  get waitedFor(): string | null {
    return this.#init.waitedFor;
  }
  get labels(): readonly string[] {
    return this.#init.origin?.carried ?? [];
  }
  carry(labels: readonly string[]): void {
    this.#mustBeOpen('carry');
    this.#init.origin?.carry(labels);
  }
  carryMeta(labels: readonly string[]): void {
    this.#mustBeOpen('carryMeta');
    this.#init.origin?.carryMeta(labels);
  }
  get signal(): AbortSignal {
    const { io, context, expired } = this.#init;
    this.#signal ??= AbortSignal.any([io.signal, context.turn.signal, ...(expired === null ? [] : [expired])]);
    return this.#signal;
  }

  adminStores(): Stores {
    this.#mustBeOpen('adminStores');
    // Only a policy of context `config` admits a tool that requires trust, so no further check is needed.
    if (this.#tool.requiresTrust) return this.#init.context.stores;
    throw new ToolError(NS_CODES.Policy, `tool '${this.#tool.canonicalName}' requires a privileged context to change a store`);
  }

  async sandboxDir(): Promise<string> {
    this.#mustBeOpen('sandboxDir');
    return this.#init.context.resources().sandboxDir();
  }

  async getVar(name: string): Promise<Value | undefined> {
    this.#mustBeOpen('getVar');
    const { found, value } = await this.#init.io.getVar(name);
    return found ? await valueFrom(value) : undefined;
  }

  async setVar(name: string, value: unknown): Promise<void> {
    this.#mustBeOpen('setVar');
    this.#mustSetVariables();
    const unnamable = variableProblem(name);
    if (unnamable !== null) throw new ToolError(NS_CODES.ToolExecutionFailed, unnamable);
    const json = await encodeAs(NS_CODES.ToolExecutionFailed, `the variable '${name}' cannot be set`, value, this.#toolBytes);
    const problem = await this.#init.io.setVar(name, json);
    if (problem !== null) throw new ToolError(NS_CODES.WriteViolation, problem);
  }

  get definitions(): Pick<RootDefinitions, 'append' | 'signatures'> {
    this.#mustBeOpen('definitions');
    return this.#init.context.definitions;
  }

  async defineConstant(name: string, value: unknown, options: { readonly redefine?: boolean } = {}): Promise<void> {
    this.#mustBeOpen('defineConstant');
    this.#mustSetVariables();
    const { io, context } = this.#init;
    const what = `the constant '${name}' cannot be defined`;
    if (!this.#tool.requiresTrust)
      throw new ToolError(NS_CODES.Policy, `${what}: '${this.#tool.canonicalName}' does not require a privileged context`);
    const unnamable = variableProblem(name);
    if (unnamable !== null) throw new ToolError(NS_CODES.ToolExecutionFailed, unnamable);
    const redefine = options.redefine ?? false;
    const json = await encodeAs(NS_CODES.ToolExecutionFailed, what, value, this.#toolBytes);
    const problem = context.definitions.constantProblem(name, redefine) ?? (await io.defineConst(name, json, redefine));
    if (problem !== null) throw new ToolError(NS_CODES.ToolExecutionFailed, `${what}: ${problem}`);
    context.definitions.setConstant(name, json);
  }

  pending(options: PendingOptions): never {
    this.#mustBeOpen('pending');
    throw pending(options);
  }

  async callTool(name: string, args: readonly unknown[]): Promise<Value> {
    this.#mustBeOpen('callTool');
    return this.#init.callNested(name, args);
  }

  /**
   * Ends the call after the tool has returned. Every further use fails. Pending `setVar` calls still reach the script before the answer.
   */
  end(): void {
    this.#ended = true;
  }

  async reserve(bytes: number): Promise<void> {
    this.#mustBeOpen('reserve');
    if (!Number.isFinite(bytes) || bytes < 0) throw new ConfigError(`a tool can reserve bytes from 0, got ${String(bytes)}`);
    await this.#init.hold.reserve(bytes, this.#init.io);
  }

  async charge(bytes: number): Promise<void> {
    this.#mustBeOpen('charge');
    if (!Number.isFinite(bytes) || bytes < 0) throw new ConfigError(`a tool can charge bytes from 0, got ${String(bytes)}`);
    await this.#init.hold.charge(bytes, this.#init.io);
  }

  get #toolBytes(): number {
    return this.#init.context.limits.toolBytes;
  }

  #mustSetVariables(): void {
    if (!this.#init.keepsVariables) return;
    const why = `'${this.#tool.canonicalName}', or a tool that called it, is declared with setsVariables: false`;
    throw new ToolError(NS_CODES.WriteViolation, `the program's variables cannot be set: ${why}`);
  }

  #mustBeOpen(method: string): void {
    if (this.turn.closed) throw new TurnClosedError(`tool '${this.#tool.canonicalName}' used ${method} after the turn had ended`);
    if (this.#ended || this.#init.expired?.aborted === true)
      throw new TurnClosedError(`tool '${this.#tool.canonicalName}' used ${method} after its call had ended`);
  }
}
