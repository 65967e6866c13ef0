import { carryForward, type ProgressState } from '../aeiou/index.ts';
import { turnStorage } from '../context/index.ts';
import { type LimitOptions, tighten } from '../sandbox/index.ts';
import { callDepth } from '../tools/index.ts';
import type { LimitValues } from '../wire/limits.ts';
import { AgentError } from './agents/index.ts';
import { allowance, type ResolvedCeilings, resolveCeilings } from './ceilings.ts';
import { Watcher } from './events.ts';
import type { StepOptions } from './options.ts';
import { ASK_QUOTA, AskQuota, tokensOfAsks } from './quota.ts';
import type { Decision, HaltReason } from './record/decision.ts';
import type { TurnRecord } from './record/record.ts';
import { callId, type OnExpired, openCalls, SuspendedError, storedCalls, suspend, waitingOf } from './record/suspension.ts';
import type { DrivenSession, SessionCoordinator } from './sessions/coordinator.ts';
import {
  type ClaimedSession,
  type SessionState,
  SessionStateError,
  type SessionStatus,
  type StartedTurn,
  type WaitingTurn,
} from './sessions/store.ts';
import { SharedLock } from './sharedlock.ts';
import { checkToolUnchanged } from './suspend/complete.ts';
import { continuation } from './suspend/resume.ts';
import { signApproval, verifiedApproval } from './suspend/signed.ts';
import { StepTenant } from './tenant.ts';
import { type Consultation, consultAgent } from './turn/consult.ts';
import { type HostSections, readReply } from './turn/input.ts';
import { type EarlierRun, runSuspendableTurn, runTurn, type TurnHost, type TurnOutcome, type TurnStart } from './turn/turn.ts';

/** The settings that all steps of a controller share. */
export interface Stepper {
  readonly host: TurnHost;
  readonly coordinator: SessionCoordinator;
  /** The system text for agents, in addition to the envelopes. */
  readonly system: string;
  readonly limits: LimitOptions;
  /** Most attempts at a turn alone in its process, after a first one beside other turns. */
  readonly maxAttempts: number;
  readonly onExpired: OnExpired;
  /** Whether a tool may suspend a turn. */
  readonly mayWait: boolean;
  /** Milliseconds that a call may wait. */
  readonly maxWaitMs: number;
}

/**
 * Takes the next turn of an open session. The caller holds the session's lock in this process. The step takes the lease of the
 * store and releases it at the end, unless `keepLease` is set and the session goes on.
 */
