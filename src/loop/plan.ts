import { turnStorage } from '../context/index.ts';
import { type LimitOptions, tighten } from '../sandbox/index.ts';
import type { LimitValues } from '../wire/limits.ts';
import { AgentError } from './agents/index.ts';
import type { TakeApart } from './apart.ts';
import { allowance, type ResolvedCeilings, resolveCeilings } from './ceilings.ts';
import type { Watcher } from './events.ts';
import type { StepOptions } from './options.ts';
import { AskQuota, tokensOfAsks } from './quota.ts';
import { type KeptBody, type KeptCall, lastWait } from './record/kept.ts';
import type { OnExpired } from './record/suspension.ts';
import type { DrivenSession, SessionCoordinator } from './sessions/coordinator.ts';
import type { KeptTurn, Point } from './sessions/point.ts';
import type { ClaimedSession, SessionState, StartedTurn, StoredStep, WaitingTurn } from './sessions/store.ts';
import { continuation, continuationAfter } from './suspend/resume.ts';
import { verifiedApproval } from './suspend/signed.ts';
import type { StepTenant } from './tenant.ts';
import { type Consultation, consultAgent } from './turn/consult.ts';
import { type HostSections, readReply } from './turn/input.ts';
import type { EarlierRun, TurnHost, TurnStart } from './turn/turn.ts';

/** The settings that all steps of a controller share. */
export interface Stepper {
  readonly host: TurnHost;
  readonly coordinator: SessionCoordinator;
  /** The system text for agents, in addition to the envelopes. */
  readonly system: string;
  /** The grammar of a reply; null when there is none. */
  readonly grammar: string | null;
  readonly limits: LimitOptions;
  /** Most attempts at a turn alone in its process, after a first one beside other turns. */
  readonly maxAttempts: number;
  /** Takes these attempts in processes of their own; null when this process takes them while no other turn runs. */
  readonly takeApart: TakeApart | null;
  readonly onExpired: OnExpired;
  /** Whether a tool may suspend a turn. */
  readonly mayWait: boolean;
  /** Milliseconds that a call may wait. */
  readonly maxWaitMs: number;
}

/** One step under way. */
export interface Step {
  readonly stepper: Stepper;
  readonly claimed: DrivenSession;
  readonly state: SessionState;
  readonly point: Point;
  readonly options: StepOptions;
  readonly watcher: Watcher;
  readonly tenant: StepTenant;
  /** The monotonic clock at the beginning of the step, milliseconds. */
  readonly begun: number;
}

/** What a turn runs with. */
export interface TurnPlan extends Consultation {
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Limits of this execution. */
  readonly limits: LimitValues;
  readonly quota: AskQuota | null;
  /** What this one continues; null for a turn that runs from its beginning. */
  readonly earlier: EarlierRun | null;
  /** What the store held of the turn before this attempt; null for a new turn. */
  readonly before: StartedTurn | null;
}

/** The limits of this host for one turn. */
function ownLimits({ stepper: { host, limits }, options }: Step): LimitValues {
  return tighten(tighten(host.executor.limits, limits), options.limits ?? {});
}

/**
 * Gets the reply of a turn that runs from its beginning. After an interruption, the stored reply is used again. The plan is made
 * when the turn may run, because its time is what the step has left then.
 */
export async function planTurn(step: Step, next: Exclude<ClaimedSession['next'], WaitingTurn>): Promise<() => TurnPlan> {
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

/** Plans to continue a turn. Its limits were settled when it began; those of this host may only tighten them. */
export function planContinuation(step: Step, point: WaitingTurn | KeptTurn): TurnPlan {
  const { state, options, stepper } = step;
  const { started } = point;
  const limits = tighten(tighten(ownLimits(step), started.limits), { wallMs: wallMsLeft(step) });
  const { reply, agent } = started;
  const approved = approvedBefore(step, started);
  const { journal } = point.kind === 'kept' ? point.progress : point.suspended.earlier;
  const spent = state.spent.tokens + (agent?.tokens ?? 0) + tokensOfAsks(journal);
  const [turn, now] = [state.nextTurn, stepper.host.clock.now()];
  return {
    ...storedReply(state, started, reply ?? ''),
    attempt: started.attempt + 1,
    limits,
    quota: quotaOf(resolveCeilings(options), spent),
    earlier:
      point.kind === 'kept'
        ? continuationAfter(turn, point.progress, started.suspended, approved, now, limits)
        : continuation(turn, point.suspended, approved, now, limits),
    before: started,
  };
}

/** The hash of the ACTIONS that a human approved before the turn waited; null when none did. */
export function approvedBefore({ stepper, state }: Step, { suspended }: StartedTurn): string | null {
  const { keyring, keys = keyring } = stepper.host;
  return suspended === null ? null : verifiedApproval(keys, { sid: state.sid, turn: state.nextTurn }, suspended);
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
export function startedTurn({ state }: Step, plan: TurnPlan, { startedAt, nonce }: Omit<TurnStart, 'limits'>): StartedTurn {
  const { attempt, reply, agent, earlier, before } = plan;
  const limits = (earlier === null ? null : before?.limits) ?? plan.limits;
  const suspended = (earlier === null ? null : before?.suspended) ?? null;
  return { sid: state.sid, turn: state.nextTurn, attempt, startedAt, nonce, limits, reply, agent, suspended };
}

/** A call as the store keeps it. */
export function storedStep({ state }: Step, { earlier, before }: TurnPlan, call: KeptCall): StoredStep {
  const since = earlier === null ? null : lastWait(before?.suspended ?? null);
  return { turn: state.nextTurn, seq: call.seq, body: { ...call, since } satisfies KeptBody };
}

function sectionsOf({ userdata, output, scratchpad }: SessionState): HostSections {
  return { userdata, output, scratchpad };
}
