import { AsyncLocalStorage } from 'node:async_hooks';
import { type Cancellation, LazyAbort } from '../wire/cancellation.ts';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { MAX_TIMER_MS, wholeNumber } from '../wire/options.ts';
import { keepNonce, nonceOf } from './nonce.ts';

/** A turn, or the runtime object of a tool call, was used after its end. */
export class TurnClosedError extends NeuroScriptError {
  static readonly code = 'ERR_TURN_CLOSED';
  constructor(message: string) {
    super(TurnClosedError.code, message);
  }
}

/** The abort reason of a context whose deadline has passed. */
export class DeadlineError extends NeuroScriptError {
  static readonly code = 'ERR_TIMEOUT';
  constructor() {
    super(DeadlineError.code, "the turn's deadline has passed");
  }
}

/** The abort reason of every turn that ends. Shared, because capturing a stack costs more than the rest of ending a turn. */
const ENDED = Object.freeze(new TurnClosedError('the turn has ended'));

/** The fields that a derived context sets. It inherits every absent field from its parent. */
export interface TurnInit {
  /** Id of the session that the operation belongs to. */
  readonly sessionId?: string | undefined;
  /** The tenant in whose name the operation runs: 1 to 128 visible ASCII characters. */
  readonly tenant?: string | undefined;
  /** From 1. */
  readonly turnIndex?: number;
  /** Only the magic tool and the host loop can read it. */
  readonly nonce?: string;
  /** Unix milliseconds. A deadline later than the parent's has no effect. */
  readonly deadline?: number;
  /** Its abort aborts this context too. */
  readonly signal?: AbortSignal | undefined;
  /** The clock that tools of this operation read, in Unix milliseconds. The clock of a root context is the runtime's. */
  readonly clock?: (() => number) | undefined;
  /** Number of the claim under which this process acts for the session: a later claim has a higher one. */
  readonly fence?: number | undefined;
  /** Prefix of the keys of calls, for a turn that may run again: its session, or the call that opened its session. */
  readonly origin?: string | undefined;
  /**
   * Called at each call of a program. Returns false as soon as another process may act for this operation; the call is then not answered.
   */
  readonly mayAct?: (() => boolean) | undefined;
  /** Values of the embedding application for its own tools. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

const TENANT = /^[\x21-\x7e]{1,128}$/;

/** Throws {@link ConfigError} for an id that a message or a line of a log cannot show. */
export function checkTenantId(id: unknown): string {
  if (typeof id === 'string' && TENANT.test(id)) return id;
  throw new ConfigError('the id of a tenant has 1 to 128 visible ASCII characters and no blanks');
}

const NO_VALUES: Readonly<Record<string, unknown>> = Object.freeze({ __proto__: null });

/** The key of the constructor. It is not exported, so other code can only derive contexts. */
const FROM_NOTHING = Symbol('root');

/**
 * The facts of one operation: session, turn, deadline, cancellation and values of the application. A context is derived from
 * a parent, ends with its operation, and does not change otherwise. Tools take the identity of a session from their context,
 * never from arguments.
 */
export class TurnContext implements Cancellation, Disposable {
  /** Id of the session that the operation belongs to; null for none. */
  readonly sessionId: string | null;
  /** Number of the turn, from 1; null outside of a loop. */
  readonly turnIndex: number | null;
  /** The tenant in whose name the operation runs, or null. */
  readonly tenant: string | null;
  /** Number of the claim under which this process acts for the session; null without a claim. */
  readonly fence: number | null;
  /** Prefix of the keys of calls; null when calls have no keys. */
  readonly origin: string | null;
  /** Unix milliseconds, or null. */
  readonly deadline: number | null;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #end = new LazyAbort();
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #mayAct: () => boolean;
  #release: () => void = () => {};
  #closed = false;

  /** Throws {@link ConfigError} outside this file: use {@link derive}. */
  constructor(key: symbol, parent: TurnContext | null, init: TurnInit, now: () => number) {
    if (key !== FROM_NOTHING) throw new ConfigError('a TurnContext is derived from its parent: use derive()');
    this.sessionId = init.sessionId ?? parent?.sessionId ?? null;
    this.turnIndex = init.turnIndex ?? parent?.turnIndex ?? null;
    this.tenant = init.tenant ?? parent?.tenant ?? null;
    this.fence = init.fence ?? parent?.fence ?? null;
    this.origin = init.origin ?? parent?.origin ?? null;
    const deadline = Math.min(parent?.deadline ?? Number.POSITIVE_INFINITY, init.deadline ?? Number.POSITIVE_INFINITY);
    this.deadline = deadline === Number.POSITIVE_INFINITY ? null : deadline;
    const inherited = parent === null ? NO_VALUES : parent.#values;
    this.#values = init.values === undefined ? inherited : Object.freeze({ __proto__: null, ...inherited, ...init.values });
    this.#now = now;
    this.#clock = init.clock ?? (parent === null ? now : parent.#clock);
    this.#mayAct = init.mayAct ?? (parent === null ? () => true : parent.#mayAct);
    const nonce = init.nonce ?? (parent === null ? null : nonceOf(parent));
    if (nonce !== null) keepNonce(this, nonce);
    this.#follow(parent, init.signal);
    Object.freeze(this);
  }

