import { StoreError } from '../sqlite/error.ts';
import { callDepth } from '../tools/index.ts';
import { AgentError } from './agents/index.ts';
import { type TakeApart, takeApart } from './apart.ts';
import { resolveCeilings } from './ceilings.ts';
import { decideTurn, requestTurn, wasInterrupted } from './decide.ts';
import { Watcher } from './events.ts';
import type { StepOptions } from './options.ts';
import { isDangerous, reasonToHalt, type Step, type Stepper, startedIn, startedTurn } from './plan.ts';
import type { TurnRecord } from './record/record.ts';
import type { SessionCoordinator } from './sessions/coordinator.ts';
import { deathsOf } from './sessions/deaths.ts';
import { SessionLeasedError, SessionStateError } from './sessions/errors.ts';
import type { DrivenSession } from './sessions/lease.ts';
import { type Point, pointOf } from './sessions/point.ts';
import type { StartedTurn } from './sessions/store.ts';
import { costs } from './spent.ts';
import { StepTenant } from './tenant.ts';

/**
 * Takes the next turn of an open session. The caller holds the session's lock in this process. The step takes the lease of the store and
 * releases it at the end, unless `keepLease` is set and the session goes on. For a turn in a process of its own, the only event is the
 * decision.
 */
export async function takeStep(stepper: Stepper, sid: string, options: StepOptions, keepLease: boolean): Promise<TurnRecord> {
  const { coordinator, metrics, takeApart: take } = stepper;
  const count = (record: TurnRecord | null): void => void (record && metrics.record(record));
  for (;;) {
    const taken = await holding(stepper, sid, options, async (step): Promise<Taken> => {
      const { session, watcher } = step;
      const reason = reasonToHalt(step);
      const halted = reason === null ? null : await coordinator.halt(session, reason, null, count);
      if (halted !== null) return { record: await tell(stepper, halted, watcher) };
      if (take !== null && isDangerous(step) && runsApart(session.next, step.options.signal))
        return { started: session.next.started, takeApart: take };
      return { record: await tell(stepper, await decideTurn(step, keepLease), watcher) };
    });
    if ('record' in taken) return taken.record;
    const record = await takeApart({ coordinator, takeApart: taken.takeApart }, taken.started, options.signal);
    if (record === null) continue;
    metrics.record(record);
    return tell(stepper, record, new Watcher(options.onEvent));
  }
}

/** A turn that was decided here, or a started turn for a process of its own. */
type Taken = { readonly record: TurnRecord } | { readonly started: StartedTurn; readonly takeApart: TakeApart };

/**
 * Consults the agent for the next turn of an open session, stores the reply, and releases the session. The caller holds the session's
 * lock in this process. False when no reply is needed.
 */
export function takeReply(stepper: Stepper, sid: string, options: StepOptions): Promise<boolean> {
  return holding(stepper, sid, options, async (step) => {
    const isStored = await storeReply(step);
    await stepper.coordinator.release(step.session);
    return isStored;
  });
}

/** Runs `work` for an open session under its lease. `work` gives the lease up unless it throws. */
async function holding<T>(stepper: Stepper, sid: string, options: StepOptions, work: (step: Step) => Promise<T>): Promise<T> {
  const { coordinator, host } = stepper;
  using _turn = await coordinator.work.turn(sid);
  const lost = new AbortController();
  const signal = options.signal === undefined ? lost.signal : AbortSignal.any([lost.signal, options.signal]);
  const claimed = await coordinator.claim(sid);
  const { state } = claimed;
  try {
    if (state.status !== 'open') throw new SessionStateError(sid, state.status);
    await coordinator.mustAgree(state);
    if (claimed.cancelled) lost.abort();
    host.replay.restore(sid, claimed.used);
    using _held = coordinator.hold(claimed, () => lost.abort());
    return await work(await stepOf(stepper, claimed, { ...options, signal }));
  } catch (error) {
    // Another process drives the session, or will. So this process drops what it keeps for the session, and stores nothing of this
    // failure.
    if (error instanceof SessionLeasedError || !coordinator.lasts(claimed)) {
      host.replay.dispose(sid);
      await host.executor.end?.(sid);
      await coordinator.giveUp(claimed).catch(() => {});
      throw error instanceof SessionLeasedError ? error : new SessionLeasedError(sid, null);
    }
    if (error instanceof AgentError && (error.tokens > 0 || error.retryable)) {
      // Tokens count even when the agent gave no reply, so that repeated consulting cannot exceed a ceiling.
      const { fuel, tokens, cost } = state.spent;
      const spent = { fuel, tokens: tokens + error.tokens, ...costs(cost, error.cost) };
      const leaves = staysOpen(error, options);
      await coordinator.commit(
        claimed,
        null,
        { ...state, spent, message: error.retryable ? error.message : state.message },
        leaves,
      );
      // The lease ends by itself, so that no host asks again at once.
      if (leaves) throw error;
    }
    // A store that does not answer is no fault of the turn.
    if (!(error instanceof StoreError)) await coordinator.fail(claimed).catch(() => {});
    // If releasing fails as well, the lease expires. The first error is the one to report.
    await coordinator.release(claimed).catch(() => {});
    throw error;
  }
}

/** Whether an error of the agent leaves its session open. */
export function staysOpen(error: AgentError, { onUnanswered }: Pick<StepOptions, 'onUnanswered'>): boolean {
  return error.retryable && onUnanswered === 'leave';
}

async function stepOf(stepper: Stepper, found: DrivenSession, options: StepOptions): Promise<Step> {
  const { executor, clock } = stepper.host;
  const tenant = new StepTenant(executor.tenants, options.tenant);
  const watcher = new Watcher(options.onEvent);
  const next = pointOf({ ...found, next: await judged(found.next, stepper.coordinator) });
  return { stepper, session: { ...found, next }, options, watcher, tenant, begun: clock.monotonic() };
}

/** The next turn, with the attempts that count by now. */
async function judged(next: Point, { instance, store }: SessionCoordinator): Promise<Point> {
  if (next.kind === 'fresh' || next.started.attempt === 0) return next;
  const deaths = deathsOf(next.started, instance, (await store.hosts?.list()) ?? []);
  return {
    ...next,
    started: { ...next.started, deaths: deaths.length === 0 ? undefined : deaths, runner: null, failed: undefined },
  };
}

/** Stores the reply of a turn that has none yet. This begins no attempt: the next one uses the stored reply. */
async function storeReply(step: Step): Promise<boolean> {
  const { stepper, session, options } = step;
  const { host, coordinator } = stepper;
  const { state, next: point } = session;
  if (point.kind === 'waiting' || point.kind === 'kept' || (point.kind === 'interrupted' && point.started.reply !== null))
    return false;
  if (state.nextTurn > resolveCeilings(options).maxTurns) return false;
  const request = (await requestTurn(step))();
  if (request.reply === null) return false;
  const start = request.earlier ?? { startedAt: host.clock.now(), nonce: host.ids.nonce(state.sid, state.nextTurn) };
  const attempt = startedIn(step)?.attempt ?? 0;
  await coordinator.start({ ...startedTurn(step, request, start), attempt, runner: null }, session);
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

/**
 * Whether a process of its own can take the turn. A turn that a tool takes runs within the turn that called the tool, so it cannot. Nor
 * can a turn without a stored reply: the agent is consulted first, and the session may end then.
 */
function runsApart(point: Point, signal: AbortSignal | undefined): point is Exclude<Point, { readonly kind: 'fresh' }> {
  return wasInterrupted(point) && point.started.reply !== null && callDepth() === 0 && signal?.aborted !== true;
}
