import { carryForward, type ProgressState } from '../../aeiou/index.ts';
import { turnStorage } from '../../context/index.ts';
import { checkLimits, type LimitOptions, tighten } from '../../sandbox/limits.ts';
import type { LimitValues } from '../../wire/limits.ts';
import { type AgentUse, type Asked, askAgent } from '../agents/consult.ts';
import { AgentError } from '../agents/index.ts';
import { Purse, tokensOfAsks } from '../ask/purse.ts';
import { type Allowance, allowance, type CheckedCeilings, checkCeilings } from '../ceilings.ts';
import { Watcher } from '../events.ts';
import type { StepOptions } from '../options.ts';
import type { Keeper } from '../sessions/keeper.ts';
import { type ClaimedSession, type SessionState, SessionStateError, type SessionStatus } from '../sessions/store.ts';
import { mustBeUnchanged } from '../suspend/complete.ts';
import { SuspendedError } from '../suspend/errors.ts';
import { expiredCompletion, goOn } from '../suspend/resume.ts';
import { type OnExpired, type Suspension, suspend, waitingOf } from '../suspend/suspension.ts';
import type { TurnApproval } from './approval.ts';
import type { Decision } from './decision.ts';
import { type HostSections, readReply, type TurnInput } from './input.ts';
import type { TurnRecord } from './record.ts';
import { type EarlierRun, runWaitingTurn, type TurnHost, type TurnOutcome, type TurnRequest, type TurnWaits } from './turn.ts';

/** What steps are taken with. */
export interface Stepper {
  readonly host: TurnHost;
  readonly keeper: Keeper;
  /** What agents are told beside the envelopes. */
  readonly system: string;
  readonly limits: LimitOptions;
  /** How often a turn is run at most, when the processes that run it die. */
  readonly maxAttempts: number;
  readonly onExpired: OnExpired;
  /** Whether a tool may put a turn aside. */
  readonly mayWait: boolean;
  /** Milliseconds that a call may wait. */
  readonly maxWaitMs: number;
}

/**
 * Takes the next turn of an open session. The caller holds the session's lock in this process; the lease of the store is
 * taken here and, unless `keepLease`, given up again, however the step ends.
 */
export async function takeStep(stepper: Stepper, sid: string, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
  const { keeper, host } = stepper;
  const gone = new AbortController();
  const signal = options.signal === undefined ? gone.signal : AbortSignal.any([gone.signal, options.signal]);
  const claimed = await keeper.claim(sid);
  try {
    const { state } = claimed;
    if (state.status !== 'open') throw new SessionStateError(sid, state.status);
    if (claimed.cancelled) gone.abort();
    host.replay.restore(sid, claimed.used);
    const step = () => takeTurn(stepper, claimed, { ...options, signal }, keepLease);
    return await keeper.during(sid, () => gone.abort(), step);
  } catch (error) {
    // What an agent has cost is kept also when it gave no reply, so that asking again and again cannot pass a ceiling.
    if (error instanceof AgentError && error.tokens > 0) {
      const { fuel, tokens } = claimed.state.spent;
      await keeper.commit(null, { ...claimed.state, spent: { fuel, tokens: tokens + error.tokens } });
    }
    // Should this fail too, the lease ends by itself; what is thrown is what went wrong first.
    await keeper.release(sid).catch(() => {});
    throw error;
  }
}

async function takeTurn(
  stepper: Stepper,
  claimed: ClaimedSession,
  options: StepOptions,
  keepLease: boolean,
): Promise<TurnRecord> {
  const { host, keeper } = stepper;
  const { state, started } = claimed;
  const { sid, nextTurn: turn } = state;
  const watcher = new Watcher(options.onEvent);
  const attempt = (started?.attempt ?? 0) + 1;
  const suspended = started?.suspended ?? null;
  let record: TurnRecord | null = null;
  if (suspended !== null && claimed.cancelled) record = await keeper.halt(claimed, 'ERR_CANCELLED');
  else if (attempt > stepper.maxAttempts) record = await keeper.halt(claimed, 'ERR_INTERRUPTED');
  else if (suspended !== null && mayExpire(stepper, turn, suspended, sid))
    record = await keeper.halt(claimed, 'ERR_CALL_EXPIRED');
  if (record === null) {
    const begun = host.clock.monotonic();
    const own = tighten(tighten(host.executor.limits, stepper.limits), checkLimits(options.limits ?? {}));
    const ceilings = checkCeilings(options);
    // A turn that has begun has its limits.
    const allowed = suspended === null ? allowance(state, ceilings) : UNBOUNDED;
    const { input, reply, agent } =
      typeof started?.reply === 'string'
        ? { ...started, input: readReply(sectionsOf(state), started.reply) }
        : await asked(stepper, state, options, ceilings, allowed, watcher);
    watcher.check();
    const left = (options.wallMs ?? Number.POSITIVE_INFINITY) - (host.clock.monotonic() - begun);
    const limits = tighten(suspended === null || started === null ? own : started.limits, {
      wallMs: Math.max(1, Math.floor(left)),
      ...(allowed.fuel === null ? {} : { fuel: allowed.fuel }),
    });
    // What a turn may use is settled when it begins; only the time of this step may be less.
    const kept = suspended === null || started === null ? {} : { limits: started.limits };
    const earlier =
      suspended === null ? null : goOn(suspended, suspended.completion ?? expiredCompletion(turn, suspended), limits);
    const taken = state.spent.tokens + (agent?.tokens ?? 0) + tokensOfAsks(suspended?.earlier.journal ?? []);
    const outcome = await runStarted(stepper, state, {
      purse: purseFor(ceilings, taken),
      input,
      agent,
      options,
      watcher,
      limits,
      earlier,
      begin: (start) => keeper.start({ sid, turn, attempt, ...start, ...kept, reply, agent, suspended }),
      undo: () => (started === null || suspended === null ? keeper.withdraw(sid) : keeper.start(started)),
    });
    if ('waiting' in outcome) {
      const waits = suspend(outcome, host.clock.now(), stepper.maxWaitMs);
      const { startedAt, nonce } = outcome.earlier;
      await keeper.start({ sid, turn, attempt: 0, startedAt, nonce, limits, ...kept, reply, agent, suspended: waits });
      const waiting = waitingOf(turn, waits);
      watcher.emit({ sid, turn, type: 'suspended', waiting });
      watcher.check();
      throw new SuspendedError(sid, waiting);
    }
    record = outcome.record;
    await keeper.commit(record, stateAfter(state, record, outcome.progress), keepLease);
  }
  if (record.decision !== 'CONTINUE') {
    host.replay.dispose(sid);
    await host.executor.end?.(sid);
  }
  watcher.emit({ sid, turn, type: 'decided', record });
  watcher.check();
  return record;
}