export async function takeStep(stepper: Stepper, sid: string, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
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
    const step = () => takeTurn(stepper, claimed, { ...options, signal }, keepLease);
    return await coordinator.during(claimed, () => lost.abort(), step);
  } catch (error) {
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

async function takeTurn(stepper: Stepper, claimed: DrivenSession, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
  const { host, coordinator } = stepper;
  const { sid, nextTurn: turn } = claimed.state;
  const watcher = new Watcher(options.onEvent);
  const tenant = new StepTenant(host.executor.tenants, options.tenant);
  const reason = reasonToHalt(stepper, claimed);
  const record =
    (reason === null ? null : await coordinator.halt(claimed, reason)) ??
    (await decideTurn(
      { stepper, claimed, state: claimed.state, options, watcher, tenant, begun: host.clock.monotonic() },
      keepLease,
    ));
  if (record.decision !== 'CONTINUE') {
    host.replay.dispose(sid);
    await host.executor.end?.(sid);
  }
  watcher.emit({ sid, turn, type: 'decided', record });
  watcher.check();
  return record;
}

/**
 * Why a turn that was started is halted instead of run; null when it runs. Throws {@link SuspendedError} while its call may
 * still be completed, and `CallError` (`ERR_CALL_CHANGED`) when the completed call cannot be used.
 */
function reasonToHalt({ host, maxAttempts, onExpired }: Stepper, { state, next, cancelled }: ClaimedSession): HaltReason | null {
  if (next.kind === 'fresh') return null;
  if (next.kind === 'waiting' && cancelled) return 'ERR_CANCELLED';
  if (next.started.attempt > maxAttempts) return 'ERR_INTERRUPTED';
  if (next.kind === 'interrupted') return null;
  const { suspended } = next;
  const now = host.clock.now();
  const open = openCalls(suspended);
  if (open.length > 0 && open.every(({ expiresAt }) => now < expiresAt))
    throw new SuspendedError(state.sid, waitingOf(state.nextTurn, suspended));
  if (open.length > 0 && onExpired === 'halt') return 'ERR_CALL_EXPIRED';
  for (const call of storedCalls(suspended))
    if (call.completion !== null) checkToolUnchanged(host.executor, callId(state.nextTurn, call.waiting), call);
  return null;
}

/** One step under way. */
interface Step {
  readonly stepper: Stepper;
  readonly claimed: DrivenSession;
  readonly state: SessionState;
  readonly options: StepOptions;
  readonly watcher: Watcher;
  readonly tenant: StepTenant;
  /** The monotonic clock at the beginning of the step, milliseconds. */
  readonly begun: number;
}

/** What a turn runs with. */
interface TurnPlan extends Consultation {
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Limits of this execution. */
  readonly limits: LimitValues;
  readonly quota: AskQuota | null;
  /** The turn that this one continues; null for a turn that runs from its beginning. */
  readonly waiting: (WaitingTurn & { readonly earlier: EarlierRun }) | null;
  /** What the store held of the turn before this attempt; null for a new turn. */
  readonly before: StartedTurn | null;
}

/**
 * Held by every turn of this process, whatever its controller and store. A turn whose process died may be the cause of the death.
 * Its next attempt runs alone, so that it ends no other turn if it ends this process too.
 */
const turns = new SharedLock();

/** Plans the turn, and runs it as soon as it may run in this process. */
async function decideTurn(step: Step, keepLease: boolean): Promise<TurnRecord> {
  const { next } = step.claimed;
  const plan = next.kind === 'waiting' ? () => planContinuation(step, next) : await planTurn(step, next);
  // The turns that a tool takes run within the turn that called the tool. They must not wait for its end.
  const alone = next.kind !== 'fresh' && next.started.attempt > 0;
  using _lock = callDepth() > 0 ? null : await turns.hold(alone, step.options.signal);
  return await runAndStore(step, plan(), keepLease);
}

/** Runs a turn and stores its decision, or stores that it waits and throws {@link SuspendedError}. */
async function runAndStore(step: Step, plan: TurnPlan, keepLease: boolean): Promise<TurnRecord> {
  const { stepper, claimed, state, watcher } = step;
  const { sid, nextTurn: turn } = state;
  const { coordinator, host } = stepper;
  const outcome = await runPlan(step, plan);
  if (outcome.kind === 'decided') {
    step.tenant.pay(tokensOfAsks(outcome.record.journal));
    await coordinator.commit(claimed, outcome.record, stateAfter(state, outcome.record, outcome.progress), keepLease);
    return outcome.record;
  }
  const approved = await signApproval(host.keyring, { sid, turn }, outcome);
  const suspended = suspend(outcome, approved, host.clock.now(), stepper.maxWaitMs, plan.waiting?.suspended ?? null);
  await coordinator.start({ ...startedTurn(step, plan, outcome.earlier), attempt: 0, suspended }, claimed);
  const waiting = waitingOf(turn, suspended);
  watcher.emit({ sid, turn, type: 'suspended', waiting });
  watcher.check();
  throw new SuspendedError(sid, waiting);
}

/**
 * Gets the reply of a turn that runs from its beginning. After an interruption, the stored reply is used again. The plan is made
 * when the turn may run, because its time is what the step has left then.
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
    waiting: null,
    before,
  });
}

/** The limits of this host for one turn. */
function ownLimits({ stepper: { host, limits }, options }: Step): LimitValues {
  return tighten(tighten(host.executor.limits, limits), options.limits ?? {});
}

/** Plans to continue a turn that waited. Its limits were settled when it began; those of this host may only tighten them. */
function planContinuation(step: Step, next: WaitingTurn): TurnPlan {
  const { state, options } = step;
  const { started, suspended } = next;
  const limits = tighten(tighten(ownLimits(step), started.limits), { wallMs: wallMsLeft(step) });
  const { reply, agent } = started;
  const { keyring, keys = keyring } = step.stepper.host;
  const approved = verifiedApproval(keys, { sid: state.sid, turn: state.nextTurn }, suspended);
  const spent = state.spent.tokens + (agent?.tokens ?? 0) + tokensOfAsks(suspended.earlier.journal);
  return {
    ...storedReply(state, started, reply ?? ''),
    attempt: started.attempt + 1,
    limits,
    quota: quotaOf(resolveCeilings(options), spent),
    waiting: { ...next, earlier: continuation(state.nextTurn, suspended, approved, step.stepper.host.clock.now(), limits) },
    before: started,
  };
}

function storedReply(state: SessionState, { agent }: StartedTurn, reply: string): Consultation {
  return { input: readReply(sectionsOf(state), reply), reply, agent };
}

/** Whole milliseconds of a step that are left, at least 1. */
function wallMsLeft({ stepper, options, begun }: Step): number {
  const { wallMs = Number.POSITIVE_INFINITY } = options;
  return Math.max(1, Math.floor(wallMs - (stepper.host.clock.monotonic() - begun)));
}

/** Limits the asks of a turn to the model tokens that its session has left after `spent`. */
function quotaOf({ maxTokens }: ResolvedCeilings, spent: number): AskQuota | null {
  if (maxTokens === undefined) return null;
  return new AskQuota(null, { turns: null, tokens: Math.max(0, maxTokens - spent), ceiling: maxTokens });
}

/** The turn as the store keeps it. A turn that continues keeps the limits with which it began. */
function startedTurn({ state }: Step, plan: TurnPlan, { startedAt, nonce }: Omit<TurnStart, 'limits'>): StartedTurn {
  const { attempt, reply, agent, waiting } = plan;
  const limits = waiting?.started.limits ?? plan.limits;
  const suspended = waiting?.suspended ?? null;
  return { sid: state.sid, turn: state.nextTurn, attempt, startedAt, nonce, limits, reply, agent, suspended };
}

/**
 * Runs a planned turn. An error before VERIFYING is misuse or state: the program did not run, so the stored start is undone. An
 * error after it, for instance from a guard of the application, leaves an interrupted turn.
 */
async function runPlan(step: Step, plan: TurnPlan): Promise<TurnOutcome> {
  const { stepper, claimed, state, options, watcher, tenant } = step;
  const { host, coordinator, mayWait } = stepper;
  const { input, agent, limits, quota, waiting, before } = plan;
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
      ...(waiting === null ? {} : { earlier: waiting.earlier }),
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
      ...(signal === undefined ? {} : { signal }),
      ...(tenant.id === null ? {} : { tenant: tenant.id }),
    });
  } catch (error) {
    if (undo) await (before === null ? coordinator.withdraw(claimed) : coordinator.start(before, claimed));
    throw error;
  }
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
  const { system, host } = stepper;
  const { agent, signal, wallMs = Number.POSITIVE_INFINITY } = options;
  const { sid, nextTurn: turn } = state;
  using context = host.executor.context({
    sessionId: sid,
    turnIndex: turn,
    ...(signal === undefined ? {} : { signal }),
    ...(tenant.id === null ? {} : { tenant: tenant.id }),
  });
  const consulted = turnStorage.run(context, () =>
    consultAgent({
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

function sectionsOf({ userdata, output, scratchpad }: SessionState): HostSections {
  return { userdata, output, scratchpad };
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
