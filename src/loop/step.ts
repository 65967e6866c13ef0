import { carryForward, type ProgressState } from '../aeiou/index.ts';
import { turnStorage } from '../context/index.ts';
import { tighten } from '../sandbox/index.ts';
import { StoreError } from '../sqlite/error.ts';
import { callDepth } from '../tools/index.ts';
import { AgentError } from './agents/index.ts';
import { type TakeApart, takeApart } from './apart.ts';
import { allowance, type ResolvedCeilings, resolveCeilings } from './ceilings.ts';
import { Watcher } from './events.ts';
import type { StepOptions } from './options.ts';
import {
  approvedBefore,
  ownLimits,
  planContinuation,
  quotaOf,
  reasonToHalt,
  type Step,
  type Stepper,
  sectionsOf,
  startedTurn,
  storedReply,
  storedStep,
  type TurnPlan,
  wallMsLeft,
} from './plan.ts';
import { ASK_QUOTA, tokensOfAsks } from './quota.ts';
import type { Decision } from './record/decision.ts';
import type { KeptCall } from './record/kept.ts';
import type { TurnRecord } from './record/record.ts';
import { SuspendedError, type SuspendedTurn, storedCalls, suspend, waitingOf } from './record/suspension.ts';
import { isKept } from './sessions/configuration.ts';
import type { DrivenSession } from './sessions/coordinator.ts';
import { SessionLeasedError, SessionStateError } from './sessions/errors.ts';
import { type KeptTurn, type Point, pointOf } from './sessions/point.ts';
import type { ClaimedSession, SessionState, SessionStatus, StartedTurn, WaitingTurn } from './sessions/store.ts';
import { signApproval } from './suspend/signed.ts';
import { StepTenant } from './tenant.ts';
import { type Consultation, consultAgent } from './turn/consult.ts';
import { runSuspendableTurn, runTurn, type TurnOutcome } from './turn/turn.ts';

/**
 * Takes the next turn of an open session. The caller holds the session's lock in this process. The step takes the lease of the store and
 * releases it at the end, unless `keepLease` is set and the session goes on. For a turn in a process of its own, the only event is the
 * decision.
 */
export async function takeStep(stepper: Stepper, sid: string, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
  for (;;) {
    const taken = await takeHere(stepper, sid, options, keepLease);
    if ('record' in taken) return taken.record;
    const { coordinator } = stepper;
    const record = await takeApart({ coordinator, takeApart: taken.takeApart }, taken.started, options.signal);
    if (record !== null) return tell(stepper, record, new Watcher(options.onEvent));
  }
}

/** A turn that was decided here, or a started turn for a process of its own. */
type Taken = { readonly record: TurnRecord } | { readonly started: StartedTurn; readonly takeApart: TakeApart };

function takeHere(stepper: Stepper, sid: string, options: StepOptions, keepLease: boolean): Promise<Taken> {
  return holding(stepper, sid, options, (claimed, held) => takeTurn(stepper, claimed, held, keepLease));
}

/**
 * Consults the agent for the next turn of an open session, stores the reply, and releases the session. The caller holds the session's
 * lock in this process. False when no reply is needed.
 */
export function takeReply(stepper: Stepper, sid: string, options: StepOptions): Promise<boolean> {
  return holding(stepper, sid, options, async (claimed, held) => {
    const { coordinator } = stepper;
    const isStored = await storeReply(stepOf(stepper, claimed, held));
    await coordinator.release(claimed);
    return isStored;
  });
}

