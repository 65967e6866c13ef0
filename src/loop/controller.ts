import {
  encodeUserdata,
  type Keyring,
  type Lifetimes,
  NO_PROGRESS_YET,
  ProgressGuard,
  ReplayCache,
  resolveLifetimes,
  UserdataError,
} from '../aeiou/index.ts';
import { KeyedMutex } from '../context/mutex.ts';
import { checkLimits, type LimitOptions } from '../sandbox/limits.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkCallback, checkObject, checkOptions, checkSignal, type KeysOf } from '../wire/options.ts';
import { AgentError, agentBrief } from './agents/index.ts';
import { ceiling, checkCeilings } from './ceilings.ts';
import type { HaltReason } from './decision.ts';
import type { LoopEvent, LoopListener } from './events.ts';
import type { TurnExecutor } from './executor.ts';
import { hostFailure } from './failure.ts';
import type { ProgressCheck } from './guard.ts';
import { DEFAULT_MAX_ATTEMPTS, type OnInterrupted } from './interrupted.ts';
import { Keeper } from './keeper.ts';
import type { DecisionLog } from './log.ts';
import { MemoryStore } from './memory.ts';
import { Metrics } from './metrics.ts';
import { type Clock, type Ids, randomIds, systemClock } from './ports.ts';
import type { TurnRecord } from './record.ts';
import { type LoopResult, visibleOutput } from './result.ts';
import { Spans } from './spans.ts';
import { STEP_OPTIONS, type StepOptions, type Stepper, takeStep } from './step.ts';
import {
  NOTHING_SPENT,
  SessionLeasedError,
  type SessionParent,
  SessionStateError,
  type SessionStore,
  type SessionSummary,
} from './store.ts';
import { type StreamEvent, stream, type Watched } from './stream.ts';
import { type CallAnswer, type CompleteOptions, completeCall } from './suspend/complete.ts';
import { SuspendedError } from './suspend/errors.ts';
import { DEFAULT_MAX_WAIT_MS, type OnExpired, type Waiting } from './suspend/suspension.ts';
import { checkSid, type TurnHost } from './turn.ts';

/** What a {@link LoopController} is made from. */
export interface LoopControllerOptions {
  readonly executor: TurnExecutor;
  /** Must hold a fallback key (A3-11.4-1). */
  readonly keyring: Keyring;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random ids when absent. */
  readonly ids?: Ids;
  /** What agents are told beside the envelopes; {@link agentBrief} without tools when absent. */
  readonly system?: string;
  /** A {@link MemoryStore} when absent. */
  readonly store?: SessionStore;
  /** No log when absent; the records of the store hold all that it would say. */
  readonly log?: DecisionLog;
  /** New ones, in the application's OpenTelemetry meter, when absent. */
  readonly metrics?: Metrics;
  /** Of the application's OpenTelemetry tracer when absent. */
  readonly spans?: Spans;
  readonly lifetimes?: Partial<Lifetimes>;
  /** Limits of every turn, tighter than the executor's own. */
  readonly limits?: LimitOptions;
  /** Equal turns in a row that end a session, from 2 to 100; 3 when absent (AL3-6-4). */
  readonly noProgressN?: number;
  /** Guards of the application, beside the mandatory one (A3-9-8). */
  readonly checks?: readonly ProgressCheck[];
  /**
   * What becomes of a turn that a dead process was in: `rerun`, the default, runs the same program again, so tools should be
   * safe to repeat; `halt` ends the session with `ERR_INTERRUPTED`.
   */
  readonly onInterrupted?: OnInterrupted;
  /**
   * What becomes of a turn whose call is not completed in time: `halt`, the default, ends the session with `ERR_CALL_EXPIRED`;
   * `error` lets the call fail with code 37, which the program can catch.
   */
  readonly onExpired?: OnExpired;
  /** Whether a tool may let a turn wait, true when absent; else `pending` is an error of the program, code 19. */
  readonly mayWait?: boolean;
  /** Most milliseconds that a call may wait to be completed, from 1; seven days when absent. */
  readonly maxWaitMs?: number;
  /** A turn that was interrupted so often, from 1, is halted and not run again; 3 when absent. */
  readonly maxAttempts?: number;
  /** Name of this process in leases, unique among those that live; a new one when absent. */
  readonly owner?: string;
  /** Milliseconds that a silent process keeps its sessions, from 100; 15 seconds when absent. */
  readonly leaseMs?: number;
}

/** How a session is driven on. */
export interface ResumeOptions extends StepOptions {
  /** Most milliseconds of this call, agents and tools included; ten minutes when absent. */
  readonly wallMs?: number;
}

