import type { PlanRequest } from '../runtime/index.ts';
import { type LimitOptions, tighten } from '../sandbox/index.ts';
import { checkedGrant, grantDigest, PLAN_REASON } from '../tools/index.ts';
import type { LimitValues } from '../wire/limits.ts';
import { type Nanos, nanosOf, usdOf } from '../wire/money.ts';
import type { TakeApart } from './apart.ts';
import { allowance, type ResolvedCeilings, resolveCeilings } from './ceilings.ts';
import type { Watcher } from './events.ts';
import type { Metrics } from './metrics.ts';
import type { Approve, RepairOptions, StepOptions } from './options.ts';
import { ASK_QUOTA, AskQuota, tokensOfAsks } from './quota.ts';
import { countedAttempts, firstWithProgram, limitsAfter } from './record/attempt.ts';
import type { HaltReason } from './record/decision.ts';
import { type KeptBody, type KeptCall, lastWait } from './record/kept.ts';
import type { AgentUse, FailedAttempt } from './record/record.ts';
import {
  callId,
  type OnExpired,
  openCalls,
  type SignedPlan,
  type StoredCall,
  SuspendedError,
  type Suspension,
  storedCalls,
  waitingOf,
} from './record/suspension.ts';
import type { SessionCoordinator } from './sessions/coordinator.ts';
import type { DrivenSession } from './sessions/lease.ts';
import type { KeptTurn } from './sessions/point.ts';
import type { SessionState, StartedTurn, StoredStep, WaitingTurn } from './sessions/store.ts';
import { paidBy } from './spent.ts';
import { checkToolUnchanged } from './suspend/complete.ts';
import { continuation, continuationAfter } from './suspend/resume.ts';
import { programDigest, verifiedApproval, verifiedPlans } from './suspend/signed.ts';
import type { StepTenant } from './tenant.ts';
import type { Consultation, Means } from './turn/consult.ts';
import { readReply, sectionsOf, type TurnInput } from './turn/input.ts';
import type { EarlierRun, TurnHost, TurnRequest, TurnStart } from './turn/request.ts';

/** The settings that all steps of a controller share. */
export interface Stepper {
  readonly host: TurnHost;
  readonly coordinator: SessionCoordinator;
  readonly metrics: Metrics;
  /** The system text for agents, in addition to the envelopes. */
  readonly system: string;
  /** The grammar of a reply; null when there is none. */
  readonly grammar: string | null;
  readonly limits: LimitOptions;
  /** Most attempts at a turn alone in its process, after one that ended a process beside other turns. */
  readonly maxAttempts: number;
  /** Makes these attempts in processes of their own; null when they run in this process while no other turn does. */
  readonly takeApart: TakeApart | null;
  readonly onExpired: OnExpired;
  /** Whether a tool may suspend a turn. */
  readonly mayWait: boolean;
  /** Milliseconds that a call may wait. */
  readonly maxWaitMs: number;
  /** The controller's own options of repair, for steps that have none. */
  readonly repair: RepairOptions;
  /** The controller's own number of further replies, for steps that have none; undefined for the default. */
  readonly maxReasks: number | undefined;
  /** What a person approves, for steps that do not say; undefined when nothing is approved as a plan. */
  readonly approve: Approve | undefined;
}

/** One step under way. */
export interface Step {
  readonly stepper: Stepper;
  /** The session, with the point at which its turn continues: after each attempt that was stored, another one. */
  readonly session: DrivenSession;
  readonly options: StepOptions;
  readonly watcher: Watcher;
  readonly tenant: StepTenant;
  /** The monotonic clock at the beginning of the step, milliseconds. */
  readonly begun: number;
}

/** The turn as it is stored before the next attempt; null for a new turn. */
export function startedIn({ session: { next } }: Pick<Step, 'session'>): StartedTurn | null {
  return next.kind === 'fresh' ? null : next.started;
}

/** Whether the last attempt may have ended its process, so that the next one must not run beside others. */
export function isDangerous(step: Step): boolean {
  return startedIn(step)?.deaths?.some(({ instance }) => instance !== null) === true;
}

