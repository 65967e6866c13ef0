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
import {
  approvedBefore,
  continuedRequest,
  costLimit,
  isDangerous,
  leftForReplies,
  limitsOf,
  maxReasksOf,
  mayAsk,
  ownLimits,
  repairOf,
  requestOf,
  type Step,
  startedIn,
  startedTurn,
  storedReply,
  storedStep,
  wallMsLeft,
} from './plan.ts';
import { hasAnswer, limitsAfter } from './record/attempt.ts';
import type { AgentUse, FailedAttempt, TurnRecord } from './record/record.ts';
import { SuspendedError, type SuspendedTurn, storedCalls, suspend, waitingOf } from './record/suspension.ts';
import { rehearse, unrehearsed } from './rehearse.ts';
import { isKept } from './sessions/configuration.ts';
import { SessionLeasedError } from './sessions/errors.ts';
import type { KeptTurn, Point } from './sessions/point.ts';
import { nextTurnOf, type StartedTurn } from './sessions/store.ts';
import { costs, tokensOfTurn } from './spent.ts';
import { continuationAfter } from './suspend/resume.ts';
import { signApproval } from './suspend/signed.ts';
import { Attempt, type TurnOutcome, type UndecidedAttempt } from './turn/attempt.ts';
import { type Consultation, consultAgent, type Means } from './turn/consult.ts';
import { type Feedback, feedbackOn } from './turn/feedback.ts';
import { readProgram, sectionsOf } from './turn/input.ts';
import type { TurnRequest } from './turn/request.ts';

/** Whether an earlier attempt at the turn ended its process, or may have. */
export function wasInterrupted(point: Point): point is Exclude<Point, { readonly kind: 'fresh' }> {
  return point.kind !== 'fresh' && point.started.attempt > 0;
}

/**
 * Requests attempts at the turn until one decides it, each as soon as it may run in this process. A turn whose process died may have killed
 * it. If it cannot have a process of its own, its next attempt runs alone, so that it ends no other turn if it kills this process too.
 */
export async function decideTurn(begun: Step, keepLease: boolean): Promise<TurnRecord> {
  let step = begun;
  const alone = isDangerous(step);
  const { turns } = step.stepper.coordinator;
  const { next: point } = step.session;
  if (point.kind === 'kept' && point.progress.begun.length > 0) return askWhatHappened(step, point);
  let next = point.kind === 'waiting' || point.kind === 'kept' ? () => continuedRequest(begun, point) : await requestTurn(step);
  for (;;) {
    let request: TurnRequest;
    let outcome: TurnOutcome | UndecidedAttempt;
    {
      // A turn that a tool takes runs within the turn that called the tool, so it must not wait for the end of that turn.
      using _lock = callDepth() > 0 ? null : await turns.hold(alone, step.options.signal);
      request = next();
      const failed = await rehearse(step, request);
      if (failed === null) outcome = await attemptTurn(step, request);
      else if (mayFollow(step, request, failed.attempt, failed.fixed)) outcome = failed;
      else outcome = await attemptTurn(step, unrehearsed(request, failed));
    }
    if (outcome.kind !== 'failed') return store(step, request, outcome, keepLease);
    step = await keepAttempt(step, request, outcome);
    next = await requestAgain(step, request, outcome);
  }
}

/** Stores the decision of a turn, or stores that it waits and throws {@link SuspendedError}. */
async function store(step: Step, request: TurnRequest, outcome: TurnOutcome, keepLease: boolean): Promise<TurnRecord> {
  const { session, stepper, tenant } = step;
  const { coordinator, metrics } = stepper;
  if (outcome.kind === 'suspended') return putAside(step, startedTurn(step, request, outcome.earlier), outcome);
  const { record, progress } = outcome;
  // The turn ended because the lease was lost. It has no decision: the next process with the lease takes it again.
  if (record.reason === 'ERR_CANCELLED' && !coordinator.lasts(session)) throw new SessionLeasedError(record.sid, null);
  tenant.pay(tokensOfTurn(record));
  await coordinator.commit(session, record, stateAfter(session.state, record, progress), keepLease, () => metrics.record(record));
  return record;
}