/** Runs `work` for an open session under its lease. `work` gives the lease up unless it throws. */
async function holding<T>(
  stepper: Stepper,
  sid: string,
  options: StepOptions,
  work: (claimed: DrivenSession, options: StepOptions) => Promise<T>,
): Promise<T> {
  const { coordinator, host } = stepper;
  const lost = new AbortController();
  const signal = options.signal === undefined ? lost.signal : AbortSignal.any([lost.signal, options.signal]);
  const claimed = await coordinator.claim(sid);
  const { state } = claimed;
  try {
    if (state.status !== 'open') throw new SessionStateError(sid, state.status);
    await coordinator.mustAgree(state);
    if (claimed.cancelled) lost.abort();
    host.replay.restore(sid, claimed.used);
    const held = () => work(claimed, { ...options, signal });
    return await coordinator.during(claimed, () => lost.abort(), held);
  } catch (error) {
    // Another process drives the session, or will. So this process drops what it keeps for the session, and stores nothing of this
    // failure.
    if (error instanceof SessionLeasedError || !coordinator.lasts(claimed)) {
      host.replay.dispose(sid);
      await host.executor.end?.(sid);
      await coordinator.release(claimed).catch(() => {});
      throw error instanceof SessionLeasedError ? error : new SessionLeasedError(sid, null);
    }
    // Tokens count even when the agent gave no reply, so that repeated consulting cannot exceed a ceiling.
    if (error instanceof AgentError && error.tokens > 0) {
      const { fuel, tokens } = state.spent;
      await coordinator.commit(claimed, null, { ...state, spent: { fuel, tokens: tokens + error.tokens } });
    }
    // If releasing fails as well, the lease expires. The first error is the one to report.
    await coordinator.release(claimed).catch(() => {});
    throw error;
  }
}

async function takeTurn(stepper: Stepper, claimed: DrivenSession, options: StepOptions, keepLease: boolean): Promise<Taken> {
  const step = stepOf(stepper, claimed, options);
  const { point, watcher } = step;
  const reason = reasonToHalt(stepper, claimed, point);
  const halted = reason === null ? null : await stepper.coordinator.halt(claimed, reason);
  if (halted !== null) return { record: await tell(stepper, halted, watcher) };
  if (stepper.takeApart !== null && runsApart(point, options.signal))
    return { started: point.started, takeApart: stepper.takeApart };
  return { record: await tell(stepper, await decideTurn(step, keepLease), watcher) };
}

function stepOf(stepper: Stepper, claimed: DrivenSession, options: StepOptions): Step {
  const { executor, clock } = stepper.host;
  const tenant = new StepTenant(executor.tenants, options.tenant);
  const watcher = new Watcher(options.onEvent);
  const point = pointOf(claimed);
  return { stepper, claimed, state: claimed.state, point, options, watcher, tenant, begun: clock.monotonic() };
}

/** Stores the reply of a turn that has none yet. This begins no attempt: the next one uses the stored reply. */
async function storeReply(step: Step): Promise<boolean> {
  const { stepper, claimed, state, point, options } = step;
  const { host, coordinator } = stepper;
  if (point.kind === 'waiting' || point.kind === 'kept' || (point.kind === 'interrupted' && point.started.reply !== null))
    return false;
  if (state.nextTurn > resolveCeilings(options).maxTurns) return false;
  const plan = (await planTurn(step, point))();
  if (plan.reply === null) return false;
  const start = { startedAt: host.clock.now(), nonce: host.ids.nonce(state.sid, state.nextTurn) };
  await coordinator.start({ ...startedTurn(step, plan, start), attempt: plan.before?.attempt ?? 0 }, claimed);
  return true;
}

/** Forgets what this process keeps for a session that has ended, and reports the decision. */
async function tell({ host }: Stepper, record: TurnRecord, watcher: Watcher): Promise<TurnRecord> {
  const { sid, turn, decision } = record;
  if (decision !== 'CONTINUE') {
    host.replay.dispose(sid);
    await host.executor.end?.(sid);
  }
  watcher.emit({ sid, turn, type: 'decided', record });
  watcher.close();
  return record;
}

/** Whether an earlier attempt at the turn ended its process, or may have. */
function wasInterrupted(point: Point): point is Exclude<Point, { readonly kind: 'fresh' }> {
  return point.kind !== 'fresh' && point.started.attempt > 0;
}

/**
 * Whether a process of its own can take the turn. A turn that a tool takes runs within the turn that called the tool, so it cannot. Nor
 * can a turn without a stored reply: the agent is consulted first, and the session may end then.
 */
function runsApart(point: Point, signal: AbortSignal | undefined): point is Exclude<Point, { readonly kind: 'fresh' }> {
  return wasInterrupted(point) && point.started.reply !== null && callDepth() === 0 && signal?.aborted !== true;
}