/** This host's limits for one turn. */
export function ownLimits({ stepper: { host, limits }, options }: Step, ...more: readonly LimitOptions[]): LimitValues {
  return tighten(host.executor.limits, limits, options.limits ?? {}, ...more);
}

/**
 * Why a turn that was started is halted instead of run; null when it runs. Throws {@link SuspendedError} while its call may
 * still be completed, and `CallError` (`ERR_CALL_CHANGED`) when the completed call cannot be used.
 */
export function reasonToHalt({ stepper, session }: Step): HaltReason | null {
  const { host, maxAttempts, onExpired, mayWait } = stepper;
  const { state, cancelled, next: point } = session;
  if (point.kind === 'fresh') return null;
  const inDoubt = point.kind === 'kept' && point.progress.begun.length > 0;
  if (cancelled && (inDoubt || point.kind === 'waiting')) return 'ERR_CANCELLED';
  const { attempt, deaths = [] } = point.started;
  // Whoever wants no second attempt wants none after a lost lease either.
  const isTried = maxAttempts === 0 ? attempt > 0 : deaths.length > maxAttempts;
  if (isTried || (inDoubt && !mayWait)) return 'ERR_INTERRUPTED';
  if (point.kind !== 'waiting') return null;
  const { suspended } = point;
  const now = host.clock.now();
  const open = openCalls(suspended);
  if (open.length > 0 && open.every(({ expiresAt }) => now < expiresAt))
    throw new SuspendedError(state.sid, waitingOf(state.nextTurn, suspended));
  if (open.length > 0 && onExpired === 'halt') return 'ERR_CALL_EXPIRED';
  for (const call of storedCalls(suspended))
    if (call.completion !== null) checkToolUnchanged(host.executor, callId(state.nextTurn, call.waiting), call);
  return null;
}

/** Requests to continue a turn. Its limits were settled when it began; those of this host may only tighten them. */
export function continuedRequest(step: Step, point: WaitingTurn | KeptTurn): TurnRequest {
  const { stepper, session } = step;
  const { state } = session;
  const { started } = point;
  const { attempts } = started;
  const whole = ownLimits(step, started.limits);
  const limits = tighten(limitsAfter(whole, attempts) ?? whole, { wallMs: wallMsLeft(step) });
  const approved = approvedBefore(step, started);
  const consultation = storedReply(state, started, started.reply ?? '');
  const suspended = trusted(step, started, consultation.input);
  const [turn, now] = [state.nextTurn, stepper.host.clock.now()];
  const earlier =
    point.kind === 'kept'
      ? continuationAfter(turn, point.progress, suspended, approved, now, limits)
      : continuation(turn, suspended ?? point.suspended, approved, now, limits);
  const { journal } = point.kind === 'kept' ? point.progress : point.suspended.earlier;
  return requestOf(step, consultation, limits, earlier, tokensOfAsks(journal));
}

/** One attempt at the turn of a step. `asked`: model tokens of its earlier asks. */
export function requestOf(
  step: Step,
  { input, reply, agent }: Consultation,
  limits: LimitValues,
  earlier: EarlierRun | null,
  asked = 0,
): TurnRequest {
  const { session, options, stepper, tenant } = step;
  const { state, fence } = session;
  const { approval, requiresApproval = false } = options;
  const started = startedIn(step);
  const attempts = started?.attempts ?? [];
  const quota = quotaOf(resolveCeilings(options), state.spent.tokens + (agent?.tokens ?? 0) + asked);
  return {
    ...{ sid: state.sid, turn: state.nextTurn, prev: state.head, progress: state.progress },
    ...{ called: state.called ?? [], origins: state.origins },
    ...{ input, reply, agent, limits, earlier: earlier ?? undefined, attempts, attempt: 1 + (started?.attempt ?? 0) },
    ...{ fence, origin: state.sid, signal: options.signal, tenant: tenant.id ?? undefined },
    approval: { requiresApproval, approval },
    values: quota === null ? undefined : { [ASK_QUOTA]: quota },
    // A program that may run as it is must not end the session, because nobody can be asked for a better one.
    strict: mayAsk(step, agent) && quota?.tokensLeft !== 0,
    onChanged: repairOf(step).changed,
    plan: planRequest(step, attempts, input),
    plans: plansFor(step, started, input),
    bound: options.bound,
    mayAct: () => stepper.coordinator.lasts(session),
  };
}

