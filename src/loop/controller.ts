import { UserdataError } from '../aeiou/index.ts';
import { KeyedMutex } from '../context/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { currentTelemetry, type Telemetry } from '../telemetry/index.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { AgentError } from './agents/index.ts';
import { resolveCeilings } from './ceilings.ts';
import type { Clock } from './clock.ts';
import { stepperOf } from './defaults.ts';
import type { LoopListener } from './events.ts';
import { Handover } from './handover.ts';
import type { Metrics } from './metrics.ts';
import { type OpenOptions, sessionToOpen } from './open.ts';
import {
  checkController,
  checkLoop,
  checkResume,
  checkStep,
  type LoopControllerOptions,
  type LoopOptions,
  type ResumeOptions,
  type StepOptions,
  WALL_MS,
} from './options.ts';
import type { Stepper } from './plan.ts';
import { type LoopProgress, NO_PACE, type Pace, progress } from './progress.ts';
import type { HaltReason } from './record/decision.ts';
import type { Durable } from './record/kept.ts';
import { type TurnRecord, turnError } from './record/record.ts';
import { SuspendedError, type Waiting } from './record/suspension.ts';
import { halted, type LoopResult, suspendedAt, unanswered, visibleOutput } from './result.ts';
import type { SessionCoordinator } from './sessions/coordinator.ts';
import { SessionLeasedError, SessionStateError } from './sessions/errors.ts';
import type { Admission } from './sessions/setup.ts';
import { MemoryStore } from './sessions/sqlite.ts';
import type { ListQuery, SessionSummary } from './sessions/store.ts';
import { describeTurn, type SessionSpan, turnSpan, withSessionSpan } from './spans.ts';
import { staysOpen, takeReply, takeStep } from './step.ts';
import { type CallAnswer, type CompleteOptions, completeCall } from './suspend/complete.ts';
import type { TurnHost } from './turn/request.ts';

/**
 * The host loop. It consults an agent for a program, runs the program as one turn, stores and logs the decision, and goes on
 * while the decision is CONTINUE. Turns of one session never overlap, even across all processes that share a store; turns of
 * different sessions may.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'neuroscript-runtime';
 * import { LoopController, openaiAgent } from 'neuroscript-runtime/loop';
 *
 * await using runtime = await createRuntime();
 * const controller = new LoopController({ runtime });
 * const agent = openaiAgent({ model: 'qwen3:8b', baseUrl: 'http://127.0.0.1:11434/v1' });
 * const { decision, output } = await controller.runLoop({ agent, userdata: { subject: 'greet', fields: { name: 'Ada' } } });
 * ```
 */
export class LoopController {
  readonly #host: TurnHost;
  readonly #coordinator: SessionCoordinator;
  readonly #stepper: Stepper;
  readonly #runtime: Runtime | undefined;
  readonly #clock: Clock;
  readonly #mutex = new KeyedMutex();
  readonly #running = new Map<string, AbortController>();
  readonly #telemetry: Telemetry;
  readonly #handover = new Handover();
  readonly #durable: Durable;
  readonly #admission: Admission | undefined;
  /** Counters over all sessions of this controller. */
  readonly metrics: Metrics;

  /** Throws `ConfigError` (`ERR_CONFIG`) for options that are unknown or cannot be enforced. */
  constructor(options: LoopControllerOptions) {
    checkController('the options of a LoopController', options);
    this.#stepper = stepperOf(options);
    this.#host = this.#stepper.host;
    this.#coordinator = this.#stepper.coordinator;
    this.#clock = this.#host.clock;
    this.#runtime = options.runtime;
    this.#durable = options.durable ?? 'turn';
    this.#admission = options.admission;
    this.metrics = this.#stepper.metrics;
    this.#telemetry = options.telemetry ?? options.runtime?.telemetry ?? currentTelemetry();
  }

  /**
   * Opens a session for {@link step} and returns its id. Throws {@link UserdataError} for USERDATA of the wrong form, `ConfigError` for
   * an id that is not 1 to 128 visible ASCII characters and for unusable options, and `SessionExistsError` for an id in use. Throws
   * `StoreError` (`order`) for an id whose session is open in the log but missing in the store.
   */
  async open(userdata: unknown, sid?: string, options: OpenOptions = {}): Promise<string> {
    const id = sid ?? this.#host.ids.session();
    await this.#open(userdata, id, options, sid !== undefined);
    return id;
  }