/**
 * Stores an attempt that did not decide the turn, before the next one begins. Until then the turn has no reply. Resolves with the step that
 * goes on from there.
 */
async function keepAttempt(step: Step, request: TurnRequest, { attempt, earlier }: UndecidedAttempt): Promise<Step> {
  const { stepper, session, watcher } = step;
  const { end, error } = attempt;
  const { sid, turn, attempts: before = [] } = request;
  const attempts = [...before, attempt];
  const again = end === 'interrupted' ? {} : { reply: null, attempt: 0, suspended: null, deaths: undefined };
  const started: StartedTurn = { ...startedTurn(step, request, earlier), ...again, attempts };
  await stepper.coordinator.start(started, session);
  watcher.emit({ sid, turn, type: 'undecided', attempt: attempts.length, end, code: error.code, message: error.message });
  watcher.check();
  return { ...step, session: { ...session, next: nextTurnOf(started) } };
}

/** Requests the attempt that follows one that did not decide the turn. */
async function requestAgain(
  step: Step,
  request: TurnRequest,
  { attempt, fixed, run, approved, earlier }: UndecidedAttempt,
): Promise<() => TurnRequest> {
  const started = startedIn(step);
  if (attempt.end === 'interrupted') {
    const repeats = repeatedRun(request.earlier?.repeats ?? null, run, attempt);
    const { attempts = [], suspended = null } = started ?? {};
    return () => {
      const limits = tighten(limitsOf(step, request), { wallMs: wallMsLeft(step) });
      const now = step.stepper.host.clock.now();
      const again =
        repeats === null
          ? { ...earlier, recorded: null, approved }
          : continuationAfter(request.turn, { ...repeats, earlier }, suspended, approved, now, limits);
      return { ...request, limits, attempts, earlier: again };
    };
  }
  const safe = fixed === null ? null : fixedProgram(step, request, fixed);
  const consultation = safe ?? (await consultAgain(step, attempt));
  return () => firstRequest(step, consultation);
}

/** The program of a request with its safe corrections, if they are asked for. */
function fixedProgram(step: Step, { agent = null }: TurnRequest, actions: string): Consultation | null {
  if (repairOf(step).fix !== 'safe') return null;
  const input = readProgram(sectionsOf(step.session.state), actions);
  return input.ok ? { input, reply: input.text, agent } : null;
}

/** Asks the agent again, and tells it what was wrong. If it gives no reply, the tokens are stored with the turn. */
async function consultAgain(step: Step, last: FailedAttempt): Promise<Consultation> {
  const ceilings = resolveCeilings(step.options);
  const started = startedIn(step);
  const { agent = null, attempts = [] } = started ?? {};
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
    if (started !== null) await step.stepper.coordinator.start({ ...started, agent: more }, step.session);
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
  const { stepper, session, watcher } = step;
  const { host, coordinator, maxWaitMs } = stepper;
  const { sid, turn: index } = started;
  const approved = await signApproval(host.keyring, { sid, turn: index, attempts: started.attempts }, turn);
  const suspended = suspend(turn, approved, host.clock.now(), maxWaitMs, started.suspended);
  await coordinator.start({ ...started, attempt: 0, suspended, deaths: undefined }, session);
  const waiting = waitingOf(index, suspended);
  watcher.emit({ sid, turn: index, type: 'suspended', waiting });
  watcher.close();
  throw new SuspendedError(sid, waiting);
}

/**
 * Gets the reply of a turn that runs from its beginning. After an interruption, the stored reply is used again. The request is made when the
 * turn may run, because its time limit is the rest of the step's time at that moment.
 */
export async function requestTurn(step: Step): Promise<() => TurnRequest> {
  const { session, options, watcher, tenant } = step;
  const { state } = session;
  const ceilings = resolveCeilings(options);
  const before = startedIn(step);
  const means = leftForReplies(step, ceilings, before?.attempts ?? []);
  tenant.admit(state.nextTurn);
  const last = before?.attempts.at(-1);
  const consultation =
    before !== null && before.reply !== null
      ? storedReply(state, before, before.reply)
      : before !== null && last !== undefined
        ? await consultAgain(step, last)
        : await consult(step, ceilings, means, null, null);
  watcher.check();
  return () => firstRequest(step, consultation);
}