/** Whether the agent may be asked for another program of the turn. */
export function mayAsk(step: Step, agent: AgentUse | null | undefined): boolean {
  return agent != null && step.options.agent.fixed !== true && agent.asks <= maxReasksOf(step);
}

/** Most further replies of a turn. */
export function maxReasksOf({ options, stepper }: Step): number {
  return resolveCeilings({ ...options, maxReasks: options.maxReasks ?? stepper.maxReasks }).maxReasks;
}

/** How programs of the step are corrected. */
export function repairOf({ options, stepper }: Step): RepairOptions {
  return options.repair ?? stepper.repair;
}

/** The answers to plans that count for a program: those of earlier attempts, and of this one if it is the program that was shown. */
export function plansFor({ stepper, session }: Step, started: StartedTurn | null, input: TurnInput): readonly SignedPlan[] {
  const { keyring, keys = keyring } = stepper.host;
  const { state } = session;
  const { plans: stored = [] } = started ?? {};
  if (stored.length === 0) return [];
  const first = firstWithProgram(started?.attempts ?? []);
  const program = programDigest(input);
  return verifiedPlans(keys, { sid: state.sid, turn: state.nextTurn }, stored).filter(
    (plan) => plan.attempt < first || plan.program === program,
  );
}

/** What a person has to approve of a program; undefined when its plan needs no approval. */
function planRequest(step: Step, attempts: readonly FailedAttempt[], input: TurnInput): PlanRequest | undefined {
  const approve = step.options.approve ?? step.stepper.approve;
  const before = startedIn(step);
  const began = before?.plans !== undefined || waitsForPlan(before?.suspended ?? null);
  if (approve !== 'plan' && !began) return undefined;
  const plans = plansFor(step, before, input);
  const granted = plans.flatMap(({ attempt, grant }) => (grant === null ? [] : [{ attempt, grant }]));
  const program = programDigest(input);
  const first = firstWithProgram(attempts);
  const own = plans.filter(({ attempt }) => attempt >= first);
  // A program that was refused in an earlier attempt stays refused.
  if (plans.some((plan) => plan.grant === null && (own.includes(plan) || plan.program === program)))
    return { granted, first, own: 'refused' };
  const isNarrowed = own.some(({ grant, shown }) => grant !== null && grantDigest(grant) !== shown);
  return { granted, first, own: isNarrowed ? 'narrowed' : own.length > 0 ? 'approved' : null };
}

function waitsForPlan(suspended: Suspension | null): boolean {
  return suspended !== null && storedCalls(suspended).some(({ waiting }) => waiting.plan !== undefined);
}

/** The stored wait of a turn. An approval of its plan without a signature that belongs to it is none: the turn waits again, and says why. */
function trusted(step: Step, started: StartedTurn, input: TurnInput): Suspension | null {
  const { suspended, attempts } = started;
  if (suspended === null || !waitsForPlan(suspended)) return suspended;
  const first = firstWithProgram(attempts);
  const signed = plansFor(step, started, input).filter(({ attempt, grant }) => attempt >= first && grant !== null);
  const of = <Call extends StoredCall>(call: Call): Call => {
    const { waiting, completion } = call;
    const isAllowed = completion?.ok === true && completion.value !== false;
    if (waiting.plan === undefined || !isAllowed) return call;
    const asked = grantDigest(checkedGrant('the stored plan', waiting.plan));
    if (signed.some(({ shown }) => shown === asked)) return call;
    const given = started.plans?.findLast(({ shown }) => shown === asked);
    return { ...call, completion: null, waiting: { ...waiting, reason: askedAgain(step.stepper.host, given) } };
  };
  return { ...of(suspended), alsoWaiting: suspended.alsoWaiting?.map(of) };
}