  /** Does not search the log for a generated id. */
  async #open(userdata: unknown, sid: string, options: OpenOptions, isChosen: boolean): Promise<void> {
    const { admission = this.#admission } = options;
    const { state, setup } = sessionToOpen(userdata, sid, { durable: this.#durable, ...options });
    if (isChosen && state.parent === null) await this.#coordinator.mustBeNew(sid);
    await this.#coordinator.create(state, setup, admission);
  }

  /**
   * Takes the next turn of an open session, for hosts with a loop of their own. The whole step happens under the session's
   * lock and lease. Rejects with `SessionStateError` for a session that is unknown or has ended, with `SessionLeasedError`
   * while another process drives it, with {@link AgentError} when the agent gave no reply or a ceiling is reached (the session
   * stays open), with `SuspendedError` when a call must be completed first, and as `runTurn` does.
   */
  async step(sid: string, options: StepOptions): Promise<TurnRecord> {
    checkStep('the options of a step', options);
    using _work = this.#handover.working();
    return await this.#step(sid, options, false);
  }

  /**
   * Consults the agent for the next turn of an open session and stores the reply, for hosts that take the two phases of a turn as
   * separate steps. {@link step} or {@link resume} then runs the program without consulting again, here or in another process. Resolves
   * with false when this call stores no reply: there is one already, the turn waits, the session has had all its turns, or the agent gave
   * none, which ends the session. Rejects as {@link resume} does, and with {@link AgentError} where that leaves the session open.
   */
  async consult(sid: string, options: StepOptions): Promise<boolean> {
    checkStep('the options of a step', options);
    using _work = this.#handover.working();
    const work = async (own: StepOptions): Promise<boolean> => {
      try {
        using _lock = await this.#mutex.hold(sid);
        return await takeReply(this.#stepper, sid, this.#counting(own));
      } catch (error) {
        if (!(error instanceof AgentError) || staysOpen(error, own)) throw error;
        await this.halt(sid, error.reason, error.message);
        return false;
      }
    };
    return await this.#driving(sid, options, work, () => false);
  }

  /**
   * Runs a session until it ends with DONE, ABORT or HALT, or until it is suspended. A failure of the agent or of a program is
   * a result. Rejects only for misuse and state (`ConfigError`, `SessionExistsError`, `RuntimeClosedError`, `BusyError`), and
   * with errors of the store, the log or `onEvent`.
   */
  async runLoop(options: LoopOptions): Promise<LoopResult> {
    checkLoop('the options of a session', options);
    using _work = this.#handover.working();
    const sid = options.sid ?? this.#host.ids.session();
    return (await this.#refused(sid, options)) ?? (await this.#drive(sid, options, NO_PACE));
  }

  /**
   * Like {@link runLoop}, as an async iterator of events. The next turn begins when the events of the previous one have been
   * read. Leaving the iterator early cancels the session: HALT `ERR_CANCELLED`.
   *
   * @example
   * ```ts
   * import { createRuntime } from 'neuroscript-runtime';
   * import { LoopController, openaiAgent } from 'neuroscript-runtime/loop';
   *
   * await using runtime = await createRuntime();
   * const agent = openaiAgent({ model: 'qwen3:8b', baseUrl: 'http://127.0.0.1:11434/v1' });
   * const events = new LoopController({ runtime }).stream({ agent, userdata: { subject: 'greet', fields: {} } });
   * for await (const event of events) {
   *   if (event.type === 'delta') process.stdout.write(event.text);
   *   if (event.type === 'ended') console.log(event.result.decision);
   * }
   * ```
   */
  stream(options: Omit<LoopOptions, 'onEvent'>): AsyncGenerator<LoopProgress, LoopResult, void> {
    checkLoop('the options of a session', options);
    return progress(options.signal, async (more, pace) => {
      using _work = this.#handover.working();
      const sid = options.sid ?? this.#host.ids.session();
      return (await this.#refused(sid, options)) ?? (await this.#drive(sid, { ...options, ...more }, pace));
    });
  }

  /** Opens a session. Resolves with the result of one that could not be opened, else with null. */
  async #refused(sid: string, options: LoopOptions): Promise<LoopResult | null> {
    try {
      await this.#open(options.userdata, sid, {}, options.sid !== undefined);
      return null;
    } catch (error) {
      if (!(error instanceof UserdataError)) throw error;
      await this.#coordinator.refused(sid, error.code, error.message);
      this.metrics.ended(error.code);
      return { ...halted(sid, error.code, error.message), output: null, turns: [] };
    }
  }

  /**
   * Continues an open session to its end. The result has only the turns of this call. Rejects as {@link runLoop} does, with
   * `SessionStateError` for an unknown or ended session, and with `SessionLeasedError` while another process drives it.
   */
  async resume(sid: string, options: ResumeOptions): Promise<LoopResult> {
    checkResume('the options of a session', options);
    using _work = this.#handover.working();
    return await this.#drive(sid, options, NO_PACE);
  }

  /** Like {@link resume}, as an async iterator of events: see {@link stream}. */
  streamResume(sid: string, options: Omit<ResumeOptions, 'onEvent'>): AsyncGenerator<LoopProgress, LoopResult, void> {
    checkResume('the options of a session', options);
    return progress(options.signal, async (more, pace) => {
      using _work = this.#handover.working();
      return await this.#drive(sid, { ...options, ...more }, pace);
    });
  }

  /**
   * Hands all sessions over to other processes that share the store, for a host that is about to stop: every turn under way is
   * decided, its session stays open without a lease, and {@link runLoop} and {@link resume} resolve with the decision CONTINUE.
   * Resolves when no turn is left. From the call on, this controller drives nothing: it rejects with `RuntimeClosedError`.
   */
  handOff(): Promise<void> {
    return this.#handover.complete();
  }

  /**
   * Ends an open session: HALT `ERR_CANCELLED`. If the session is driven, here or by another process, its driver ends it. False
   * when there is no such open session. A session that cannot be read ends without a record; what the store has of it stays.
   */
  async cancel(sid: string): Promise<boolean> {
    const running = this.#running.get(sid);
    running?.abort();
    return running !== undefined || this.#cancelOpen(sid);
  }

  async #cancelOpen(sid: string): Promise<boolean> {
    using _lock = await this.#mutex.hold(sid);
    const cancelled = await this.#coordinator.cancel(sid);
    if (cancelled) await this.#host.executor.end?.(sid);
    return cancelled;
  }

  /**
   * Completes a call for which a session waits. {@link resume} or {@link step} then continues the session, here or in another
   * process with the same store. Rejects with `CallError` (`ERR_CALL_…`) when the call cannot be completed, with
   * `SessionStateError` for an unknown session, and with `SessionLeasedError` while another process drives it.
   */
  async complete(sid: string, call: string, answer: CallAnswer, options: CompleteOptions = {}): Promise<Waiting> {
    using _lock = await this.#mutex.hold(sid);
    return await completeCall({ ...this.#host, coordinator: this.#coordinator }, sid, call, answer, options);
  }

  /** Sessions of the store, in the order of their ids. `allSessions` reads a store of any size page by page. */
  list(query?: ListQuery): Promise<readonly SessionSummary[]> {
    return this.#coordinator.store.list(query);
  }

  /**
   * Logs the decisions that dead processes stored but did not log, and resolves with the ids of open sessions that no
   * process drives, at most 10,000, for {@link resume}. Call it after a start, and periodically if several processes share a store.
   */
  recover(): Promise<readonly string[]> {
    return this.#coordinator.recover((sid) => this.#running.has(sid));
  }

  #drive(sid: string, options: ResumeOptions, pace: Pace): Promise<LoopResult> {
    const work = (own: ResumeOptions): Promise<LoopResult> =>
      withSessionSpan(this.#telemetry, sid, own.agent, (session) => this.#turns(sid, own, pace, session));
    const end = ({ output, turns }: LoopResult) => ({ ...halted(sid, 'ERR_CANCELLED', 'it was cancelled'), output, turns });
    return this.#driving(sid, options, work, end);
  }

  /**
   * Runs `work` for a session. If {@link cancel} was called meanwhile and the session is still open, cancels it and returns the result of
   * `cancelled`. Throws {@link SessionLeasedError} while this process drives it already.
   */
  async #driving<Options extends StepOptions, T>(
    sid: string,
    options: Options,
    work: (options: Options) => Promise<T>,
    cancelled: (done: T) => T,
  ): Promise<T> {
    if (this.#running.has(sid)) throw new SessionLeasedError(sid, { owner: 'this process', until: this.#clock.now() });
    const cancel = new AbortController();
    const signal = options.signal === undefined ? cancel.signal : AbortSignal.any([cancel.signal, options.signal]);
    this.#running.set(sid, cancel);
    let done: T;
    try {
      done = await work({ ...options, signal });
    } catch (error) {
      // The process that drives the session now ends it.
      if (cancel.signal.aborted && error instanceof SessionLeasedError) await this.#coordinator.cancel(sid);
      throw error;
    } finally {
      this.#running.delete(sid);
    }
    return cancel.signal.aborted && (await this.#cancelOpen(sid)) ? cancelled(done) : done;
  }

  async #turns(sid: string, options: ResumeOptions, pace: Pace, session: SessionSpan): Promise<LoopResult> {
    const { maxTurns } = resolveCeilings(options);
    const { wallMs = WALL_MS, keepTurns = this.#coordinator.store instanceof MemoryStore } = options;
    const begun = this.#clock.monotonic();
    const state = await this.#coordinator.store.read(sid);
    if (state?.status !== 'open') throw new SessionStateError(sid, state?.status ?? 'unknown');
    const turns: TurnRecord[] = [];
    let output: string | null = null;
    const stop = async (reason: HaltReason, failure: string | ErrorInfo): Promise<LoopResult> => {
      await this.halt(sid, reason, typeof failure === 'string' ? failure : failure.message);
      session.stopped(reason);
      return { ...halted(sid, reason, failure), output, turns };
    };
    for (let decided = state.nextTurn - 1; ; decided++) {
      const left = wallMs - (this.#clock.monotonic() - begun);
      if (left <= 0) return stop('ERR_TIMEOUT', `the session did not end within ${wallMs} ms`);
      if (decided >= maxTurns) return stop('ERR_MAX_TURNS', `the session did not end within its maxTurns, ${maxTurns}`);
      try {
        const record = await this.#step(sid, { ...options, wallMs: left }, true);
        session.decided(record);
        if (keepTurns) turns.push(record);
        output = visibleOutput(record);
        const { decision, reason } = record;
        if (decision === 'CONTINUE' && !this.#handover.begun) await this.#handover.pause(pace);
        const leaves = decision === 'CONTINUE' && (this.#handover.begun || options.leave?.() === true);
        if (leaves) await this.#leave(sid);
        if (leaves || decision !== 'CONTINUE') return { sid, decision, reason, error: turnError(record), output, turns };
      } catch (error) {
        if (error instanceof SuspendedError) {
          session.stopped(SuspendedError.code);
          if (options.leave !== undefined) await this.#forget(sid);
          return { ...suspendedAt(sid, error.waiting), output, turns };
        }
        if (!(error instanceof AgentError)) throw error;
        if (!staysOpen(error, options)) return stop(error.reason, error.failure ?? error.message);
        session.stopped(error.reason);
        await (options.leave === undefined ? this.#leave(sid) : this.#forget(sid));
        return { ...unanswered(sid, error.message), output, turns };
      }
    }
  }

  /** Releases an open session between two turns, and removes what this process keeps for it. */
  async #leave(sid: string): Promise<void> {
    await this.#forget(sid);
    await this.#coordinator.leave(sid);
  }

  /** Removes what this process keeps for a session. */
  async #forget(sid: string): Promise<void> {
    this.#host.replay.dispose(sid);
    await this.#host.executor.end?.(sid);
  }

  async #step(sid: string, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
    using _lock = await this.#mutex.hold(sid);
    return await this.#telemetry.span(turnSpan(sid, options.agent), async (span) => {
      try {
        const record = await takeStep(this.#stepper, sid, this.#counting(options), keepLease);
        describeTurn(span, record);
        return record;
      } finally {
        if (this.#runtime !== undefined) this.metrics.seeRuntime(this.#runtime);
      }
    });
  }

  /** Options with which the events of a step are counted. */
  #counting(options: StepOptions): StepOptions {
    const onEvent: LoopListener = (event) => {
      this.metrics.see(event);
      return options.onEvent?.(event);
    };
    return { ...options, onEvent };
  }

  /**
   * Ends an open session, for hosts with a loop of their own; has no effect on an ended one. `message` says why, in words that are stored and
   * logged. Rejects with `SessionStateError` for an unknown session, and with `SessionLeasedError` while another process drives it.
   */
  async halt(sid: string, reason: HaltReason, message: string | null = null): Promise<void> {
    using _lock = await this.#mutex.hold(sid);
    using _alone = await this.#coordinator.work.alone(sid);
    const claimed = await this.#coordinator.claim(sid);
    const count = (record: TurnRecord | null): void => (record ? this.metrics.record(record) : this.metrics.ended(reason));
    if (claimed.state.status === 'open') await this.#coordinator.halt(claimed, reason, message, count);
    else await this.#coordinator.release(claimed);
    await this.#forget(sid);
  }
}