const UNBOUNDED: Allowance = { fuel: null, tokens: null };

/**
 * Whether a turn that waits ends here, since nobody completed its call in time. Throws {@link SuspendedError} while there is
 * time, and {@link CallError} (`ERR_CALL_CHANGED`) when it was completed and cannot go on.
 */
function mayExpire({ host, onExpired }: Stepper, turn: number, suspended: Suspension, sid: string): boolean {
  const waiting = waitingOf(turn, suspended);
  if (suspended.completion !== null) {
    mustBeUnchanged(host.executor, waiting.call, suspended);
    return false;
  }
  if (host.clock.now() < suspended.expiresAt) throw new SuspendedError(sid, waiting);
  return onExpired === 'halt';
}

/** What asks may take of a session's model tokens, once so many were taken. */
function purseFor({ maxTokens }: CheckedCeilings, taken: number): Purse | null {
  if (maxTokens === undefined) return null;
  return new Purse(null, { turns: null, tokens: Math.max(0, maxTokens - taken), ceiling: maxTokens });
}

interface Prepared {
  readonly purse: Purse | null;
  readonly earlier: EarlierRun | null;
  /** Takes `begin` back. */
  readonly undo: () => Promise<void>;
  readonly input: TurnInput;
  readonly agent: AgentUse | null;
  readonly options: StepOptions;
  readonly watcher: Watcher;
  readonly limits: LimitValues;
  readonly begin: NonNullable<TurnRequest['onStart']>;
}

/**
 * Runs the turn. What rejects before VERIFYING is misuse and state: the program did not run, so the turn was not started
 * either. What rejects later, such as a guard of the application, leaves an interrupted turn.
 */
async function runStarted(
  { host, mayWait }: Stepper,
  { sid, nextTurn: turn, progress, head }: SessionState,
  { purse, input, agent, options, watcher, limits, earlier, begin, undo }: Prepared,
): Promise<TurnOutcome | TurnWaits> {
  let undone = false;
  try {
    return await runWaitingTurn(
      host,
      {
        prev: head,
        ...(earlier === null ? {} : { earlier }),
        sid,
        turn,
        input,
        agent,
        progress,
        limits,
        onStart: async (start) => {
          await begin(start);
          undone = true;
        },
        onEvent: (event) => {
          if (event.type === 'state' && event.to === 'VERIFYING') undone = false;
          watcher.emit(event);
        },
        approval: approvalOf(options),
        ...(purse === null ? {} : { purse }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      mayWait,
    );
  } catch (error) {
    if (undone) await undo();
    throw error;
  }
}

function approvalOf({ approval, requiresApproval = false }: StepOptions): TurnApproval {
  return approval === undefined ? { requiresApproval } : { requiresApproval, approval };
}

/**
 * The agent's reply as the input of the next turn. Who drives a turn is in it from its beginning: an agent, and what it uses,
 * finds the session and the turn in the current context (CTX-4-2).
 */
async function asked(
  { system, host }: Stepper,
  state: SessionState,
  { agent, signal, wallMs = Number.POSITIVE_INFINITY }: StepOptions,
  ceilings: CheckedCeilings,
  { tokens }: Allowance,
  watcher: Watcher,
): Promise<Asked> {
  const { sid, nextTurn: turn } = state;
  using context = host.executor.context({ sessionId: sid, turnIndex: turn, ...(signal === undefined ? {} : { signal }) });
  const asking = {
    sid,
    turn,
    agent,
    sections: sectionsOf(state),
    system,
    clock: host.clock,
    tokens,
    ceilings,
    wallMs,
    signal,
    emit: (event) => watcher.emit({ sid, turn, ...event }),
  } satisfies Parameters<typeof askAgent>[0];
  return await turnStorage.run(context, () => askAgent(asking));
}

function sectionsOf({ userdata, output, scratchpad }: SessionState): HostSections {
  return { userdata, output, scratchpad };
}

const STATUS = { CONTINUE: 'open', DONE: 'done', ABORT: 'aborted', HALT: 'halted' } as const satisfies Record<
  Decision,
  SessionStatus
>;

/** The session after a turn; what was said goes into the next envelope only when there is one (A3-8-6). */
function stateAfter(
  state: SessionState,
  { decision, reason, output, scratchpad, usage, seal, agent, journal }: TurnRecord,
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
    spent: {
      fuel: state.spent.fuel + usage.fuel,
      tokens: state.spent.tokens + (agent?.tokens ?? 0) + tokensOfAsks(journal),
    },
    head: seal?.hash ?? state.head,
  };
}
