import {
  carryForward,
  EnvelopeError,
  encodeUserdata,
  type Keyring,
  type Lifetimes,
  NO_PROGRESS_YET,
  ProgressGuard,
  type ProgressState,
  ReplayCache,
  resolveLifetimes,
  UserdataError,
} from '../aeiou/index.ts';
import { checkLimits, type LimitOptions, tighten } from '../sandbox/limits.ts';
import { ConfigError } from '../wire/errors.ts';
import { type Agent, AgentError, ask } from './agents.ts';
import type { Decision, HaltReason } from './decision.ts';
import { type LoopListener, Watcher } from './events.ts';
import type { TurnExecutor } from './executor.ts';
import { hostFailure } from './failure.ts';
import type { ProgressCheck } from './guard.ts';
import { composePrompt, type HostSections, readReply, type TurnInput } from './input.ts';
import { type DecisionLog, logEntry } from './log.ts';
import { Metrics } from './metrics.ts';
import { KeyedMutex } from './mutex.ts';
import { type Clock, type Ids, randomIds, systemClock } from './ports.ts';
import type { TurnRecord } from './record.ts';
import { type LoopResult, visibleOutput } from './result.ts';
import { MemoryStore, type SessionState, SessionStateError, type SessionStatus, type SessionStore } from './store.ts';
import { checkSid, runTurn, type TurnHost } from './turn.ts';

/** What a {@link LoopController} is made from. */
export interface LoopControllerOptions {
  readonly executor: TurnExecutor;
  /** Must hold a fallback key (A3-11.4-1). */
  readonly keyring: Keyring;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random ids when absent. */
  readonly ids?: Ids;
  /** A {@link MemoryStore} when absent. */
  readonly store?: SessionStore;
  /** No log when absent; the records of the store hold all that it would say. */
  readonly log?: DecisionLog;
  readonly metrics?: Metrics;
  readonly lifetimes?: Partial<Lifetimes>;
  /** Limits of every turn, tighter than the executor's own. */
  readonly limits?: LimitOptions;
  /** Equal turns in a row that end a session, from 2 to 100; 3 when absent (AL3-6-4). */
  readonly noProgressN?: number;
  /** Guards of the application, beside the mandatory one (A3-9-8). */
  readonly checks?: readonly ProgressCheck[];
}

/** One step of a session. */
export interface StepOptions {
  readonly agent: Agent;
  readonly limits?: LimitOptions;
  /** Ends the step: the agent is not waited for any longer, a running program is cancelled. */
  readonly signal?: AbortSignal;
  /** Most milliseconds of the step: the agent's time and then the program's. */
  readonly wallMs?: number;
  readonly onEvent?: LoopListener;
}

/** A whole session. */
export interface LoopOptions extends StepOptions {
  /** Any value; it must be of the form of A3-3.5, or the session is halted before the agent is asked. */
  readonly userdata: unknown;
  /** A new id when absent. */
  readonly sid?: string;
  /** Most turns, from 1; 25 when absent. */
  readonly maxTurns?: number;
  /** Most milliseconds of the whole session, agents and tools included; ten minutes when absent. */
  readonly wallMs?: number;
}

const MAX_TURNS = 25;
const WALL_MS = 600_000;

/**
 * The host loop (AL3-0-1): asks an agent for a program, runs it as one turn, decides, keeps and logs the decision, and
 * goes on while the decision is CONTINUE. Turns of one session never overlap, those of different sessions may.
 */
export class LoopController {
  readonly #host: TurnHost;
  readonly #store: SessionStore;
  readonly #log: DecisionLog | null;
  readonly #limits: LimitOptions;
  readonly #mutex = new KeyedMutex();
  readonly #running = new Map<string, AbortController>();
  /** What happened in all sessions of this controller. */
  readonly metrics: Metrics;

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for limits, lifetimes or an N that cannot be enforced. */
  constructor(options: LoopControllerOptions) {
    const clock = options.clock ?? systemClock;
    const lifetimes = resolveLifetimes(options.lifetimes);
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
    this.#store = options.store ?? new MemoryStore();
    this.#log = options.log ?? null;
    this.#limits = checkLimits(options.limits ?? {});
    this.metrics = options.metrics ?? new Metrics();
  }

