import { currentTurn, type HostContext, readersOf, type StoreReaders, type Stores, TurnContext } from '../context/index.ts';
import { checkLimits, type LimitOptions, tighten } from '../sandbox/index.ts';
import {
  type AuditRecord,
  callDepth,
  Policy,
  PolicyGuard,
  type PolicyOptions,
  type RootDefinitions,
  type SessionResources,
  type ToolDefinition,
  type ToolRegistry,
} from '../tools/index.ts';
import { ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import { checkOptions, type KeysOf } from '../wire/options.ts';
import type { Source, TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import type { AskHandler } from './ask.ts';
import { TextBuffers } from './buffers.ts';
import { Definitions, type SymbolTable } from './definitions.ts';
import { Deliveries } from './deliveries.ts';
import { type EventOptions, type ExecuteOptions, Fork, type RunningOptions } from './fork.ts';
import type { SandboxPort } from './port.ts';
import type { SignedUnit } from './signedunits.ts';
import { checkGlobalName, toTagged } from './values.ts';

/** What makes a fork differ from its root. */
export interface ForkOptions {
  /** A context derived for this operation; otherwise the one in whose name the code runs that forks. */
  readonly turn?: TurnContext;
  /** Only ever tighten what the runtime allows. */
  readonly limits?: LimitOptions;
  /** Tools of this fork alone. They need no entry in an allow list; every other rule of a policy holds for them. */
  readonly tools?: readonly ToolDefinition[];
  /** Must admit a call in addition to the runtime's policy. */
  readonly policy?: Policy | PolicyOptions;
  /** In place of the next id of the runtime, to repeat a recorded run. */
  readonly id?: string;
}

const FORK_KEYS: KeysOf<ForkOptions> = { turn: true, limits: true, tools: true, policy: true, id: true };

/** What a runtime brings to its interpreters. */
export interface RuntimeScope {
  readonly sandbox: SandboxPort;
  readonly registry: ToolRegistry;
  readonly policy: Policy | null;
  readonly limits: LimitValues;
  readonly turn: TurnContext;
  readonly now: () => number;
  readonly nextId: () => string;
  readonly audit: ((record: AuditRecord) => void) | undefined;
  readonly resources: SessionResources;
  readonly ask: AskHandler | undefined;
}

/** What a root is made with. */
export interface InterpreterInit {
  readonly host: HostContext;
  readonly stores: Stores;
  readonly symbols: SymbolTable | undefined;
  readonly signers: readonly string[] | undefined;
}

/**
 * A root interpreter: one host context, the definitions and globals that its forks share, and call counters that span
 * them all. It runs nothing itself: everything runs in a fork.
 */
export class Interpreter {
  /** Made with the interpreter and the same object in every fork. */
  readonly host: HostContext;
  /** Accounts, agent models and capsules: the same objects in every fork, where tools can read them (CTX-3-4). */
  readonly stores: Stores;
  /** What its forks whispered outside of turns, by target. */
  readonly buffers: TextBuffers = new TextBuffers();
  readonly #readers: StoreReaders;
  readonly #runtime: RuntimeScope;
  readonly #guard: PolicyGuard;
  readonly #globals = new Map<string, TaggedJson>();
  readonly #definitions: Definitions;
  readonly #deliveries = new Deliveries();
  readonly #root: RootDefinitions;

  /** Interpreters are made by `Runtime.interpreter`. */
  constructor(runtime: RuntimeScope, init: InterpreterInit) {
    const { host, stores, symbols, signers } = init;
    this.#runtime = runtime;
    this.host = host;
    this.stores = stores;
    this.#readers = readersOf(stores);
    this.#guard = new PolicyGuard(runtime.policy);
    const parse = (source: Source) => runtime.sandbox.parse([source], runtime.limits.sourceBytes, callDepth());
    this.#definitions = new Definitions({ symbols, signers, parse });
    this.#root = Object.freeze({
      append: (source: string, name?: string) => this.#definitions.append(source, name),
      signatures: () => this.#definitions.signatures(),
      constantProblem: (name: string, redefine: boolean) => this.#refusesConstant(name, redefine),
      setConstant: (name: string, value: TaggedJson) => this.#definitions.setConstant(name, value),
    });
    Object.freeze(this);
  }

  /** The context in whose name the current code runs: that of the turn it serves, else the runtime's own. */
  get turn(): TurnContext {
    return currentTurn() ?? this.#runtime.turn;
  }

  /** Names of the procedures loaded so far, in the order of their libraries; those of the host's symbols are not among them. */
  get procedures(): readonly string[] {
    return this.#definitions.procedures;
  }

  /**
   * Replaces all definitions by those of a library; nothing is executed, and nothing changes when it fails. Rejects with
   * {@link LibraryError} (`ERR_CONFIG`) for syntax errors, for command blocks, which belong to {@link execute}, and for a name
   * that the host supplies; with {@link UnitError} (`NS99901`) for a signature that does not fit or is missing.
   */
  async load(source: string | SignedUnit, name?: string): Promise<void> {
    this.#mustBeOpen();
    await this.#definitions.load(source, name);
  }

  /** Adds the definitions of a library. Rejects as {@link load}, and when it defines a procedure that is there already. */
  async append(source: string | SignedUnit, name?: string): Promise<void> {
    this.#mustBeOpen();
    await this.#definitions.append(source, name);
  }

  /**
   * Defines or changes a global: forks made from now on find a copy of it. Throws {@link ConfigError} (`ERR_CONFIG`) for a
   * name that no script can write or that a constant has, and for a value that no script can hold.
   */
  setGlobal(name: string, value: unknown): void {
    if (this.#definitions.constants.has(name)) throw new ConfigError(`there is a global constant '${name}'`);
    this.#globals.set(checkGlobalName(name), toTagged(`the global '${name}'`, value));
  }

  /**
   * Defines a global constant (language.md 9.8): every fork of this root reads it from its next run on, whenever it was made. The
   * host is trusted; programs need a tool that requires trust. Throws {@link ConfigError} (`ERR_CONFIG`) for a name that means
   * something already ("no override"); `redefine` lets a constant get another value.
   */
  defineConstant(name: string, value: unknown, options: { readonly redefine?: boolean } = {}): void {
    checkOptions('the options of a constant', options, { redefine: true });
    checkGlobalName(name);
    const refused = this.#refusesConstant(name, options.redefine ?? false);
    if (refused !== null) throw new ConfigError(`the constant '${name}' cannot be defined: ${refused}`);
    this.#definitions.setConstant(name, toTagged(`the constant '${name}'`, value));
  }

  /** What this root knows, for roots to come: pass it as their `symbols`, perhaps after keeping it as JSON (language.md 10.8). */
  symbols(): SymbolTable {
    return this.#definitions.export();
  }

  /** A sandbox for one operation. Throws {@link ConfigError} (`ERR_CONFIG`) for limits, tools or a policy that cannot be. */
  fork(options: ForkOptions = {}): Fork {
    checkOptions('the options of a fork', options, FORK_KEYS);
    return this.#fork([this.#guard], options);
  }

  #fork(guards: readonly PolicyGuard[], options: ForkOptions): Fork {
    const { sandbox, registry, limits, now, audit, nextId, resources, ask } = this.#runtime;
    if (options.turn !== undefined && !(options.turn instanceof TurnContext))
      throw new ConfigError('turn of a fork must be a TurnContext; make one with runtime.turn()');
    const own = options.policy === undefined ? [] : [new PolicyGuard(asPolicy(options.policy))];
    for (const { policy } of own) checkCallLimits(policy, registry);
    const forkId = options.id ?? nextId();
    const fixed = {
      sandbox,
      forkId,
      host: this.host,
      turn: options.turn ?? this.turn,
      view: registry.forFork(forkId, options.tools),
      guards: [...guards, ...own],
      limits: options.limits === undefined ? limits : tighten(limits, checkLimits(options.limits)),
      globals: new Map(this.#globals),
      now,
      audit,
      stores: this.stores,
      readers: this.#readers,
      resources,
      deliveries: this.#deliveries,
      buffers: this.buffers,
      root: this.#root,
      ask,
      nested: (outer: readonly PolicyGuard[], nested: ForkOptions) => this.#fork(outer, nested),
    };
    return new Fork(() => {
      this.#mustBeOpen();
      const { sources, constants } = this.#definitions;
      return { ...fixed, libraries: sources, constants };
    });
  }

  /** Runs command blocks in a fork. Resolves and rejects as `Fork.perform`. */
  async execute(source: string, options: ExecuteOptions = {}): Promise<RunResult> {
    return this.fork().execute(source, options);
  }

  /** Calls a procedure in a fork; `result` of the result is what it returned. Resolves and rejects as `Fork.perform`. */
  async run(procedure: string, args: readonly unknown[] = [], options: RunningOptions = {}): Promise<RunResult> {
    return this.fork().run(procedure, args, options);
  }

  /** Delivers an event to every handler of its name, each in a fork, once for every id: see `Fork.emitEvent`. */
  async emitEvent(name: string, source: string, payload: unknown, options: EventOptions = {}): Promise<RunResult> {
    return this.fork().emitEvent(name, source, payload, options);
  }

  #refusesConstant(name: string, redefine: boolean): string | null {
    if (name === 'self' || this.#globals.has(name)) return `there is a global '${name}'`;
    return this.#definitions.refuses(name, redefine);
  }

  #mustBeOpen(): void {
    if (this.#runtime.turn.closed) throw new RuntimeClosedError();
  }
}

/** Throws {@link ConfigError} for a limit of calls that nobody would count: those of a pure tool never come to the host. */
export function checkCallLimits(policy: Policy | null, registry: ToolRegistry): void {
  for (const name of policy?.toolMaxCalls.keys() ?? [])
    if (registry.lookup(name)?.where === 'isolate')
      throw new ConfigError(
        `toolMaxCalls cannot bound ${name}: it runs inside the isolate, where fuel bounds it; deny it, or leave it out`,
      );
}

/** Checks a policy given as options. */
export function asPolicy(policy: Policy | PolicyOptions): Policy {
  return policy instanceof Policy ? policy : new Policy(policy);
}
