import { currentTurn, type HostContext, readersOf, type Stores, TurnContext } from '../context/index.ts';
import { checkLimits, tighten } from '../sandbox/index.ts';
import { type CallHistory, callDepth, type LibraryEntry, PolicyGuard } from '../tools/index.ts';
import { ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import { anything, checker, checkFlag } from '../wire/options.ts';
import type { Source, TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { askPort } from './ask.ts';
import { TextBuffers } from './buffers.ts';
import type { RootContext, RunContext, RuntimeContext } from './context.ts';
import { Definitions, type SymbolTable } from './definitions.ts';
import { Deliveries } from './deliveries.ts';
import { Fork, type ForkOptions } from './fork.ts';
import type { EventOptions, ExecuteOptions, RunSettings } from './request.ts';
import { checkPolicy, type Settings } from './settings.ts';
import type { SignedUnit } from './signedunits.ts';
import { checkGlobalName, toTagged } from './values.ts';

const checkForkOptions = checker<ForkOptions>({
  turn: anything,
  limits: anything,
  tools: anything,
  policy: anything,
  id: anything,
});
const checkConstantOptions = checker<{ readonly redefine?: boolean }>({ redefine: checkFlag });

/** The parts of a runtime that its interpreters use. */
export interface InterpreterRuntime extends Settings, RuntimeContext {
  readonly nextForkId: () => string;
}

/** Parts of a root interpreter. */
export interface InterpreterInit {
  readonly host: HostContext;
  readonly stores: Stores;
  readonly symbols: SymbolTable | undefined;
  readonly signers: readonly string[] | undefined;
  readonly callsMade: Readonly<Record<string, number>> | undefined;
}

/**
 * A root interpreter: one host context, the definitions and globals that its forks share, and call counters that span them all. It
 * runs nothing itself: everything runs in a fork.
 */
export class Interpreter {
  /** Made with the interpreter; the same object in every fork. */
  readonly host: HostContext;
  /** Accounts, agent models and capsules: the same objects in every fork, where tools can read them. */
  readonly stores: Stores;
  /** The whispers of its forks outside of turns, by target. */
  readonly buffers: TextBuffers = new TextBuffers();
  readonly #runtime: InterpreterRuntime;
  readonly #root: RootContext;
  readonly #guard: PolicyGuard;
  readonly #globals = new Map<string, TaggedJson>();

  /** Made by `Runtime.interpreter`. */
  constructor(runtime: InterpreterRuntime, { host, stores, symbols, signers, callsMade }: InterpreterInit) {
    this.#runtime = runtime;
    this.host = host;
    this.stores = stores;
    this.#guard = new PolicyGuard(runtime.policy, callsMade);
    const parse = (source: Source) => runtime.sandbox.parse([source], runtime.limits.sourceBytes, callDepth());
    const definitions = new Definitions({ symbols, signers, parse });
    this.#root = Object.freeze({
      host,
      stores,
      readers: readersOf(stores),
      definitions,
      toolDefinitions: Object.freeze({
        append: (source: string, name?: string) => definitions.append(source, name),
        signatures: () => definitions.signatures(),
        constantProblem: (name: string, redefine: boolean) => this.#constantProblem(name, redefine),
        setConstant: (name: string, value: TaggedJson) => definitions.setConstant(name, value),
      }),
      buffers: this.buffers,
      deliveries: new Deliveries(),
    });
    Object.freeze(this);
  }

  /** The context of the current code: that of its turn, else the runtime's own. */
  get turn(): TurnContext {
    return currentTurn() ?? this.#runtime.turn;
  }

  /** The calls so far of the tools that have a call limit, by canonical name. A later interpreter can continue from them. */
  get callsMade(): Readonly<Record<string, number>> {
    return this.#guard.callsMade;
  }

  /** Names of the loaded procedures, in the order of their libraries, without those of the host's symbols. */
  get procedures(): readonly string[] {
    return this.#root.definitions.procedures;
  }

  /** The procedures that programs of its forks can call, for `agentBrief`: a new list after each load. Without those of the host's symbols. */
  get library(): readonly LibraryEntry[] {
    return this.#root.definitions.entries;
  }

  /**
   * Replaces all definitions by those of a library. Nothing is executed, and nothing changes when it fails. Rejects with
   * {@link LibraryError} (`ERR_CONFIG`) for syntax errors, for command blocks, which {@link execute} runs, and for a name that the
   * host supplies; with {@link UnitError} (`NS99901`) for a signature that is wrong or missing.
   */
  async load(source: string | SignedUnit, name?: string): Promise<void> {
    this.#mustBeOpen();
    await this.#root.definitions.load(source, name);
  }

  /** Adds the definitions of a library. Rejects as {@link load}, and when a procedure exists already. */
  async append(source: string | SignedUnit, name?: string): Promise<void> {
    this.#mustBeOpen();
    await this.#root.definitions.append(source, name);
  }

  /**
   * Defines or changes a global. Forks that are made later get a copy of it. Throws {@link ConfigError} (`ERR_CONFIG`) for a name that no
   * script can write or that a constant has, and for a value that no script can hold.
   */
  setGlobal(name: string, value: unknown): void {
    if (this.#root.definitions.constants.has(name)) throw new ConfigError(`there is a global constant '${name}'`);
    this.#globals.set(checkGlobalName(name), toTagged(`the global '${name}'`, value));
  }

  /**
   * Defines a global constant: every fork of this root reads it from its next run on. The host may always do this; a program
   * needs a tool that requires trust. Throws {@link ConfigError} (`ERR_CONFIG`) for a name that is taken; `redefine` gives an
   * existing constant another value.
   */
  defineConstant(name: string, value: unknown, options: { readonly redefine?: boolean } = {}): void {
    checkConstantOptions('the options of a constant', options);
    checkGlobalName(name);
    const problem = this.#constantProblem(name, options.redefine ?? false);
    if (problem !== null) throw new ConfigError(`the constant '${name}' cannot be defined: ${problem}`);
    this.#root.definitions.setConstant(name, toTagged(`the constant '${name}'`, value));
  }

  /** The definitions and constants of this root as plain JSON. Another root takes them as its `symbols`. */
  symbols(): SymbolTable {
    return this.#root.definitions.export();
  }

  /** A sandbox for one operation. Throws {@link ConfigError} (`ERR_CONFIG`) for limits, tools or a policy that cannot be used. */
  fork(options: ForkOptions = {}): Fork {
    checkForkOptions('the options of a fork', options);
    const replaced = options.policy !== undefined && !this.#runtime.hasPolicy;
    return this.#fork(replaced ? [] : [this.#guard], options);
  }

  #fork(outerGuards: readonly PolicyGuard[], options: ForkOptions, history: CallHistory | null = null): Fork {
    this.#mustBeOpen();
    const { registry, limits, nextForkId, ask } = this.#runtime;
    if (options.turn !== undefined && !(options.turn instanceof TurnContext))
      throw new ConfigError('turn of a fork must be a TurnContext; make one with runtime.turn()');
    const own = options.policy === undefined ? [] : [new PolicyGuard(checkPolicy(options.policy, registry))];
    const guards = [...outerGuards, ...own];
    const forkId = options.id ?? nextForkId();
    const context: RunContext = {
      runtime: this.#runtime,
      root: this.#root,
      forkId,
      turn: options.turn ?? this.turn,
      tools: registry.forFork(forkId, options.tools),
      guards,
      limits: options.limits === undefined ? limits : tighten(limits, checkLimits(options.limits)),
      globals: new Map(this.#globals),
      history,
      asks: ask === undefined ? null : (run) => askPort(ask, run, (nested, own) => this.#fork(guards, nested, own)),
    };
    return new Fork(Object.freeze(context));
  }

  /** Runs command blocks in a fork. Resolves and rejects as `Fork.runRequest`. */
  async execute(source: string, options: ExecuteOptions = {}): Promise<RunResult> {
    return this.fork().execute(source, options);
  }

  /** Calls a procedure in a fork; `result` of the result is what it returned. Resolves and rejects as `Fork.runRequest`. */
  async run(procedure: string, args: readonly unknown[] = [], settings: RunSettings = {}): Promise<RunResult> {
    return this.fork().run(procedure, args, settings);
  }

  /** Delivers an event to every handler of its name, each in a fork, and only once for every id: see `Fork.emitEvent`. */
  async emitEvent(name: string, source: string, payload: unknown, options: EventOptions = {}): Promise<RunResult> {
    return this.fork().emitEvent(name, source, payload, options);
  }

  #constantProblem(name: string, redefine: boolean): string | null {
    if (name === 'self' || this.#globals.has(name)) return `there is a global '${name}'`;
    return this.#root.definitions.constantProblem(name, redefine);
  }

  #mustBeOpen(): void {
    if (this.#runtime.turn.closed) throw new RuntimeClosedError();
  }
}
