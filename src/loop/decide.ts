import { turnStorage } from '../context/index.ts';
import { tighten } from '../sandbox/index.ts';
import { StoreError } from '../sqlite/error.ts';
import { callDepth } from '../tools/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { nanosOf, usdOf } from '../wire/money.ts';
import { stateAfter } from './after.ts';
import { earlierOf, repeatedRun } from './again.ts';
import { AgentError } from './agents/index.ts';
import { allowance, type ResolvedCeilings, resolveCeilings } from './ceilings.ts';
import type { RepairOptions } from './options.ts';
import {
  approvedBefore,
  costLimit,
  leftForReplies,
  ownLimits,
  planContinuation,
  planRequest,
  plansFor,
  quotaOf,
  type Step,
  startedTurn,
  storedReply,
  storedStep,
  type TurnPlan,
  wallMsLeft,
} from './plan.ts';
import { ASK_QUOTA } from './quota.ts';
import { hasAnswer, limitsAfter } from './record/attempt.ts';
import type { KeptCall } from './record/kept.ts';
import type { AgentUse, FailedAttempt, TurnRecord } from './record/record.ts';
import { SuspendedError, type SuspendedTurn, storedCalls, suspend, waitingOf } from './record/suspension.ts';
import { rehearse, unrehearsed } from './rehearse.ts';
import { isKept } from './sessions/configuration.ts';
import type { SessionCoordinator } from './sessions/coordinator.ts';
import { SessionLeasedError } from './sessions/errors.ts';
import type { KeptTurn, Point } from './sessions/point.ts';
import type { ClaimedSession, StartedTurn, WaitingTurn } from './sessions/store.ts';
import { costs, tokensOfTurn } from './spent.ts';
import { continuationAfter } from './suspend/resume.ts';
import { signApproval } from './suspend/signed.ts';
import { type Consultation, consultAgent, type Means } from './turn/consult.ts';
import { type Feedback, feedbackOn } from './turn/feedback.ts';
import { readProgram, sectionsOf } from './turn/input.ts';
import type { TurnRequest } from './turn/request.ts';
import { runAttempt, type TurnOutcome, type UndecidedAttempt } from './turn/turn.ts';

/** Whether an earlier attempt at the turn ended its process, or may have. */
export function wasInterrupted(point: Point): point is Exclude<Point, { readonly kind: 'fresh' }> {
  return point.kind !== 'fresh' && point.started.attempt > 0;
}

/**
 * Plans the turn, and runs it as soon as it may run in this process. A turn whose process died may have killed it. If it cannot have a
 * process of its own, its next attempt runs alone, so that it ends no other turn if it kills this process too.
 */
export async function decideTurn(step: Step, keepLease: boolean): Promise<TurnRecord> {
  const { point } = step;
  const { turns } = step.stepper.coordinator;
  if (point.kind === 'kept' && point.progress.begun.length > 0) return askWhatHappened(step, point);
  let next =
    point.kind === 'waiting' || point.kind === 'kept' ? () => planContinuation(step, point) : await planTurn(step, point);
  for (;;) {
    let plan: TurnPlan;
    let outcome: TurnOutcome | UndecidedAttempt;
    {
      // A turn that a tool takes runs within the turn that called the tool, so it must not wait for the end of that turn.
      using _lock = callDepth() > 0 ? null : await turns.hold(step.isDangerous, step.options.signal);
      plan = next();
      const failed = await rehearse(step, plan);
      if (failed === null) outcome = await runPlan(step, plan);
      else if (mayFollow(step, plan, failed.attempt, failed.fixed)) outcome = failed;
      else outcome = await runPlan(step, unrehearsed(plan, failed));
    }
    if (outcome.kind !== 'failed') return store(step.stepper.coordinator, step, plan, outcome, keepLease);
    const started = await keepAttempt(step, plan, outcome);
    next = await planAgain(step, plan, outcome, started);
  }
}

/** Stores the decision of a turn, or stores that it waits and throws {@link SuspendedError}. */
async function store(
  coordinator: SessionCoordinator,
  step: Step,
  plan: TurnPlan,
  outcome: TurnOutcome,
  keepLease: boolean,
): Promise<TurnRecord> {
  const { claimed, state } = step;
  if (outcome.kind === 'suspended') return putAside(step, startedTurn(step, plan, outcome.earlier), outcome);
  // The turn ended because the lease was lost. It has no decision: the next process with the lease takes it again.
  if (outcome.record.reason === 'ERR_CANCELLED' && !coordinator.lasts(claimed)) throw new SessionLeasedError(state.sid, null);
  step.tenant.pay(tokensOfTurn(outcome.record));
  const { record, progress } = outcome;
  await coordinator.commit(claimed, record, stateAfter(state, record, progress), keepLease, () =>
    step.stepper.metrics.record(record),
  );
  return record;
}

