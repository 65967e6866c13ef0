import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Actor,
  createHostContext,
  createStores,
  type HostContext,
  type HostContextInit,
  isHostContext,
  rootTurn,
  SILENT_LOGGER,
  type Stores,
  type TurnContext,
  type TurnInit,
} from '../context/index.ts';
import { type Lack, lacksOf, type ParseOutcome } from '../sandbox/index.ts';
import type { Telemetry } from '../telemetry/index.ts';
import { callDepth } from '../tools/index.ts';
import { ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import { anything, checker, checkList, checkObject, checkText, listOf, required, timerMs, wholeNumber } from '../wire/options.ts';
import type { EventInput, Source } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import type { CheckReport, FormatReport } from '../wire/sourcereports.ts';
import { type CheckOptions, checkEnvironment } from './check.ts';
import type { SandboxPort } from './context.ts';
import type { SymbolTable } from './definitions.ts';
import { type ForeseeResult, withBrokenRules } from './foresee.ts';
import type { Fork, ForkOptions } from './fork.ts';
import { Interpreter, type InterpreterRuntime } from './interpreter.ts';
import { checkSources, RUN_SETTINGS, type RunRequest, type RunSettings } from './request.ts';
import type { Settings } from './settings.ts';
import { type RuntimeStats, statsOf } from './stats.ts';
import { checkTenantUse, type TenantInit, type TenantReport, type TenantUse } from './tenants.ts';
import { toTagged } from './values.ts';

export type { RuntimeStats } from './stats.ts';

/** Options of a root interpreter. */
export interface InterpreterOptions {
  /** The fields of a host context, or one that was made with `createHostContext`; a silent one when absent. */
  readonly host?: HostContext | HostContextInit;
  /** The actor, where `host` does not name one. */
  readonly actor?: Actor | undefined;
  /** Accounts, agent models and capsules; absent stores are empty. Several roots may share them. */
  readonly stores?: Partial<Stores> | undefined;
  /** Procedures, handlers and constants that the host supplies; nothing that is loaded may have one of their names. */
  readonly symbols?: SymbolTable;
  /** Ed25519 public keys, base64url. With them, only units that one of them signed are loaded. */
  readonly signers?: readonly string[] | undefined;
  /** Calls that count already for the policy's call limits, by canonical name: `callsMade` of an earlier interpreter. */
  readonly callsMade?: Readonly<Record<string, number>>;
}

/** Options of a run with a root interpreter of its own. */
export interface RunOptions
  extends Omit<RunSettings, 'asTurn'>,
    Omit<InterpreterOptions, 'callsMade'>,
    Pick<ForkOptions, 'tools' | 'policy'> {
  /** The session, in which storage, directories and handles of tools outlast the run, until `endSession`. None when absent. */
  readonly session?: string;
  /** The tenant of the run, whose workers and budgets it shares. Limits given here apply to the tenant from now on. */
  readonly tenant?: string | TenantInit;
  /** Global variables of the program, as JavaScript values; they replace `globals` of the same name. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Shown in positions; `src` when absent. */
  readonly name?: string;
  /** Definitions, loaded first. A command block in them is `ERR_USAGE`, and nothing runs. */
  readonly lib?: string | readonly string[] | undefined;
  /** A procedure to call after the command blocks, with JavaScript values as arguments. */
  readonly call?: { readonly name: string; readonly args?: readonly unknown[] };
  /** Delivered last; payloads are JavaScript values. */
  readonly events?: readonly RunEvent[];
}

/** {@link InterpreterOptions}, taken apart. */
type Connection = { readonly [K in keyof InterpreterOptions]: InterpreterOptions[K] | undefined };

interface RunEvent {
  readonly name: string;
  readonly source?: string;
  readonly payload?: unknown;
}

const INTERPRETER_OPTIONS = { host: anything, actor: anything, stores: anything, symbols: anything, signers: anything } as const;

const checkCounts = (what: string, value: unknown): void => {
  checkObject(what, value);
  for (const [name, count] of Object.entries(value)) checkCount(`${what}: ${name}`, count);
};
const checkCount = wholeNumber(0);

const checkInterpreterOptions = checker<InterpreterOptions>({ ...INTERPRETER_OPTIONS, callsMade: checkCounts });

const { asTurn: _, ...RUN_CHECKS } = RUN_SETTINGS;

const checkRunOptions = checker<RunOptions>({
  ...INTERPRETER_OPTIONS,
  ...RUN_CHECKS,
  tools: anything,
  policy: anything,
  session: checkText,
  tenant: anything,
  values: checkObject,
  name: checkText,
  lib(what, value) {
    if (typeof value !== 'string') checkList(what, value);
  },
  call: checker<NonNullable<RunOptions['call']>>({ name: required(checkText), args: checkList }),
  // The fields `id` and `ts` of an `EventInput` are accepted. They have no effect: the fork names and dates these events.
  events: listOf(
    checker<RunEvent & Pick<EventInput, 'id' | 'ts'>>({
      name: required(checkText),
      source: checkText,
      payload: anything,
      id: anything,
      ts: anything,
    }),
  ),
});

/** Options of closing a runtime. */
export interface CloseOptions {
  /** Milliseconds for runs under way; 0 when absent. */
  readonly drainMs?: number;
}

const checkCloseOptions = checker<CloseOptions>({ drainMs: timerMs(0) });

/** Runs scripts: owns the sandbox with its workers, the tools, the policy and the limits. Made by `createRuntime`. */
export class Runtime implements AsyncDisposable {
  /** Upper bounds for the limits of every run. */
  readonly limits: LimitValues;
  /** Receives spans and metrics of the runs. */
  readonly telemetry: Telemetry;
  readonly #context: InterpreterRuntime;
  #closing: Promise<void> | null = null;
  /** Aborted when `close` stops waiting. */
  readonly #hurry = new AbortController();

  /** Made by `createRuntime`. */
  constructor(sandbox: SandboxPort, settings: Settings) {
    this.limits = settings.limits;
    this.telemetry = settings.telemetry;
    let forks = 0;
    this.#context = {
      ...settings,
      retries: { count: 0 },
      sandbox,
      turn: rootTurn(settings.now),
      nextForkId: () => `fork-${++forks}`,
    };
  }

  /**
   * Workers that the host killed because they broke the protocol, let a program exceed a limit, or acted without a run. Each is a sign of
   * a defect or an attack.
   */
  get boundaryBreaches(): number {
    return this.#context.sandbox.boundaryBreaches ?? 0;
  }

  /** Runs of tenants that were refused: a budget was used up, or too many runs waited. */
  get tenantRefusals(): number {
    return this.#context.tenants.refused;
  }

  /** Further tries of calls whose tool was away. */
  get toolRetries(): number {
    return this.#context.retries.count;
  }

  /** The sandbox of the operating system that holds the workers. */
  get launcher(): 'bubblewrap' | 'unshare' | 'none' {
    return this.#context.sandbox.launcher?.cage?.name ?? 'none';
  }

  /** What the third ring, the confinement of the workers by the operating system, lacks on this machine; empty when it is complete. */
  get lacks(): readonly Lack[] {
    const { launcher, confinement } = this.#context.sandbox;
    return launcher === undefined || confinement === undefined ? [] : lacksOf({ launcher, confinement });
  }

  /** The worker processes and runs at this moment, for metrics. */
  stats(): RuntimeStats {
    return statsOf(this.#context);
  }

  /** The limits and the usage of a tenant. Limits given here apply from now on. Throws {@link ConfigError}. */
  tenant(tenant: string | TenantInit): TenantReport {
    const { tenants } = this.#context;
    return tenants.report(tenants.named(tenant));
  }

  /** Charges a tenant for usage by the application, such as the tokens of a model. Throws {@link ConfigError}. */
  charge(tenant: string | TenantInit, used: Partial<TenantUse>): void {
    checkTenantUse('what a tenant used', used);
    const { tenants } = this.#context;
    tenants.charge(tenants.named(tenant), used);
  }

  /** A root interpreter with its own definitions, globals and call counters. Throws {@link ConfigError} for a bad host. */
  interpreter(options: InterpreterOptions = {}): Interpreter {
    this.#mustBeOpen();
    checkInterpreterOptions('the options of an interpreter', options);
    return this.#root(options);
  }

  /** A context for one operation, derived from the runtime's own; the caller closes it. Throws as `TurnContext.derive`. */
  turn(init: TurnInit): TurnContext {
    this.#mustBeOpen();
    return this.#context.turn.derive(init);
  }

  /**
   * Runs one source in a sandbox of its own. Resolves for everything that a script, a limit or a cancellation does;
   * rejects with {@link ConfigError}, {@link RuntimeClosedError} and `BusyError`.
   *
   * @example
   * ```ts
   * import { createRuntime } from 'neuroscript-runtime';
   *
   * await using runtime = await createRuntime();
   * const result = await runtime.run('command\n  emit name\nendcommand', { values: { name: 'Ada' } });
   * if (result.ok) console.log(result.emits);
   * else console.log(result.error.code, result.error.message);
   * ```
   */
  async run(source: string, options: RunOptions = {}): Promise<RunResult> {
    checkRunOptions('the options of a run', options);
    this.#mustBeOpen();
    const { session, tenant } = options;
    const identity = {
      sessionId: session,
      tenant: tenant === undefined ? undefined : this.#context.tenants.named(tenant),
    };
    using turn = session === undefined && tenant === undefined ? null : this.turn(identity);
    const { fork, request } = this.#oneOff(source, options, turn);
    return await fork.runRequest(request);
  }

  /**
   * Foresees the effects of {@link run} with the same source and options, without running it: every call that the program can make, with
   * its known arguments, number, conditions and verdict of the policies, and the maximum usage of the run. Pass the result as `bound` of
   * a run to enforce it. Rejects as {@link check}.
   *
   * @example
   * ```ts
   * import { createRuntime } from 'neuroscript-runtime';
   *
   * await using runtime = await createRuntime();
   * const source = 'command\n  call tool.shop.Buy("tea", 2)\nendcommand';
   * const foreseen = await runtime.foresee(source);
   * if (foreseen.ok) for (const { name, most, verdict } of foreseen.preview.calls) console.log(name, most, verdict?.reason);
   * ```
   */
  async foresee(source: string, options: RunOptions = {}): Promise<ForeseeResult> {
    checkRunOptions('the options of a run', options);
    this.#mustBeOpen();
    const { fork, request } = this.#oneOff(source, options, null);
    return await fork.foresee(request);
  }

  /**
   * Reads sources without running them: their syntax errors, what each file defines, and which of them are only incomplete, as
   * input at a prompt may be. Rejects as {@link check}.
   */
  async parse(sources: readonly Source[]): Promise<ParseOutcome> {
    this.#mustBeOpen();
    checkSources('sources', sources);
    return this.#context.sandbox.parse(sources, this.limits.sourceBytes, callDepth());
  }

  /**
   * Looks for mistakes without running anything, in sources that would run together. Reports every syntax error; when there is none, the
   * linter's findings and the fuel of each block. For each file that parses, reports its definitions and the tools that it calls. Rejects
   * with `ERR_TIMEOUT` or `ERR_WORKER` for a source that crashes the parser.
   */
  async check(sources: readonly Source[], options: CheckOptions = {}): Promise<CheckReport> {
    this.#mustBeOpen();
    checkSources('sources', sources);
    const { sandbox, registry, policy } = this.#context;
    const { sourceBytes } = this.limits;
    const depth = callDepth();
    // The policy stays on the host: the worker only learns the verdicts on the tools that are called.
    const called = (await sandbox.parse(sources, sourceBytes, depth)).files.flatMap(({ tools }) => tools);
    const report = await sandbox.check(sources, sourceBytes, checkEnvironment(options, registry, policy, called), depth);
    return policy === null || options.policy === false ? report : withBrokenRules(report, sources, this.#context, policy);
  }

  /** Gives a source its canonical layout. A source with syntax errors is unchanged. Rejects as {@link check}. */
  async format(source: Source): Promise<FormatReport> {
    this.#mustBeOpen();
    checkSources('sources', [source]);
    return this.#context.sandbox.format(source, this.limits.sourceBytes, callDepth());
  }

  /**
   * Ends a session: removes its sandbox directory and disposes of the objects behind its handles. The host loop does this by
   * itself. Rejects as the file system does.
   */
  async endSession(sessionId: string): Promise<void> {
    await this.#context.resources.end(sessionId);
  }

  /**
   * Cancels all runs, ends the workers, and ends all sessions as {@link endSession} does. With `drainMs`, refuses new runs at once and
   * gives runs under way so many milliseconds to end; a second `close` ends the wait. Idempotent.
   */
  close(options: CloseOptions = {}): Promise<void> {
    checkCloseOptions('the options of close', options);
    const { drainMs = 0 } = options;
    if (drainMs === 0 || this.#closing !== null) this.#hurry.abort();
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The fork and the request of a run with a root of its own. */
  #oneOff(source: string, options: RunOptions, turn: TurnContext | null): { readonly fork: Fork; readonly request: RunRequest } {
    const { host, actor, stores, symbols, signers, tools, policy, session: _, tenant: __, ...rest } = options;
    const interpreter = this.#root({ host, actor, stores, symbols, signers, callsMade: undefined });
    const fork = interpreter.fork({
      ...(turn === null ? {} : { turn }),
      tools,
      policy,
    });
    return { fork, request: requestOf(source, rest) };
  }

  #root({ host, actor, stores, symbols, signers, callsMade }: Connection): Interpreter {
    const init = { host: hostOf(host, actor), stores: createStores(stores), symbols, signers, callsMade };
    return new Interpreter(this.#context, init);
  }

  async #close(drainMs: number): Promise<void> {
    if (!this.#hurry.signal.aborted) {
      const over = sleep(drainMs, undefined, { signal: this.#hurry.signal }).catch(() => {});
      await Promise.race([this.#context.sandbox.drain?.(), over]);
      this.#hurry.abort();
    }
    this.#context.turn.close();
    await this.#context.sandbox.close();
    await this.#context.resources.close();
  }

  #mustBeOpen(): void {
    if (this.#closing !== null) throw new RuntimeClosedError();
  }
}

/** The sources of libraries without names: `lib`, `lib2` and so on. */
export function librarySources(texts: readonly string[]): readonly Source[] {
  return texts.map((text, index) => ({ name: index === 0 ? 'lib' : `lib${index + 1}`, text, definitions: true }));
}

/** The options of a run that belong to its request. */
type RequestOptions = Omit<RunOptions, 'tools' | 'policy' | 'session' | 'tenant' | keyof InterpreterOptions>;

/** The request of a run in wire form. Throws {@link ConfigError} for values that no script can hold. */
function requestOf(
  source: string,
  { lib = [], name = 'src', call, events = [], values = {}, ...settings }: RequestOptions,
): RunRequest {
  checkText('the program', source);
  const libraries = librarySources(typeof lib === 'string' ? [lib] : lib);
  const args = (call?.args ?? []).map((arg, index) => toTagged(`argument ${index + 1}`, arg));
  const tagged = Object.entries(values).map(([key, value]) => [key, toTagged(`the value '${key}'`, value)] as const);
  return {
    ...settings,
    globals: { ...settings.globals, ...Object.fromEntries(tagged) },
    sources: [...libraries, { name, text: source }],
    call: call === undefined ? undefined : { name: call.name, args },
    events: events.map((event) => ({
      name: event.name,
      source: event.source ?? '',
      payload: toTagged(`the payload of '${event.name}'`, event.payload),
    })),
  };
}

/** A silent host context is frozen and holds nothing, so all interpreters can share it. */
const SILENT_HOST = createHostContext({ logger: SILENT_LOGGER });

function hostOf(host: Connection['host'], actor: Connection['actor']): HostContext {
  if (host !== undefined && isHostContext(host)) {
    if (actor !== undefined) throw new ConfigError('the actor belongs to the host context, which has been made already');
    return host;
  }
  if (host === undefined) return actor === undefined ? SILENT_HOST : createHostContext({ logger: SILENT_LOGGER, actor });
  // An application that connects a host must choose its logger.
  return createHostContext(actor === undefined ? host : { actor, ...host });
}