/**
 * Plans the turn, and runs it as soon as it may run in this process. A turn whose process died may have killed it. If it cannot have a
 * process of its own, its next attempt runs alone, so that it ends no other turn if it kills this process too.
 */
async function decideTurn(step: Step, keepLease: boolean): Promise<TurnRecord> {
  const { point } = step;
  const { turns } = step.stepper.coordinator;
  if (point.kind === 'kept' && point.progress.begun.length > 0) return askWhatHappened(step, point);
  const plan =
    point.kind === 'waiting' || point.kind === 'kept' ? () => planContinuation(step, point) : await planTurn(step, point);
  // A turn that a tool takes runs within the turn that called the tool, so it must not wait for the end of that turn.
  using _lock = callDepth() > 0 ? null : await turns.hold(wasInterrupted(point), step.options.signal);
  return await runAndStore(step, plan(), keepLease);
}

/** Runs a turn and stores its decision, or stores that it waits and throws {@link SuspendedError}. */
async function runAndStore(step: Step, plan: TurnPlan, keepLease: boolean): Promise<TurnRecord> {
  const { stepper, claimed, state } = step;
  const { coordinator } = stepper;
  const outcome = await runPlan(step, plan);
  if (outcome.kind === 'decided') {
    // The turn ended because the lease was lost. It has no decision: the next process with the lease takes it again.
    if (outcome.record.reason === 'ERR_CANCELLED' && !coordinator.lasts(claimed)) throw new SessionLeasedError(state.sid, null);
    step.tenant.pay(tokensOfAsks(outcome.record.journal));
    await coordinator.commit(claimed, outcome.record, stateAfter(state, outcome.record, outcome.progress), keepLease);
    return outcome.record;
  }
  return putAside(step, startedTurn(step, plan, outcome.earlier), outcome);
}

/** Suspends the turn until a person enters the outcome of the calls that had begun when their process died. */
function askWhatHappened(step: Step, { started, progress }: KeptTurn): Promise<never> {
  const { run, journal, earlier, begun } = progress;
  const { executor } = step.stepper.host;
  const done = new Set([...journal, ...begun].map(({ seq }) => seq));
  const others = started.suspended === null ? [] : storedCalls(started.suspended).filter(({ waiting }) => !done.has(waiting.seq));
  const doubtful = begun.map((waiting) => ({ waiting, promise: executor.promise?.(waiting.tool) ?? null }));
  const calls = [...doubtful, ...others.map(({ waiting, promise }) => ({ waiting, promise }))];
  const [first, ...also] = calls.toSorted((a, b) => a.waiting.seq - b.waiting.seq);
  if (first === undefined) throw new StoreError('damaged', 'a turn in doubt has no call');
  const alsoWaiting = also.length === 0 ? {} : { alsoWaiting: also };
  const approved = approvedBefore(step, started);
  return putAside(step, started, { ...first, ...alsoWaiting, approved, earlier: { ...earlier, run, journal } });
}

/** Stores that a turn waits, and throws {@link SuspendedError}. */
async function putAside(step: Step, started: StartedTurn, turn: SuspendedTurn): Promise<never> {
  const { stepper, claimed, watcher } = step;
  const { host, coordinator, maxWaitMs } = stepper;
  const { sid, turn: index } = started;
  const approved = await signApproval(host.keyring, { sid, turn: index }, turn);
  const suspended = suspend(turn, approved, host.clock.now(), maxWaitMs, started.suspended);
  await coordinator.start({ ...started, attempt: 0, suspended }, claimed);
  const waiting = waitingOf(index, suspended);
  watcher.emit({ sid, turn: index, type: 'suspended', waiting });
  watcher.close();
  throw new SuspendedError(sid, waiting);
}

/**
 * Gets the reply of a turn that runs from its beginning. After an interruption, the stored reply is used again. The plan is made when the
 * turn may run, because its time limit is the rest of the step's time at that moment.
 */
