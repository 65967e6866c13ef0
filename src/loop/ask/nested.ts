import { type AskRequest, answerWords } from '../../runtime/index.ts';
import { currentTelemetry } from '../../telemetry/index.ts';
import { Halt, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import { BusyError, RuntimeClosedError } from '../../wire/errors.ts';
import { MOST_USD, nanosOf, sumUsd, usdOf } from '../../wire/money.ts';
import { AgentError, agentBrief } from '../agents/index.ts';
import { LoopController } from '../controller.ts';
import type { LoopEvent } from '../events.ts';
import type { LoopControllerOptions } from '../options.ts';
import type { AskQuota } from '../quota.ts';
import type { HaltReason } from '../record/decision.ts';
import { readFrom } from '../record/origins.ts';
import type { SessionParent } from '../sessions/store.ts';
import { type SessionSpan, withSessionSpan } from '../spans.ts';
import { usageOfTurn } from '../spent.ts';
import type { Budget } from './budget.ts';
import { askExecutor } from './executor.ts';
import { halted, valueOfTurn } from './outcome.ts';
import type { AskTarget } from './providers.ts';

/** Parts of a nested loop. */
export interface NestedLoop {
  readonly request: AskRequest;
  readonly target: AskTarget;
  readonly budget: Budget;
  readonly quota: AskQuota;
  readonly userdata: unknown;
  readonly sid: string;
  /** Gets the labels of what the nested programs say. */
  readonly said: Set<string>;
  /** Options that its controller shares with those of other asks. */
  readonly shared: Omit<LoopControllerOptions, 'executor' | 'system'>;
  readonly onEvent: ((event: LoopEvent, parent: SessionParent) => unknown) | undefined;
}

/**
 * Opens a session, drives it to its end, and resolves with the value of the `ask`. Afterwards the session has ended, and the
 * budget has counted its usage. Throws {@link ToolError} if the script can catch the failure, {@link Halt} if the failure ends
 * its run, and other errors for faults of the host.
 */
export function driveNested(loop: NestedLoop): Promise<string | null> {
  return withSessionSpan(currentTelemetry(), loop.sid, loop.target.agent, (session) => driveOn(loop, session));
}

async function driveOn(loop: NestedLoop, session: SessionSpan): Promise<string | null> {
  const { request, target, budget, quota, userdata, sid, said, onEvent } = loop;
  const { turn, seq, signal, host } = request;
  const { model, agent } = target;
  const parent: SessionParent = { sid: turn.sessionId, turn: turn.turnIndex, seq };
  const controller = controllerOf(loop);
  await controller.open(userdata, sid, { parent, labels: request.labels });
  let open = true;
  /** Model tokens of the replies of the current turn, and US dollars for them. */
  let replied = 0;
  let repliedCost = 0;
  try {
    for (;;) {
      const { wallMs, ...limits } = budget.next();
      if (!quota.hasTurn) throw new Ended('ERR_MAX_TURNS');
      const tokens = quota.tokensLeft;
      // The turn's tokens so far are not available to the asks of its program.
      quota.use(1, 0);
      replied = 0;
      repliedCost = 0;
      const record = await controller.step(sid, {
        agent,
        limits,
        wallMs,
        signal,
        ...(tokens === null ? {} : { maxTokens: quota.tokens + tokens }),
        ...mostCost(request, budget),
        onEvent(event: LoopEvent) {
          if (event.type === 'replied') pay(event.tokens, event.cost);
          return onEvent?.(event, parent);
        },
      });
      session.decided(record);
      budget.take(usageOfTurn(record));
      for (const label of readFrom(record)) said.add(label);
      open = record.decision === 'CONTINUE';
      if (!open) return valueOfTurn(record, budget);
      if (model.auto_loop_enabled === false) throw new Ended('ERR_POLICY', `${model.name} may not request another turn`);
    }
  } catch (error) {
    // The tokens of refused replies are counted already.
    if (error instanceof AgentError) pay(error.tokens - replied, usdOf(Math.max(0, nanosOf(error.cost) - nanosOf(repliedCost))));
    const end = endOf(error, budget);
    if (open) {
      session.stopped(end.reason);
      await close(end.reason);
    }
    throw end.error;
  }

  function pay(tokens: number, cost = 0): void {
    replied += tokens;
    repliedCost = sumUsd(repliedCost, cost);
    quota.use(0, tokens);
    request.payer.add(nanosOf(cost));
    budget.pay(cost);
  }

  async function close(reason: HaltReason): Promise<void> {
    try {
      await controller.halt(sid, reason);
    } catch (error) {
      // The first error is the one to report. Recovering the store ends the session.
      host.logger.error({ error, sid }, 'a nested session could not be ended');
    }
  }
}

/** The ceiling of the nested session: what it has paid, and what the asking run may still pay. */
function mostCost({ payer }: AskRequest, { spent }: Budget): { readonly maxCost?: number } {
  const most = nanosOf(spent.cost ?? 0) + payer.left;
  return most > 0 && most <= nanosOf(MOST_USD) ? { maxCost: usdOf(most) } : {};
}

/** The host ends a loop between two turns. */
class Ended extends Error {
  readonly reason: HaltReason;
  readonly explanation: string | undefined;
  constructor(reason: HaltReason, explanation?: string) {
    super(reason);
    this.reason = reason;
    this.explanation = explanation;
  }
}

/** The error of an `ask`, and the reason for ending its session if that is still open. */
function endOf(error: unknown, budget: Budget): { readonly reason: HaltReason; readonly error: unknown } {
  if (error instanceof Ended) return { reason: error.reason, error: halted(error.reason, error.explanation) };
  if (error instanceof AgentError) return { reason: error.reason, error: endOfAgent(error, budget) };
  if (error instanceof ToolError || error instanceof Halt) return { reason: 'ERR_QUOTA', error };
  if (error instanceof BusyError)
    return { reason: 'ERR_QUOTA', error: new ToolError(NS_CODES.ResourceExhaustion, `the ask got no worker: ${error.message}`) };
  if (error instanceof RuntimeClosedError) return { reason: 'ERR_CANCELLED', error: cancelled() };
  return { reason: 'ERR_INTERRUPTED', error };
}

function endOfAgent({ reason, message, failure }: AgentError, budget: Budget): ToolError | Halt {
  if (reason === 'ERR_CANCELLED') return cancelled();
  if (failure?.limit === 'cost') return new Halt(failure);
  if (reason === 'ERR_QUOTA') return budget.outOfTokens();
  // The time-out of a single reply leaves time for the ask.
  if (reason === 'ERR_TIMEOUT' && budget.timeIsUp) return budget.outOfTime();
  return new ToolError(NS_CODES.LLMError, message);
}

function cancelled(): Halt {
  return new Halt(cancelledError('the run ended while it asked'));
}

function controllerOf({ request, target: { model }, quota, shared }: NestedLoop): LoopController {
  const mayCallTools = model.tool_loop_permitted !== false;
  const { callable, library } = request.fork({ turn: request.turn });
  const brief = agentBrief({ tools: mayCallTools ? callable : [], library: mayCallTools ? library : [] });
  return new LoopController({
    ...shared,
    executor: askExecutor(request, quota, mayCallTools ? undefined : { allow: [] }),
    system: request.answer === null ? brief : `${brief}\n\nThe last turn emits ${answerWords(request.answer)}, and nothing else.`,
    // The asking run cannot be suspended in the middle of a call.
    mayWait: false,
  });
}