  /** Aborted by {@link close}, by the deadline, and with the signal of the parent. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Whether {@link signal} is aborted. Reading this is cheaper: the signal is made when it is first read. */
  get aborted(): boolean {
    return this.#end.aborted;
  }

  /** Calls the listener once, when {@link signal} is aborted. The listener must not throw. */
  addEventListener(type: 'abort', listener: () => void): void {
    this.#end.addEventListener(type, listener);
  }

  removeEventListener(type: 'abort', listener: () => void): void {
    this.#end.removeEventListener(type, listener);
  }

  /** A value of the embedding application, from this context or the nearest ancestor that has it. */
  value(key: string): unknown {
    return this.#values[key];
  }

  /** The time for the tools of this operation in Unix milliseconds. */
  now(): number {
    return this.#clock();
  }

  /** Whether this process may still act for the operation: see {@link TurnInit.mayAct}. */
  mayAct(): boolean {
    return this.#mayAct();
  }

  /** Whether the operation has ended. Then `signal` is aborted and {@link derive} throws. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Makes a child of this context. Throws {@link TurnClosedError} (`ERR_TURN_CLOSED`) after the end and {@link ConfigError} for an
   * invalid field.
   */
  derive(init: TurnInit): TurnContext {
    if (this.#closed) throw new TurnClosedError('this turn has ended; nothing can be started in its name');
    checkInit(init);
    return new TurnContext(FROM_NOTHING, this, init, this.#now);
  }

  /** Ends the operation: aborts the `signal` of this context and of its descendants with a {@link TurnClosedError}. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort(ENDED);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #abort(reason: unknown): void {
    this.#release();
    this.#end.abort(reason);
  }

  /** Follows the parent, a signal and the deadline. Removes its listeners when this context ends, so that nothing retains it. */
  #follow(parent: TurnContext | null, signal: AbortSignal | undefined): void {
    const undo: (() => void)[] = [];
    this.#release = () => {
      for (const each of undo.splice(0)) each();
    };
    for (const followed of [parent, signal]) {
      if (followed === null || followed === undefined) continue;
      const abort = (): void => this.#abort(followed instanceof TurnContext ? followed.#end.reason : followed.reason);
      if (followed.aborted) {
        abort();
        return;
      }
      followed.addEventListener('abort', abort);
      undo.push(() => followed.removeEventListener('abort', abort));
    }
    if (this.deadline === null) return;
    const delay = this.deadline - this.#now();
    // A deadline further away sets no timer.
    if (delay > MAX_TIMER_MS) return;
    const timer = setTimeout(() => this.#abort(new DeadlineError()), Math.max(0, delay));
    timer.unref();
    undo.push(() => clearTimeout(timer));
  }
}

function checkInit(init: TurnInit): void {
  const { sessionId, turnIndex, tenant, nonce, deadline, clock, fence, origin } = init;
  if (sessionId !== undefined && (typeof sessionId !== 'string' || sessionId === ''))
    throw new ConfigError('sessionId of a turn must be a text that is not empty');
  if (tenant !== undefined) checkTenantId(tenant);
  if (fence !== undefined) wholeNumber(0)('fence of a turn', fence);
  if (origin !== undefined && (typeof origin !== 'string' || origin === ''))
    throw new ConfigError('origin of a turn must be a text that is not empty');
  if (turnIndex !== undefined) wholeNumber(1)('turnIndex of a turn', turnIndex);
  if (nonce !== undefined && (typeof nonce !== 'string' || nonce === ''))
    throw new ConfigError('nonce of a turn must be a text that is not empty');
  if (deadline !== undefined && !Number.isFinite(deadline))
    throw new ConfigError(`deadline of a turn must be Unix milliseconds, got ${String(deadline)}`);
  if (clock !== undefined && typeof clock !== 'function') throw new ConfigError('clock of a turn must be a function');
}

/**
 * Makes the root context of a runtime, which has no session and no turn. Only `createRuntime` calls this; other code derives.
 * `now` gives Unix milliseconds; deadlines are measured by it.
 */
export function rootTurn(now: () => number): TurnContext {
  return new TurnContext(FROM_NOTHING, null, {}, now);
}

/**
 * Carries the turn through the host's asynchronous code. It is empty in callbacks of a worker's pipe, so a dispatcher enters
 * it again with `turnStorage.run(turn, …)`.
 */
export const turnStorage: AsyncLocalStorage<TurnContext> = new AsyncLocalStorage();

/** The turn in whose name the current code runs; undefined outside a turn. */
export function currentTurn(): TurnContext | undefined {
  return turnStorage.getStore();
}