/** Stores an attempt that did not decide the turn, before the next one begins. Until then the turn has no reply. */
async function keepAttempt(step: Step, plan: TurnPlan, { attempt, earlier }: UndecidedAttempt): Promise<StartedTurn> {
  const { stepper, claimed, watcher, state } = step;
  const { end, error } = attempt;
  const attempts = [...plan.attempts, attempt];
  const before = startedTurn(step, plan, earlier);
  const again = end === 'interrupted' ? { reply: plan.reply } : { reply: null, attempt: 0, suspended: null, deaths: undefined };
  const started = { ...before, ...again, attempts };
  await stepper.coordinator.start(started, claimed);
  const { sid, nextTurn: turn } = state;
  watcher.emit({ sid, turn, type: 'undecided', attempt: attempts.length, end, code: error.code, message: error.message });
  watcher.check();
  return started;
}

/** Plans the attempt that follows one that did not decide the turn. */
async function planAgain(
  step: Step,
  plan: TurnPlan,
  { attempt, fixed, run, approved, earlier }: UndecidedAttempt,
  started: StartedTurn,
): Promise<() => TurnPlan> {
  const { attempts } = started;
  if (attempt.end === 'interrupted') {
    const repeats = repeatedRun(plan.earlier?.repeats ?? null, run, attempt);
    return () => {
      const limits = tighten(plan.limits, { wallMs: wallMsLeft(step) });
      const now = step.stepper.host.clock.now();
      const again =
        repeats === null
          ? { ...earlier, recorded: null, approved }
          : continuationAfter(started.turn, { ...repeats, earlier }, started.suspended, approved, now, limits);
      return { ...plan, limits, attempts, before: started, earlier: again };
    };
  }
  const safe = fixed === null ? null : fixedProgram(step, plan, fixed);
  const consultation = safe ?? (await consultAgain(step, started, attempt));
  return () => freshPlan(step, consultation, started);
}

/** The program of a plan with its safe corrections, if they are asked for. */
function fixedProgram(step: Step, { agent }: TurnPlan, actions: string): Consultation | null {
  if (repairOf(step).fix !== 'safe') return null;
  const input = readProgram(sectionsOf(step.state), actions);
  return input.ok ? { input, reply: input.text, agent } : null;
}

/** Asks the agent again, and tells it what was wrong. If it gives no reply, the tokens are stored with the turn. */
async function consultAgain(step: Step, started: StartedTurn, last: FailedAttempt): Promise<Consultation> {
  const ceilings = resolveCeilings(step.options);
  const { agent, attempts } = started;
  const means = leftForReplies(step, ceilings, attempts);
  const left = maxReasksOf(step) - (agent?.asks ?? 0);
  const feedback = feedbackOn(last, attempts.length, left);
  try {
    return await consult(step, ceilings, means, agent, feedback);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const more =
      agent === null
        ? null
        : { ...agent, tokens: Math.max(agent.tokens, error.tokens), ...costs(Math.max(agent.cost ?? 0, error.cost)) };
    await step.stepper.coordinator.start({ ...started, agent: more }, step.claimed);
    throw error.costing(0, 0);
  }
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
  await coordinator.start({ ...started, attempt: 0, suspended, deaths: undefined }, claimed);
  const waiting = waitingOf(index, suspended);
  watcher.emit({ sid, turn: index, type: 'suspended', waiting });
  watcher.close();
  throw new SuspendedError(sid, waiting);
}

/**
 * Gets the reply of a turn that runs from its beginning. After an interruption, the stored reply is used again. The plan is made when the
 * turn may run, because its time limit is the rest of the step's time at that moment.
 */
export async function planTurn(step: Step, next: Exclude<ClaimedSession['next'], WaitingTurn>): Promise<() => TurnPlan> {
  const { state, options, watcher, tenant } = step;
  const ceilings = resolveCeilings(options);
  const before = next.kind === 'fresh' ? null : next.started;
  const means = leftForReplies(step, ceilings, before?.attempts ?? []);
  tenant.admit(state.nextTurn);
  const last = before?.attempts.at(-1);
  const consultation =
    before !== null && before.reply !== null
      ? storedReply(state, before, before.reply)
      : before !== null && last !== undefined
        ? await consultAgain(step, before, last)
        : await consult(step, ceilings, means, null, null);
  watcher.check();
  return () => freshPlan(step, consultation, before);
}

