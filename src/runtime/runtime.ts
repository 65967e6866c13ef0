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
import { type LimitOptions, type ParseOutcome, resolveLimits } from '../sandbox/index.ts';
import {
  type AuditRecord,
  type Policy,
  type PolicyOptions,
  SessionResources,
  type ToolDefinition,
  ToolRegistry,
} from '../tools/index.ts';
import { ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import { checkCallback, checkList, checkObject, checkOptions, checkText, type KeysOf } from '../wire/options.ts';
import type { CheckReport, FormatReport, Source } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import type { AskHandler } from './ask.ts';
import { type CheckOptions, surroundings } from './catalogue.ts';
import type { SymbolTable } from './definitions.ts';
import type { ExecuteOptions } from './fork.ts';
import { asPolicy, checkCallLimits, Interpreter, type RuntimeScope } from './interpreter.ts';
import type { SandboxPort } from './port.ts';
import { CALL_KEYS, checkSources, EVENT_KEYS } from './request.ts';
import { toTagged } from './values.ts';

/** What a runtime is made of, apart from its sandbox. */
export interface RuntimeSettings {
  readonly tools?: readonly ToolDefinition[];
  /** Absent: deny every tool. Null: no policy at all, which denies as well and says so. */
  readonly policy?: Policy | PolicyOptions | null;
  /** What is absent keeps its default; forks and runs can only tighten. */
  readonly limits?: LimitOptions;
  /** Receives a record of every tool call, those that tools make themselves included. */
  readonly audit?: (record: AuditRecord) => void;
  /** Answers `ask`: `askHandler` of `neuroscript-runtime/loop`. Without it no agent can be asked (code 9). */
  readonly ask?: AskHandler;
  /** Unix milliseconds, for deadlines; the system's clock when absent. */
  readonly now?: () => number;
  /** The directory in which sessions get one of their own; the system's for temporary files when absent. */
  readonly sandboxRoot?: string;
}

/** Checked {@link RuntimeSettings}. */
export type Settings = Pick<RuntimeScope, 'registry' | 'policy' | 'limits' | 'audit' | 'now' | 'resources' | 'ask'>;

/** Throws {@link ConfigError} (`ERR_CONFIG`) for settings that cannot be used. */
export function checkSettings(settings: RuntimeSettings): Settings {
  const { tools = [], policy = {}, limits = {}, audit, now = Date.now, sandboxRoot, ask } = settings;
  if (sandboxRoot !== undefined) checkText('sandboxRoot', sandboxRoot);
  checkCallback('audit', audit);
  checkCallback('now', now);
  checkCallback('ask', ask);
  const registry = new ToolRegistry(tools);
  const checked = policy === null ? null : asPolicy(policy);
  checkCallLimits(checked, registry);
  return {
    registry,
    policy: checked,
    limits: Object.freeze(resolveLimits('run', limits)),
    audit,
    now,
    resources: new SessionResources(sandboxRoot),
    ask,
  };
}

/** How a root interpreter is connected. */
export interface InterpreterOptions {
  /** The fields of a host context, or one that was made with `createHostContext`; a silent one when absent. */
  readonly host?: HostContext | HostContextInit;
  /** The actor, where `host` does not name one. */
  readonly actor?: Actor;
  /** Accounts, agent models and capsules; empty ones in place of those that are absent. Several roots may share them. */
  readonly stores?: Partial<Stores>;
  /** Procedures, handlers and constants that the host supplies; nothing loaded may have a name of them. */
  readonly symbols?: SymbolTable;
  /** Ed25519 public keys, base64url: then only units signed with one of them are loaded. */
  readonly signers?: readonly string[];
}

/** A run of its own: a root interpreter that lives for one run. */
export interface RunOptions extends Omit<ExecuteOptions, 'globals'>, InterpreterOptions {
  /** Definitions, loaded first. A command block in them is `ERR_USAGE`, and nothing runs. */
  readonly lib?: string | readonly string[];
  /** A procedure to call after the command blocks, with JavaScript values as arguments. */
  readonly call?: { readonly name: string; readonly args?: readonly unknown[] };
  /** JavaScript values. */
  readonly globals?: Readonly<Record<string, unknown>>;
  /** Delivered last; payloads are JavaScript values. */
  readonly events?: readonly { readonly name: string; readonly source?: string; readonly payload?: unknown }[];
}

const INTERPRETER_KEYS: KeysOf<InterpreterOptions> = { host: true, actor: true, stores: true, symbols: true, signers: true };

const RUN_KEYS: KeysOf<RunOptions> = {
  ...INTERPRETER_KEYS,
  lib: true,
  name: true,
  call: true,
  globals: true,
  events: true,
  limits: true,
  signal: true,
  turn: true,
  checkFirst: true,
  onOut: true,
  onCall: true,
};

/** Runs scripts: owns the sandbox with its workers, the tools, the policy and the limits. Made by `createRuntime`. */
export class Runtime implements AsyncDisposable {
  /** What every run gets at most. */
  readonly limits: LimitValues;
  readonly #scope: RuntimeScope;
  #closing: Promise<void> | null = null;

  /** Runtimes are made by `createRuntime`. */
  constructor(sandbox: SandboxPort, settings: Settings) {
    this.limits = settings.limits;
    let forks = 0;
    this.#scope = { ...settings, sandbox, turn: rootTurn(settings.now), nextId: () => `fork-${++forks}` };
  }

  /** A root interpreter with its own definitions, globals and call counters. Throws {@link ConfigError} for a bad host. */
  interpreter(options: InterpreterOptions = {}): Interpreter {
    this.#mustBeOpen();
    checkOptions('the options of an interpreter', options, INTERPRETER_KEYS);
    const { stores, symbols, signers } = options;
    return new Interpreter(this.#scope, { host: hostOf(options), stores: createStores(stores), symbols, signers });
  }

  /** A context for one operation, derived from the runtime's own; the caller closes it. Throws as `TurnContext.derive`. */
  turn(init: TurnInit): TurnContext {
    this.#mustBeOpen();
    return this.#scope.turn.derive(init);
  }

  /**
   * Runs one source in a sandbox of its own. Resolves for everything that a script, a limit or a cancellation does;
   * rejects with {@link ConfigError}, {@link RuntimeClosedError} and `BusyError`.
   */
  async run(source: string, options: RunOptions = {}): Promise<RunResult> {
    checkOptions('the options of a run', options, RUN_KEYS);
    const { lib = [], name = 'src', call, globals = {}, events = [], host, actor, stores, symbols, signers, ...rest } = options;
    const interpreter = this.interpreter({
      ...(host === undefined ? {} : { host }),
      ...(actor === undefined ? {} : { actor }),
      ...(stores === undefined ? {} : { stores }),
      ...(symbols === undefined ? {} : { symbols }),
      ...(signers === undefined ? {} : { signers }),
    });
    checkObject('globals', globals);
    for (const [key, value] of Object.entries(globals)) interpreter.setGlobal(key, value);
    const texts = typeof lib === 'string' ? [lib] : lib;
    checkList('lib', texts);
    const libraries = texts.map((text, index) => ({
      name: index === 0 ? 'lib' : `lib${index + 1}`,
      text,
      definitions: true,
    }));
    if (call !== undefined) checkOptions('call', call, CALL_KEYS);
    checkList('events', events);
    for (const event of events) checkOptions('an event', event, EVENT_KEYS);
    return interpreter.fork().perform({
      ...rest,
      sources: [...libraries, { name, text: source }],
      ...(call === undefined
        ? {}
        : { call: { name: call.name, args: (call.args ?? []).map((arg, index) => toTagged(`argument ${index + 1}`, arg)) } }),
      events: events.map((event) => ({
        name: event.name,
        source: event.source ?? '',
        payload: toTagged(`the payload of '${event.name}'`, event.payload),
      })),
    });
  }

  /**
   * Reads sources without running them: their syntax errors, what each file defines, and which of them only lack their rest, as
   * what is being typed at a prompt does. Rejects as {@link check}.
   */
  async parse(sources: readonly Source[]): Promise<ParseOutcome> {
    this.#mustBeOpen();
    checkSources(sources);
    return this.#scope.sandbox.parse(sources, this.limits.sourceBytes);
  }

  /**
   * Looks for mistakes without running anything, in sources that would run together: every syntax error; when there is
   * none, what the linter says, and how much fuel each block takes. Of each file that parses also what it defines and which
   * tools it calls. Rejects with `ERR_TIMEOUT` or `ERR_WORKER` for a source that brings the parser down.
   */
  async check(sources: readonly Source[], options: CheckOptions = {}): Promise<CheckReport> {
    this.#mustBeOpen();
    checkSources(sources);
    const { sandbox, registry, policy } = this.#scope;
    const { sourceBytes } = this.limits;
    // The policy is the host's; the worker only learns what it says about the tools that are called.
    const called = (await sandbox.parse(sources, sourceBytes)).files.flatMap(({ tools }) => tools);
    return sandbox.check(sources, sourceBytes, surroundings(options, registry, policy, called));
  }

  /** Gives a source its canonical layout; what has syntax errors is left alone. Rejects as {@link check}. */
  async format(source: Source): Promise<FormatReport> {
    this.#mustBeOpen();
    checkSources([source]);
    return this.#scope.sandbox.format(source, this.limits.sourceBytes);
  }

  /**
   * Says that a session has ended: its sandbox directory is removed, and the objects behind its handles are ended. The host
   * loop does this by itself. Rejects as the file system does.
   */
  async endSession(sessionId: string): Promise<void> {
    await this.#scope.resources.end(sessionId);
  }

  /** Cancels what is running, ends the workers, and all sessions as {@link endSession} does. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#scope.turn.close();
    await this.#scope.sandbox.close();
    await this.#scope.resources.close();
  }

  #mustBeOpen(): void {
    if (this.#closing !== null) throw new RuntimeClosedError();
  }
}

/** What is frozen and says nothing can be the same for all. */
const SILENT_HOST = createHostContext({ logger: SILENT_LOGGER });

function hostOf({ host, actor }: InterpreterOptions): HostContext {
  if (host !== undefined && isHostContext(host)) {
    if (actor !== undefined) throw new ConfigError('the actor belongs to the host context, which has been made already');
    return host;
  }
  if (host === undefined) return actor === undefined ? SILENT_HOST : createHostContext({ logger: SILENT_LOGGER, actor });
  // Whoever connects a root says where its log goes (CTX-2A-4).
  return createHostContext(actor === undefined ? host : { actor, ...host });
}