/** A whole session. */
export interface LoopOptions extends ResumeOptions {
  /** Any value; it must be of the form of A3-3.5, or the session is halted before the agent is asked. */
  readonly userdata: unknown;
  /** A new id when absent. */
  readonly sid?: string;
}

/** Progress of a session that is read as a stream. */
export type LoopProgress = StreamEvent<LoopEvent, LoopResult>;

const CONTROLLER_OPTIONS: KeysOf<LoopControllerOptions> = {
  executor: true,
  keyring: true,
  clock: true,
  ids: true,
  system: true,
  store: true,
  log: true,
  metrics: true,
  spans: true,
  lifetimes: true,
  limits: true,
  noProgressN: true,
  checks: true,
  onInterrupted: true,
  maxAttempts: true,
  onExpired: true,
  mayWait: true,
  maxWaitMs: true,
  owner: true,
  leaseMs: true,
};

const LOOP_OPTIONS: KeysOf<LoopOptions> = { ...STEP_OPTIONS, userdata: true, sid: true };

const WALL_MS = 600_000;

/**
 * The host loop (AL3-0-1): asks an agent for a program, runs it as one turn, decides, keeps and logs the decision, and
 * goes on while the decision is CONTINUE. Turns of one session never overlap, those of different sessions may; that holds
 * for all processes that share a store.
 */