/** Why a plan waits again although it was approved. */
function askedAgain({ keyring, keys = keyring }: Stepper['host'], given: SignedPlan | undefined): string {
  const why =
    given === undefined
      ? 'nobody has signed the approval that is stored'
      : keys.lookup(given.kid) === null
        ? `the approval was signed with the key ${given.kid}, which this host does not know: approve with the key file of the hosts`
        : `the signature of the approval, with the key ${given.kid}, does not belong to this program and this plan`;
  return `${why}; ${PLAN_REASON}`;
}

/** The hash of the ACTIONS that a human approved before the turn waited; null when none did. */
export function approvedBefore({ stepper, session }: Step, { suspended, attempts }: StartedTurn): string | null {
  const { keyring, keys = keyring } = stepper.host;
  const { state } = session;
  return suspended === null ? null : verifiedApproval(keys, { sid: state.sid, turn: state.nextTurn, attempts }, suspended);
}

export function storedReply(state: SessionState, { agent }: StartedTurn, reply: string): Consultation {
  return { input: readReply(sectionsOf(state), reply), reply, agent };
}

/** Whole milliseconds of a step that are left, at least 1. */
export function wallMsLeft({ stepper, options, begun }: Step): number {
  const { wallMs = Number.POSITIVE_INFINITY } = options;
  return Math.max(1, Math.floor(wallMs - (stepper.host.clock.monotonic() - begun)));
}

/** What is left for the replies of a turn, after these attempts. Throws `AgentError` (`ERR_QUOTA`) when a total is used up. */
export function leftForReplies({ session, tenant }: Step, ceilings: ResolvedCeilings, attempts: readonly FailedAttempt[]): Means {
  const { tokens, money } = allowance(session.state, ceilings);
  const rest = money === null ? null : money - nanosOf(paidBy(attempts));
  return { tokens: least(tokens, tenant.tokens), money: least(rest, tenant.money) };
}

/** The lower of two amounts; null stands for no limit. */
function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** The limit `cost` of a program, for which its session has `money` and has paid `agent` for it already. */
export function costLimit(money: Nanos | null, agent: AgentUse | null): LimitOptions {
  return money === null ? {} : { cost: usdOf(Math.max(0, money - nanosOf(agent?.cost ?? 0))) };
}

/** Limits the asks of a turn to the model tokens that its session has left after `spent`. */
function quotaOf({ maxTokens }: ResolvedCeilings, spent: number): AskQuota | null {
  if (maxTokens === undefined) return null;
  return new AskQuota(null, { turns: null, tokens: Math.max(0, maxTokens - spent), ceiling: maxTokens });
}

/** The turn as the store keeps it. A turn that continues, or that takes another attempt, keeps the limits with which it began. */
export function startedTurn(
  step: Step,
  request: TurnRequest,
  start: Omit<TurnStart, 'limits'> & Partial<TurnStart>,
): StartedTurn {
  const { startedAt, nonce } = start;
  const { sid, turn, attempt = 1, reply = null, agent = null, earlier, attempts = [] } = request;
  const before = startedIn(step);
  const isFirst = earlier === undefined && attempts.length === 0;
  const limits = (isFirst ? null : before?.limits) ?? start.limits ?? limitsOf(step, request);
  const suspended = (earlier === undefined ? null : before?.suspended) ?? null;
  const { instance: runner } = step.stepper.coordinator;
  const { plans, deaths } = before ?? {};
  return { ...{ sid, turn, attempt, startedAt, nonce, limits, runner, reply, agent, suspended }, attempts, plans, deaths };
}

/** The limits of a requested attempt. */
export function limitsOf({ stepper }: Step, { limits = {} }: TurnRequest): LimitValues {
  return tighten(stepper.host.executor.limits, limits);
}

/** A call as the store keeps it. */
export function storedStep(step: Step, { turn, earlier, attempts = [] }: TurnRequest, call: KeptCall): StoredStep {
  const since = earlier === undefined ? null : lastWait(startedIn(step)?.suspended ?? null);
  return { turn, seq: call.seq, body: { ...call, since, attempt: countedAttempts(attempts) } satisfies KeptBody };
}
