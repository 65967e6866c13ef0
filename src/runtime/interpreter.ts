import { currentTurn, type HostContext, readersOf, type StoreReaders, type Stores } from '../context/index.ts';
import { TurnContext } from '../context/turn.ts';
import { checkLimits, type LimitOptions, tighten } from '../sandbox/index.ts';
import {
  type AuditRecord,
  Policy,
  PolicyGuard,
  type PolicyOptions,
  type SessionBelongings,
  type ToolDefinition,
  type ToolRegistry,
} from '../tools/index.ts';
import { encode } from '../wire/codec.ts';
import { ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import { checkOptions, type KeysOf } from '../wire/options.ts';
import type { Diagnostic, LimitValues, ParsedFile, Source, TaggedJson } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { ValueError } from '../wire/values.ts';
import { type ExecuteOptions, Fork } from './fork.ts';
import { checkGlobalName } from './perform.ts';
import type { SandboxPort } from './port.ts';
import { checkSources } from './request.ts';

/** A library cannot be loaded. `diagnostics` holds every syntax error; it is empty when something else is wrong. */
export class LibraryError extends ConfigError {
  readonly diagnostics: readonly Diagnostic[];
  constructor(message: string, diagnostics: readonly Diagnostic[] = []) {
    super(message);
    this.diagnostics = diagnostics;
  }
}

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
  readonly belongings: SessionBelongings;
}

/** How a run differs that has no source of its own to name. */
type RunningOptions = Omit<ExecuteOptions, 'name'>;

interface Library {
  /** Frozen: what workers keep of it must not change. */
  readonly source: Source;
  readonly procedures: readonly string[];
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
  readonly #readers: StoreReaders;
  readonly #runtime: RuntimeScope;
  readonly #guard: PolicyGuard;
  readonly #globals = new Map<string, TaggedJson>();
  readonly #libraries: Library[] = [];
  /** Loading takes its turn, so that two loads at once end in the order in which they were asked for. */
  #loading: Promise<unknown> = Promise.resolve();

  /** Interpreters are made by `Runtime.interpreter`. */
  constructor(runtime: RuntimeScope, host: HostContext, stores: Stores) {
    this.#runtime = runtime;
    this.host = host;
    this.stores = stores;
    this.#readers = readersOf(stores);
    this.#guard = new PolicyGuard(runtime.policy);
    Object.freeze(this);
  }

  /** The context in whose name the current code runs: that of the turn it serves, else the runtime's own. */
  get turn(): TurnContext {
    return currentTurn() ?? this.#runtime.turn;
  }

  /** Names of the procedures loaded so far, in the order of their libraries. */
  get procedures(): readonly string[] {
    return this.#libraries.flatMap(({ procedures }) => procedures);
  }

  /**
   * Replaces all definitions by those of a library; nothing is executed, and nothing changes when it fails. Rejects with
   * {@link LibraryError} (`ERR_CONFIG`) for syntax errors and for command blocks, which belong to {@link execute}.
   */
  load(source: string, name = 'lib'): Promise<void> {
    return this.#inOrder(async () => {
      const library = await this.#parse({ name, text: source });
      this.#libraries.splice(0, this.#libraries.length, library);
    });
  }

  /** Adds the definitions of a library. Rejects as {@link load}, and when it defines a procedure that is there already. */
  append(source: string, name = `lib${this.#libraries.length + 1}`): Promise<void> {
    return this.#inOrder(async () => {
      const library = await this.#parse({ name, text: source });
      const taken = library.procedures.find((procedure) => this.procedures.includes(procedure));
      if (taken !== undefined) throw new LibraryError(`${name}: there is a procedure '${taken}' already`);
      this.#libraries.push(library);
    });
  }

  /**
   * Defines or changes a global: forks made from now on find a copy of it. Throws {@link ConfigError} (`ERR_CONFIG`) for a
   * name that no script can write and for a value that no script can hold.
   */
  setGlobal(name: string, value: unknown): void {
    this.#globals.set(checkGlobalName(name), toTagged(`the global '${name}'`, value));
  }

  /** A sandbox for one operation. Throws {@link ConfigError} (`ERR_CONFIG`) for limits, tools or a policy that cannot be. */
  fork(options: ForkOptions = {}): Fork {
    checkOptions('the options of a fork', options, FORK_KEYS);
    const { sandbox, registry, limits, now, audit, nextId, belongings } = this.#runtime;
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
      view: registry.view(forkId, options.tools),
      guards: [this.#guard, ...own],
      limits: tighten(limits, checkLimits(options.limits ?? {})),
      globals: new Map(this.#globals),
      now,
      audit,
      stores: this.stores,
      readers: this.#readers,
      belongings,
    };
    return new Fork(() => {
      this.#mustBeOpen();
      return { ...fixed, libraries: this.#libraries.map(({ source }) => source) };
    });
  }

  /** Runs command blocks in a fork. Resolves and rejects as `Fork.perform`. */
  async execute(source: string, options: ExecuteOptions = {}): Promise<RunResult> {
    return this.fork().execute(source, options);
  }

  /** Calls a procedure in a fork; `result` of the result is what it returned. Resolves and rejects as `Fork.perform`. */
  async run(procedure: string, args: readonly unknown[] = [], options: RunningOptions = {}): Promise<RunResult> {
    const tagged = args.map((arg, index) => toTagged(`argument ${index + 1} of ${procedure}`, arg));
    return this.fork().perform({ ...options, call: { name: procedure, args: tagged } });
  }

  /** Delivers an event to every handler of its name, each in a fork. Resolves and rejects as `Fork.perform`. */
  async emitEvent(name: string, source: string, payload: unknown, options: RunningOptions = {}): Promise<RunResult> {
    const event = { name, source, payload: toTagged(`the payload of '${name}'`, payload) };
    return this.fork().perform({ ...options, events: [event] });
  }

  #inOrder(load: () => Promise<void>): Promise<void> {
    const done = this.#loading.then(load);
    this.#loading = done.catch(() => null);
    return done;
  }

  #mustBeOpen(): void {
    if (this.#runtime.turn.closed) throw new RuntimeClosedError();
  }

  async #parse(source: Source): Promise<Library> {
    this.#mustBeOpen();
    checkSources([source]);
    const { diagnostics, files } = await this.#runtime.sandbox.parse([source], this.#runtime.limits.sourceBytes);
    const [first] = diagnostics;
    if (first !== undefined) {
      const place = `${first.file}:${first.line}:${first.column}`;
      throw new LibraryError(`${place}: ${first.message}`, diagnostics);
    }
    if (files.some((file: ParsedFile) => file.commandBlocks > 0))
      throw new LibraryError(`${source.name}: a library holds definitions; run its command blocks with execute`);
    return { source: Object.freeze({ ...source }), procedures: files.flatMap(({ procedures }) => procedures) };
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

/** {@link encode}, as configuration: throws {@link ConfigError} that says which value it is. */
export function toTagged(what: string, value: unknown): TaggedJson {
  try {
    return encode(value);
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new ConfigError(`${what} cannot be given to a script: ${cause.message}`, { cause });
  }
}