export class LoopController {
  readonly #host: TurnHost;
  readonly #keeper: Keeper;
  readonly #stepper: Stepper;
  readonly #clock: Clock;
  readonly #mutex = new KeyedMutex();
  readonly #running = new Map<string, AbortController>();
  readonly #spans: Spans;
  /** What happened in all sessions of this controller. */
  readonly metrics: Metrics;

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for limits, lifetimes, a lease or an N that cannot be enforced. */
  constructor(options: LoopControllerOptions) {
    checkOptions('the options of a LoopController', options, CONTROLLER_OPTIONS);
    const clock = options.clock ?? systemClock;
    const lifetimes = resolveLifetimes(options.lifetimes);
    this.#clock = clock;
    this.#host = {
      executor: options.executor,
      keyring: options.keyring,
      clock,
      ids: options.ids ?? randomIds,
      replay: new ReplayCache({ clock, ttl: lifetimes.replayTtl }),
      lifetimes,
      noProgressN: new ProgressGuard(options.noProgressN).n,
      checks: options.checks ?? [],
    };
    this.#keeper = new Keeper({
      store: options.store ?? new MemoryStore(),
      log: options.log ?? null,
      clock,
      replayTtl: lifetimes.replayTtl,
      ...(options.owner === undefined ? {} : { owner: options.owner }),
      ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    });
    this.#stepper = {
      host: this.#host,
      keeper: this.#keeper,
      system: options.system ?? agentBrief(),
      limits: checkLimits(options.limits ?? {}),
      onExpired: options.onExpired ?? 'halt',
      mayWait: options.mayWait ?? true,
      maxWaitMs: ceiling('maxWaitMs', options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS),
      maxAttempts: options.onInterrupted === 'halt' ? 1 : ceiling('maxAttempts', options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS),
    };
    this.metrics = options.metrics ?? new Metrics();
    this.#spans = options.spans ?? new Spans();
  }

  /**
   * Opens a session for {@link step} and returns its id. Throws {@link UserdataError} for USERDATA of the wrong form,
   * {@link ConfigError} for an id that is not 1 to 128 visible ASCII characters, `SessionExistsError` for one that is taken.
   */
  async open(
    userdata: unknown,
    sid: string = this.#host.ids.session(),
    { parent = null }: { readonly parent?: SessionParent | null } = {},
  ): Promise<string> {
    checkSid(sid);
    const state = {
      sid,
      status: 'open',
      reason: null,
      userdata: encodeUserdata(userdata),
      nextTurn: 1,
      output: null,
      scratchpad: null,
      progress: NO_PROGRESS_YET,
      spent: NOTHING_SPENT,
      head: null,
      parent,
    } as const;
    await this.#keeper.store.create(state, this.#clock.now());
    return sid;
  }

  /**
   * Takes the next turn of an open session: for hosts with a loop of their own. Everything happens under the session's
   * lock and lease, the reading of its state included (AMB-34). Rejects with `SessionStateError` when the session is unknown
   * or has ended, with `SessionLeasedError` when another process drives it, with {@link AgentError} when the agent gave no
   * reply or a total is used up (the session stays as it was), and as `runTurn` does.
   */
  async step(sid: string, options: StepOptions): Promise<TurnRecord> {
    checkStep('the options of a step', options, STEP_OPTIONS);
    return this.#step(sid, options, false);
  }

  /**
   * Runs a session to its end: DONE, ABORT or HALT, whatever the agent, the programs or the limits do. Rejects for misuse
   * and state alone (`ConfigError`, `SessionExistsError`, `RuntimeClosedError`, `BusyError`), with what the store or the log
   * throws, and with what `onEvent` throws.
   */
  async runLoop(options: LoopOptions): Promise<LoopResult> {
    checkStep('the options of a session', options, LOOP_OPTIONS);
    return this.#begin(options, NO_PACE);
  }

  /**
   * As {@link runLoop}, as an async iterator of what happens. The next turn begins when the events of the one before were read.
   * Who leaves early cancels the session: HALT `ERR_CANCELLED`.
   */
  stream(options: Omit<LoopOptions, 'onEvent'>): AsyncGenerator<LoopProgress, LoopResult, void> {
    checkStep('the options of a session', options, LOOP_OPTIONS);
    return watched(options.signal, (more, pace) => this.#begin({ ...options, ...more }, pace));
  }

  async #begin(options: LoopOptions, pace: Pace): Promise<LoopResult> {
    const sid = options.sid ?? this.#host.ids.session();
    try {
      await this.open(options.userdata, sid);
    } catch (error) {
      if (!(error instanceof UserdataError)) throw error;
      return { ...halted(sid, error.code, error.message), output: null, turns: [] };
    }
    return this.#drive(sid, options, pace);
  }

  /**
   * Drives an open session on to its end, from wherever it stands: turns that were committed are not run again. The result has
   * the turns of this call alone. Rejects as {@link runLoop} does, with `SessionStateError` for a session that is unknown or
   * has ended, and with `SessionLeasedError` while another process drives it.
   */
  async resume(sid: string, options: ResumeOptions): Promise<LoopResult> {
    checkStep('the options of a session', options, STEP_OPTIONS);
    return this.#resume(sid, options, NO_PACE);
  }

  /** As {@link resume}, as an async iterator of what happens: see {@link stream}. */
  streamResume(sid: string, options: Omit<ResumeOptions, 'onEvent'>): AsyncGenerator<LoopProgress, LoopResult, void> {
    checkStep('the options of a session', options, STEP_OPTIONS);
    return watched(options.signal, (more, pace) => this.#resume(sid, { ...options, ...more }, pace));
  }

  async #resume(sid: string, options: ResumeOptions, pace: Pace): Promise<LoopResult> {
    if (this.#running.has(sid)) throw new SessionLeasedError(sid, { owner: 'this process', until: this.#clock.now() });
    return this.#drive(sid, options, pace);
  }

  /**
   * Ends an open session: HALT `ERR_CANCELLED`. One that is being driven, here or by another process, ends as soon as its
   * driver has heard of it. False when there is no such open session.
   */
  async cancel(sid: string): Promise<boolean> {
    const running = this.#running.get(sid);
    running?.abort();
    if (running !== undefined) return true;
    const cancelled = await this.#mutex.run(sid, () => this.#keeper.cancel(sid));
    if (cancelled) await this.#host.executor.end?.(sid);
    return cancelled;
  }

  /**
   * Gives a call that a session waits for its answer; {@link resume} or {@link step} then go on, here or in another process
   * with the same store. Rejects with `CallError` (`ERR_CALL_…`) when it cannot be completed, with `SessionStateError` for
   * an unknown session, and with `SessionLeasedError` while another process drives it.
   */
  complete(sid: string, call: string, answer: CallAnswer, options: CompleteOptions = {}): Promise<Waiting> {
    const completer = { keeper: this.#keeper, executor: this.#host.executor, clock: this.#clock };
    return this.#mutex.run(sid, () => completeCall(completer, sid, call, answer, options));
  }

  /** All sessions of the store, in the order of their ids. */
  list(): Promise<readonly SessionSummary[]> {
    return this.#keeper.store.list();
  }

  /**
   * After a start: logs the decisions that dead processes had committed and not logged. Resolves with the ids of the open
   * sessions that nobody drives, for {@link resume}.
   */
  recover(): Promise<readonly string[]> {
    return this.#keeper.recover();
  }

  async #drive(sid: string, options: ResumeOptions, pace: Pace): Promise<LoopResult> {
    const cancel = new AbortController();
    const signal = options.signal === undefined ? cancel.signal : AbortSignal.any([cancel.signal, options.signal]);
    this.#running.set(sid, cancel);
    try {
      return await this.#turns(sid, { ...options, signal }, pace);
    } finally {
      this.#running.delete(sid);
    }
  }

  async #turns(sid: string, options: ResumeOptions, pace: Pace): Promise<LoopResult> {
    const { maxTurns } = checkCeilings(options);
    const { wallMs = WALL_MS } = options;
    const begun = this.#clock.monotonic();
    const state = await this.#keeper.store.read(sid);
    if (state === null) throw new SessionStateError(sid, 'unknown');
    const before = state.nextTurn - 1;
    const turns: TurnRecord[] = [];
    const stop = async (reason: HaltReason, message: string): Promise<LoopResult> => {
      await this.halt(sid, reason);
      return { ...halted(sid, reason, message), output: shownOf(turns), turns };
    };
    for (;;) {
      const left = wallMs - (this.#clock.monotonic() - begun);
      if (left <= 0) return stop('ERR_TIMEOUT', `the session did not end within ${wallMs} ms`);
      if (before + turns.length >= maxTurns) return stop('ERR_MAX_TURNS', `the session did not end within ${maxTurns} turns`);
      try {
        const record = await this.#step(sid, { ...options, wallMs: left }, true);
        turns.push(record);
        const { decision, reason, error } = record;
        if (decision !== 'CONTINUE') return { sid, decision, reason, error, output: shownOf(turns), turns };
        await pace();
      } catch (error) {
        if (error instanceof SuspendedError) return { ...suspendedAt(sid, error.waiting), output: shownOf(turns), turns };
        if (!(error instanceof AgentError)) throw error;
        return stop(error.reason, error.message);
      }
    }
  }

  #step(sid: string, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
    return this.#mutex.run(sid, () =>
      this.#spans.turn(sid, options.agent.name ?? null, async (span) => {
        const onEvent: LoopListener = (event) => {
          this.metrics.see(event);
          span.see(event);
          options.onEvent?.(event);
        };
        const record = await takeStep(this.#stepper, sid, { ...options, onEvent }, keepLease);
        this.metrics.record(record);
        return record;
      }),
    );
  }

  /**
   * Ends an open session between two turns, for hosts with a loop of their own that give it up. Nothing happens to one that has
   * ended. Rejects with `SessionStateError` for an unknown session and `SessionLeasedError` while another process drives it.
   */
  halt(sid: string, reason: HaltReason): Promise<void> {
    return this.#mutex.run(sid, async () => {
      const claimed = await this.#keeper.claim(sid);
      if (claimed.state.status === 'open') {
        // A turn that a dead process was in gets its decision; else the session ends between two turns.
        const record = await this.#keeper.halt(claimed, reason);
        if (record === null) this.metrics.ended(reason);
        else this.metrics.record(record);
      } else await this.#keeper.release(sid);
      this.#host.replay.dispose(sid);
      await this.#host.executor.end?.(sid);
    });
  }
}

