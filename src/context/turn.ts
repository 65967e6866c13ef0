import { AsyncLocalStorage } from 'node:async_hooks';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { keepNonce, nonceOf } from './nonce.ts';

/** Something used a turn, or the runtime object of a tool call, after its end. */
export class TurnClosedError extends NeuroScriptError {
  static readonly code = 'ERR_TURN_CLOSED';
  constructor(message: string) {
    super(TurnClosedError.code, message);
  }
}

/** Why a context's signal was aborted when its deadline passed. */
export class DeadlineError extends NeuroScriptError {
  static readonly code = 'ERR_TIMEOUT';
  constructor() {
    super(DeadlineError.code, "the turn's deadline has passed");
  }
}

/** Made once: every turn ends, and taking the stack of where it did costs more than all the rest of ending it. */
const ENDED = Object.freeze(new TurnClosedError('the turn has ended'));

/** What a derived context adds to its parent; what is absent is inherited. */
export interface TurnInit {
  readonly sessionId?: string;
  /** From 1. */
  readonly turnIndex?: number;
  /** Readable by the magic tool alone, see `nonce.ts`. */
  readonly nonce?: string;
  /** Unix milliseconds. Only ever brings the parent's deadline nearer (CTX-2B-3). */
  readonly deadline?: number;
  /** Aborts this context too. */
  readonly signal?: AbortSignal;
  /** Unix milliseconds as tools of this operation see them; the parent's when absent, and at last the runtime's. */
  readonly clock?: () => number;
  /** Values of the embedding application, for its own tools. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Longest delay that `setTimeout` takes; deadlines further away are left to the limits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Known to {@link rootTurn} alone: no other code can make a context from nothing (CTX-2B-5). */
const FROM_NOTHING = Symbol('root');

/**
 * What is true for one operation and ends with it: session, turn, deadline, cancellation, values of the application
 * (seed 004, 2.B). Immutable but for its end, and always derived from a parent. Tools take identity from here, never
 * from arguments (AL3-3-3).
 */
export class TurnContext implements Disposable {
  readonly sessionId: string | null;
  readonly turnIndex: number | null;
  /** Unix milliseconds, or null. */
  readonly deadline: number | null;
  /** Aborted by the parent's end or cancellation, by the deadline, and by {@link close}. */
  readonly signal: AbortSignal;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #controller = new AbortController();
  readonly #now: () => number;
  readonly #clock: () => number;
  #release: () => void = () => {};
  #closed = false;

  /** Throws {@link ConfigError}: contexts are made by {@link derive}. */
  constructor(key: symbol, parent: TurnContext | null, init: TurnInit, now: () => number) {
    if (key !== FROM_NOTHING) throw new ConfigError('a TurnContext is derived from its parent: use derive()');
    this.sessionId = init.sessionId ?? parent?.sessionId ?? null;
    this.turnIndex = init.turnIndex ?? parent?.turnIndex ?? null;
    const deadline = Math.min(parent?.deadline ?? Number.POSITIVE_INFINITY, init.deadline ?? Number.POSITIVE_INFINITY);
    this.deadline = deadline === Number.POSITIVE_INFINITY ? null : deadline;
    this.signal = this.#controller.signal;
    this.#values = Object.freeze({ __proto__: null, ...(parent === null ? {} : parent.#values), ...init.values });
    this.#now = now;
    this.#clock = init.clock ?? (parent === null ? now : parent.#clock);
    const nonce = init.nonce ?? (parent === null ? null : nonceOf(parent));
    if (nonce !== null) keepNonce(this, nonce);
    this.#listen(parent?.signal, init.signal);
    Object.freeze(this);
  }

  /** A value of the embedding application, given here or by the nearest ancestor that has it. */
  value(key: string): unknown {
    return this.#values[key];
  }

  /** The time of this operation for its tools, Unix milliseconds: what a tool reads here is recorded with its result. */
  now(): number {
    return this.#clock();
  }

  /** True once the operation has ended; then `signal` is aborted and nothing can be derived any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** A child of this context. Throws {@link TurnClosedError} (`ERR_TURN_CLOSED`) after the end, {@link ConfigError} for a bad value. */
  derive(init: TurnInit): TurnContext {
    if (this.#closed) throw new TurnClosedError('this turn has ended; nothing can be started in its name');
    checkInit(init);
    return new TurnContext(FROM_NOTHING, this, init, this.#now);
  }

  /** Ends the operation: aborts `signal` with a {@link TurnClosedError}, and with it everything derived. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
    this.#controller.abort(ENDED);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Listeners are removed when this context closes, so that a long-lived parent keeps nothing of its children. */
  #listen(...signals: readonly (AbortSignal | undefined)[]): void {
    const undo: (() => void)[] = [];
    this.#release = () => {
      for (const each of undo.splice(0)) each();
    };
    const end = (reason: unknown): void => {
      this.#release();
      this.#controller.abort(reason);
    };
    for (const signal of signals) {
      if (signal === undefined) continue;
      if (signal.aborted) {
        end(signal.reason);
        return;
      }
      const abort = (): void => end(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      undo.push(() => signal.removeEventListener('abort', abort));
    }
    if (this.deadline === null) return;
    const delay = this.deadline - this.#now();
    if (delay > MAX_TIMER_MS) return;
    const timer = setTimeout(() => end(new DeadlineError()), Math.max(0, delay));
    timer.unref();
    undo.push(() => clearTimeout(timer));
  }
}

function checkInit(init: TurnInit): void {
  const { sessionId, turnIndex, nonce, deadline, clock } = init;
  if (sessionId !== undefined && (typeof sessionId !== 'string' || sessionId === ''))
    throw new ConfigError('sessionId of a turn must be a text that is not empty');
  if (turnIndex !== undefined && !(Number.isSafeInteger(turnIndex) && turnIndex >= 1))
    throw new ConfigError(`turnIndex of a turn must be a whole number from 1, got ${String(turnIndex)}`);
  if (nonce !== undefined && (typeof nonce !== 'string' || nonce === ''))
    throw new ConfigError('nonce of a turn must be a text that is not empty');
  if (deadline !== undefined && !Number.isFinite(deadline))
    throw new ConfigError(`deadline of a turn must be Unix milliseconds, got ${String(deadline)}`);
  if (clock !== undefined && typeof clock !== 'function') throw new ConfigError('clock of a turn must be a function');
}

/**
 * The context of a whole runtime, which has no session and no turn. For `createRuntime` alone: everything else derives.
 * `now` gives Unix milliseconds and is what deadlines are measured against.
 */
export function rootTurn(now: () => number): TurnContext {
  return new TurnContext(FROM_NOTHING, null, {}, now);
}

/**
 * Carries the turn through the host's asynchronous code. It is empty in callbacks that come from a worker's pipe, so
 * whoever dispatches from there re-enters it with `turnStorage.run(turn, …)`.
 */
export const turnStorage: AsyncLocalStorage<TurnContext> = new AsyncLocalStorage();

/** The turn in whose name the current code runs; undefined outside of any. */
export function currentTurn(): TurnContext | undefined {
  return turnStorage.getStore();
}