async function planTurn(step: Step, next: Exclude<ClaimedSession['next'], WaitingTurn>): Promise<() => TurnPlan> {
  const { state, options, watcher, tenant } = step;
  const ceilings = resolveCeilings(options);
  const { fuel, tokens } = allowance(state, ceilings);
  tenant.admit(state.nextTurn);
  const consultation =
    next.kind === 'interrupted' && next.started.reply !== null
      ? storedReply(state, next.started, next.started.reply)
      : await consult(step, ceilings, least(tokens, tenant.tokens));
  watcher.check();
  const before = next.kind === 'fresh' ? null : next.started;
  return () => ({
    ...consultation,
    attempt: 1 + (before?.attempt ?? 0),
    limits: tighten(tighten(ownLimits(step), { wallMs: wallMsLeft(step), ...(fuel === null ? {} : { fuel }) }), tenant.limits),
    quota: quotaOf(ceilings, state.spent.tokens + (consultation.agent?.tokens ?? 0)),
    earlier: null,
    before,
  });
}

/**
 * Consults the agent for the next turn. The consultation happens within the turn's context, so the agent and everything it uses
 * find the session and the turn there.
 */
async function consult(
  { stepper, state, options, watcher, tenant }: Step,
  ceilings: ResolvedCeilings,
  tokens: number | null,
): Promise<Consultation> {
  const { system, grammar, host } = stepper;
  const { agent, signal, wallMs = Number.POSITIVE_INFINITY } = options;
  const { sid, nextTurn: turn } = state;
  using context = host.executor.context({
    sessionId: sid,
    turnIndex: turn,
    signal,
    ...(tenant.id === null ? {} : { tenant: tenant.id }),
  });
  const consulted = turnStorage.run(context, () =>
    consultAgent({
      sid,
      turn,
      agent,
      sections: sectionsOf(state),
      system,
      grammar,
      clock: host.clock,
      tokens,
      ceilings,
      wallMs,
      signal,
      emit: (event) => watcher.emit({ sid, turn, ...event }),
    }),
  );
  try {
    const consultation = await consulted;
    tenant.pay(consultation.agent?.tokens ?? 0);
    return consultation;
  } catch (error) {
    if (error instanceof AgentError) tenant.pay(error.tokens);
    throw error;
  }
}

/** The lower of two amounts; null stands for no limit. */
function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/**
 * Runs a planned turn. An error before VERIFYING is misuse or state: the program did not run, so the stored start is undone. An
 * error after it, for instance from a guard of the application, leaves an interrupted turn.
 */
async function runPlan(step: Step, plan: TurnPlan): Promise<TurnOutcome> {
  const { stepper, claimed, state, options, watcher, tenant } = step;
  const { host, coordinator, mayWait } = stepper;
  const { input, agent, limits, quota, earlier, before } = plan;
  const { approval, requiresApproval = false, signal } = options;
  let undo = false;
  try {
    return await (mayWait ? runSuspendableTurn : runTurn)(host, {
      sid: state.sid,
      turn: state.nextTurn,
      prev: state.head,
      progress: state.progress,
      input,
      agent,
      limits,
      ...(earlier === null ? {} : { earlier }),
      ...(isKept(claimed.setup) ? { keep: (call: KeptCall) => coordinator.keep(claimed, storedStep(step, plan, call)) } : {}),
      onStart: async (start) => {
        await coordinator.start(startedTurn(step, plan, start), claimed);
        undo = true;
      },
      onEvent: (event) => {
        if (event.type === 'state' && event.to === 'VERIFYING') undo = false;
        watcher.emit(event);
      },
      mayAct: () => coordinator.lasts(claimed),
      fence: claimed.fence,
      origin: state.sid,
      attempt: plan.attempt,
      approval: approval === undefined ? { requiresApproval } : { requiresApproval, approval },
      ...(quota === null ? {} : { values: { [ASK_QUOTA]: quota } }),
      signal,
      ...(tenant.id === null ? {} : { tenant: tenant.id }),
    });
  } catch (error) {
    if (undo) await (before === null ? coordinator.withdraw(claimed) : coordinator.start(before, claimed));
    throw error;
  }
}

const STATUS = { CONTINUE: 'open', DONE: 'done', ABORT: 'aborted', HALT: 'halted' } as const satisfies Record<
  Decision,
  SessionStatus
>;

/** The session after a turn. The two streams are carried forward only if another envelope follows. */
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
    agent: agent?.name ?? state.agent,
    head: seal?.hash ?? state.head,
  };
}