  /**
   * Opens a session for {@link step} and returns its id. Throws {@link UserdataError} for USERDATA of the wrong form,
   * {@link ConfigError} for an id that is not 1 to 128 visible ASCII characters, `SessionExistsError` for one that is taken.
   */
  async open(userdata: unknown, sid: string = this.#host.ids.session()): Promise<string> {
    checkSid(sid);
    await this.#store.create({
      sid,
      status: 'open',
      reason: null,
      userdata: encodeUserdata(userdata),
      nextTurn: 1,
      output: null,
      scratchpad: null,
      progress: NO_PROGRESS_YET,
    });
    return sid;
  }

  /**
   * Takes the next turn of an open session: for hosts with a loop of their own. Everything happens under the session's
   * lock, the reading of its state included (AMB-34). Rejects with `SessionStateError` when the session is unknown or has
   * ended, with {@link AgentError} when the agent gave no reply (the session stays as it was), and as {@link runTurn} does.
   */
  step(sid: string, options: StepOptions): Promise<TurnRecord> {
    return this.#mutex.run(sid, async () => {
      const state = await this.#store.read(sid);
      if (state === null) throw new SessionStateError(sid, 'unknown');
      if (state.status !== 'open') throw new SessionStateError(sid, state.status);
      const begun = this.#host.clock.monotonic();
      const limits = tighten(tighten(this.#host.executor.limits, this.#limits), checkLimits(options.limits ?? {}));
      const watcher = new Watcher(options.onEvent);
      const input = await prepare(state, options, watcher);
      watcher.check();
      const left = (options.wallMs ?? Number.POSITIVE_INFINITY) - (this.#host.clock.monotonic() - begun);
      const { record, progress } = await runTurn(this.#host, {
        sid,
        turn: state.nextTurn,
        input,
        progress: state.progress,
        limits: tighten(limits, { wallMs: Math.max(1, Math.floor(left)) }),
        onEvent: watcher.emit,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      await this.#store.commit(record, stateAfter(state, record, progress));
      await this.#log?.append(logEntry(record));
      this.metrics.record(record);
      if (record.decision !== 'CONTINUE') this.#host.replay.dispose(sid);
      watcher.emit({ sid, turn: record.turn, type: 'decided', record });
      watcher.check();
      return record;
    });
  }

  /**
   * Runs a session to its end: DONE, ABORT or HALT, whatever the agent, the programs or the limits do. Rejects for misuse
   * and state alone (`ConfigError`, `SessionExistsError`, `RuntimeClosedError`, `BusyError`), and with what `onEvent` throws.
   */
  async runLoop(options: LoopOptions): Promise<LoopResult> {
    const maxTurns = ceiling('maxTurns', options.maxTurns ?? MAX_TURNS);
    const wallMs = ceiling('wallMs', options.wallMs ?? WALL_MS);
    const sid = options.sid ?? this.#host.ids.session();
    try {
      await this.open(options.userdata, sid);
    } catch (error) {
      if (!(error instanceof UserdataError)) throw error;
      return { ...halted(sid, error.code, error.message), output: null, turns: [] };
    }
    const cancel = new AbortController();
    const signal = options.signal === undefined ? cancel.signal : AbortSignal.any([cancel.signal, options.signal]);
    this.#running.set(sid, cancel);
    try {
      return await this.#turns(sid, { ...options, signal }, maxTurns, wallMs);
    } finally {
      this.#running.delete(sid);
    }
  }

  /** Ends a session that {@link runLoop} is running: HALT `ERR_CANCELLED`. False when there is no such session. */
  cancel(sid: string): boolean {
    const running = this.#running.get(sid);
    running?.abort();
    return running !== undefined;
  }

  async #turns(
    sid: string,
    options: LoopOptions & { readonly signal: AbortSignal },
    maxTurns: number,
    wallMs: number,
  ): Promise<LoopResult> {
    const { clock } = this.#host;
    const begun = clock.monotonic();
    const turns: TurnRecord[] = [];
    const stop = async (reason: HaltReason, message: string): Promise<LoopResult> => {
      await this.#halt(sid, reason);
      return { ...halted(sid, reason, message), output: shownOf(turns), turns };
    };
    for (;;) {
      const left = wallMs - (clock.monotonic() - begun);
      if (left <= 0) return stop('ERR_TIMEOUT', `the session did not end within ${wallMs} ms`);
      if (turns.length === maxTurns) return stop('ERR_MAX_TURNS', `the session did not end within ${maxTurns} turns`);
      try {
        const record = await this.step(sid, { ...options, wallMs: left });
        turns.push(record);
        const { decision, reason, error } = record;
        if (decision !== 'CONTINUE') return { sid, decision, reason, error, output: shownOf(turns), turns };
      } catch (error) {
        if (!(error instanceof AgentError)) throw error;
        return stop(error.reason, error.message);
      }
    }
  }

  /** Ends an open session between two turns. */
  #halt(sid: string, reason: HaltReason): Promise<void> {
    return this.#mutex.run(sid, async () => {
      const state = await this.#store.read(sid);
      if (state?.status === 'open') await this.#store.commit(null, { ...state, status: 'halted', reason });
      this.#host.replay.dispose(sid);
    });
  }
}

/** The agent's reply as the input of the next turn. A prompt that cannot be composed is a turn that cannot start (AL3-2-5). */
async function prepare(state: SessionState, options: StepOptions, { emit }: Watcher): Promise<TurnInput> {
  const sections: HostSections = { userdata: state.userdata, output: state.output, scratchpad: state.scratchpad };
  const { sid, nextTurn: turn } = state;
  let prompt: string;
  try {
    prompt = composePrompt(sections);
  } catch (error) {
    if (error instanceof EnvelopeError) return { ok: false, text: '', failure: error };
    throw error;
  }
  emit({ sid, turn, type: 'asked', prompt });
  const reply = await ask(options.agent, { sid, turn, prompt }, options);
  emit({ sid, turn, type: 'replied', reply });
  return readReply(sections, reply);
}

const STATUS = { CONTINUE: 'open', DONE: 'done', ABORT: 'aborted', HALT: 'halted' } as const satisfies Record<
  Decision,
  SessionStatus
>;

/** The session after a turn; what was said goes into the next envelope only when there is one (A3-8-6). */
function stateAfter(
  state: SessionState,
  { decision, reason, output, scratchpad }: TurnRecord,
  progress: ProgressState,
): SessionState {
  const goesOn = decision === 'CONTINUE';
  return {
    ...state,
    status: STATUS[decision],
    reason,
    nextTurn: state.nextTurn + 1,
    output: goesOn ? carryForward(output) : null,
    scratchpad: goesOn ? carryForward(scratchpad) : null,
    progress,
  };
}

function halted(sid: string, reason: HaltReason, message: string): Pick<LoopResult, 'sid' | 'decision' | 'reason' | 'error'> {
  return { sid, decision: 'HALT', reason, error: hostFailure(reason, message) };
}

function shownOf(turns: readonly TurnRecord[]): string | null {
  const last = turns.at(-1);
  return last === undefined ? null : visibleOutput(last);
}

function ceiling(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new ConfigError(`${name} must be a whole number from 1, got ${String(value)}`);
  return value;
}