/** The plan of a program that runs from its beginning. */
function freshPlan(step: Step, consultation: Consultation, before: StartedTurn | null): TurnPlan {
  const { state, options, tenant } = step;
  const ceilings = resolveCeilings(options);
  const { fuel, money } = allowance(state, ceilings);
  const attempts = before?.attempts ?? [];
  const session = { ...(fuel === null ? {} : { fuel }), ...costLimit(money, consultation.agent) };
  const whole = tighten(tighten(ownLimits(step), session), tenant.limits);
  const limits = tighten(limitsAfter(whole, attempts) ?? whole, { wallMs: wallMsLeft(step) });
  return {
    ...consultation,
    attempt: 1 + (before?.attempt ?? 0),
    limits,
    quota: quotaOf(ceilings, state.spent.tokens + (consultation.agent?.tokens ?? 0)),
    earlier: before && earlierOf(before, consultation.input, limits, step.stepper.host.clock.now()),
    before,
    attempts,
  };
}

/**
 * Consults the agent for the next turn. The consultation happens within the turn's context, so the agent and everything it uses
 * find the session and the turn there.
 */
async function consult(
  step: Step,
  ceilings: ResolvedCeilings,
  means: Means,
  before: AgentUse | null,
  feedback: Feedback | null,
): Promise<Consultation> {
  const { stepper, state, options, watcher, tenant } = step;
  const { system, grammar, host } = stepper;
  const { agent, signal } = options;
  const [spent, paid] = [before?.tokens ?? 0, before?.cost ?? 0];
  const pay = (tokens: number, cost = 0): void => tenant.pay(tokens - spent, usdOf(Math.max(0, nanosOf(cost) - nanosOf(paid))));
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
      means,
      ceilings,
      wallMs: wallMsLeft(step),
      signal,
      before,
      feedback,
      emit: (event) => watcher.emit({ sid, turn, ...event }),
    }),
  );
  try {
    const consultation = await consulted;
    pay(consultation.agent?.tokens ?? spent, consultation.agent?.cost);
    return consultation;
  } catch (error) {
    if (error instanceof AgentError) pay(error.tokens, error.cost);
    throw error;
  }
}

/**
 * Runs a planned turn. An error before VERIFYING is misuse or state: the program did not run, so the stored start is undone. An
 * error after it, for instance from a guard of the application, leaves an interrupted turn.
 */
async function runPlan(step: Step, plan: TurnPlan): Promise<TurnOutcome | UndecidedAttempt> {
  const { stepper, claimed, state, options, watcher, tenant } = step;
  const { host, coordinator, mayWait } = stepper;
  const { input, agent, limits, quota, earlier, before } = plan;
  const { approval, requiresApproval = false, signal } = options;
  let undo = false;
  try {
    const request: TurnRequest = {
      sid: state.sid,
      turn: state.nextTurn,
      prev: state.head,
      progress: state.progress,
      called: state.called ?? [],
      origins: state.origins,
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
      attempts: plan.attempts,
      reply: plan.reply,
      // A program that may run as it is must not end the session, because nobody can be asked for a better one.
      strict: mayAsk(step, plan) && quota?.tokensLeft !== 0,
      mayFollow: (attempt, fixed) => mayFollow(step, plan, attempt, fixed),
      onChanged: repairOf(step).changed,
      plan: planRequest(step, plan),
      plans: plansFor(step, plan.before, plan.input),
      bound: options.bound,
      refused: plan.refused,
    };
    const outcome = await runAttempt(host, request, mayWait);
    if (outcome.kind === 'suspended' && !mayWait) throw new ConfigError('the executor suspended a turn that cannot be resumed');
    return outcome;
  } catch (error) {
    if (undo) await (before === null ? coordinator.withdraw(claimed) : coordinator.start(before, claimed));
    throw error;
  }
}

/** Whether the agent may be asked for another program of the turn. */
function mayAsk(step: Step, { agent }: TurnPlan): boolean {
  return agent !== null && step.options.agent.fixed !== true && agent.asks <= maxReasksOf(step);
}

/** Whether another attempt may follow one that did not decide the turn. */
function mayFollow(step: Step, plan: TurnPlan, attempt: FailedAttempt, fixed: string | null): boolean {
  const { coordinator, maxAttempts } = step.stepper;
  if (step.options.signal?.aborted === true || !coordinator.lasts(step.claimed)) return false;
  const attempts = [...plan.attempts, attempt];
  // A rehearsed program runs once.
  if (attempt.end === 'failed' && step.options.rehearse !== undefined) return false;
  // Nobody knows whether a call without an answer took effect, so the program must not make it again.
  if (attempt.end === 'interrupted')
    return attempt.journal.every(hasAnswer) && attempts.filter(({ end }) => end === 'interrupted').length <= maxAttempts;
  const isFixed = fixed !== null && repairOf(step).fix === 'safe';
  return (isFixed || mayAsk(step, plan)) && limitsAfter(plan.before?.limits ?? plan.limits, attempts) !== null;
}

function maxReasksOf({ options, stepper }: Step): number {
  return resolveCeilings({ ...options, maxReasks: options.maxReasks ?? stepper.maxReasks }).maxReasks;
}

function repairOf({ options, stepper }: Step): RepairOptions {
  return options.repair ?? stepper.repair;
}