function suspendedAt(sid: string, waiting: Waiting): Pick<LoopResult, 'sid' | 'decision' | 'reason' | 'error' | 'waiting'> {
  return { sid, decision: 'SUSPENDED', reason: null, error: null, waiting };
}

type Pace = () => Promise<void>;
const NO_PACE: Pace = async () => {};

/** Throws {@link ConfigError} for options that cannot be used, before anything happens. */
function checkStep(what: string, options: StepOptions, keys: Readonly<Record<string, true>>): void {
  checkOptions(what, options, keys);
  checkObject('the agent of a session', options.agent);
  if (typeof options.agent.reply !== 'function') throw new ConfigError("the agent of a session needs a function 'reply'");
  checkCallback('onEvent', options.onEvent);
  checkSignal('signal', options.signal);
  checkCeilings(options);
  if (options.wallMs !== undefined) ceiling('wallMs', options.wallMs);
  checkLimits(options.limits ?? {});
}

function watched(
  signal: AbortSignal | undefined,
  run: (more: Omit<Watched<LoopEvent>, 'pace'>, pace: Pace) => Promise<LoopResult>,
): AsyncGenerator<LoopProgress, LoopResult, void> {
  const minor = ({ type }: LoopEvent): boolean => type === 'output' || type === 'called';
  return stream({ signal, minor, run: ({ pace, ...more }) => run(more, pace) });
}

function halted(sid: string, reason: HaltReason, message: string): Pick<LoopResult, 'sid' | 'decision' | 'reason' | 'error'> {
  return { sid, decision: 'HALT', reason, error: hostFailure(reason, message) };
}

function shownOf(turns: readonly TurnRecord[]): string | null {
  const last = turns.at(-1);
  return last === undefined ? null : visibleOutput(last);
}