/** The request of a program that runs from its beginning. */
function firstRequest(step: Step, consultation: Consultation): TurnRequest {
  const { session, options, tenant } = step;
  const ceilings = resolveCeilings(options);
  const { fuel, money } = allowance(session.state, ceilings);
  const before = startedIn(step);
  const attempts = before?.attempts ?? [];
  const rest = { ...(fuel === null ? {} : { fuel }), ...costLimit(money, consultation.agent) };
  const whole = ownLimits(step, rest, tenant.limits);
  const limits = tighten(limitsAfter(whole, attempts) ?? whole, { wallMs: wallMsLeft(step) });
  const earlier = before && earlierOf(before, consultation.input, limits, step.stepper.host.clock.now());
  return requestOf(step, consultation, limits, earlier);
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
  const { stepper, session, options, watcher, tenant } = step;
  const { state } = session;
  const { system, grammar, host } = stepper;
  const { agent, signal } = options;
  const [spent, paid] = [before?.tokens ?? 0, before?.cost ?? 0];
  const pay = (tokens: number, cost = 0): void => tenant.pay(tokens - spent, usdOf(Math.max(0, nanosOf(cost) - nanosOf(paid))));
  const { sid, nextTurn: turn } = state;
  using context = host.executor.context({
    sessionId: sid,
    turnIndex: turn,
    signal,
    tenant: tenant.id ?? undefined,
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
 * Runs a requested attempt. An error before VERIFYING is misuse or state: the program did not run, so the stored start is undone. An
 * error after it, for instance from a guard of the application, leaves an interrupted turn.
 */
async function attemptTurn(step: Step, asked: TurnRequest): Promise<TurnOutcome | UndecidedAttempt> {
  const { stepper, session, watcher } = step;
  const { host, coordinator, mayWait } = stepper;
  let undo = false;
  try {
    const request: TurnRequest = {
      ...asked,
      keep: isKept(session.setup) ? (call) => coordinator.keep(session, storedStep(step, asked, call)) : undefined,
      onStart: async (start) => {
        await coordinator.start(startedTurn(step, asked, start), session);
        undo = true;
      },
      onEvent: (event) => {
        if (event.type === 'state' && event.to === 'VERIFYING') undo = false;
        watcher.emit(event);
      },
      mayFollow: (attempt, fixed) => mayFollow(step, asked, attempt, fixed),
    };
    const outcome = await new Attempt(host, request, mayWait).run();
    if (outcome.kind === 'suspended' && !mayWait) throw new ConfigError('the executor suspended a turn that cannot be resumed');
    return outcome;
  } catch (error) {
    const before = startedIn(step);
    if (undo) await (before === null ? coordinator.withdraw(session) : coordinator.start(before, session));
    throw error;
  }
}

/** Whether another attempt may follow one that did not decide the turn. */
function mayFollow(step: Step, request: TurnRequest, attempt: FailedAttempt, fixed: string | null): boolean {
  const { coordinator, maxAttempts } = step.stepper;
  if (step.options.signal?.aborted === true || !coordinator.lasts(step.session)) return false;
  const attempts = [...(request.attempts ?? []), attempt];
  // A rehearsed program runs once.
  if (attempt.end === 'failed' && step.options.rehearse !== undefined) return false;
  // Nobody knows whether a call without an answer took effect, so the program must not make it again.
  if (attempt.end === 'interrupted')
    return attempt.journal.every(hasAnswer) && attempts.filter(({ end }) => end === 'interrupted').length <= maxAttempts;
  const isFixed = fixed !== null && repairOf(step).fix === 'safe';
  const limits = startedIn(step)?.limits ?? limitsOf(step, request);
  return (isFixed || mayAsk(step, request.agent)) && limitsAfter(limits, attempts) !== null;
}
