import { decodeToken } from '../../aeiou/index.ts';
import type { TurnInit } from '../../context/index.ts';
import { type AskRequest, answerWords, PAYER } from '../../runtime/index.ts';
import { tighten } from '../../sandbox/index.ts';
import { currentTelemetry } from '../../telemetry/index.ts';
import { type AskReply, Halt, type PolicyOptions, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import { BusyError, RuntimeClosedError } from '../../wire/errors.ts';
import { MOST_USD, nanosOf, sumUsd, usdOf } from '../../wire/money.ts';
import type { AskSpent } from '../../wire/protocol.ts';
import { AgentError, agentBrief } from '../agents/index.ts';
import { LoopController } from '../controller.ts';
import type { LoopEvent } from '../events.ts';
import type { LoopControllerOptions } from '../options.ts';
import { ASK_DEPTH, ASK_QUOTA, type AskQuota, askDepthOf } from '../quota.ts';
import type { HaltReason } from '../record/decision.ts';
import { readFrom } from '../record/origins.ts';
import type { TurnRecord } from '../record/record.ts';
import { visibleOutput } from '../result.ts';
import type { SessionParent } from '../sessions/store.ts';
import { type SessionSpan, withSessionSpan } from '../spans.ts';
import { usageOfTurn } from '../spent.ts';
import { protocolSizes, type TurnExecutor, turnFork } from '../turn/executor.ts';
import type { Budget } from './budget.ts';
import type { AskTarget } from './providers.ts';

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

/** When a turn runs again, its `ask` opens another nested session. So nested calls get their keys and their fence from the asking call. */
function asCall({ turn: { origin, turnIndex, fence }, id }: AskRequest): Pick<TurnInit, 'origin' | 'fence'> {
  if (origin === null || turnIndex === null) return {};
  return { origin: `${origin}/${id}`, ...(fence === null ? {} : { fence }) };
}

/**
 * Runs each turn of a nested loop in a fork of the asking run, in a context derived from the asking turn. The turns find its
 * definitions and globals and obey its policies as well as `policy`. Their own asks count against `quota`.
 */
export function askExecutor(request: AskRequest, quota: AskQuota, policy: PolicyOptions | undefined): TurnExecutor {
  const depth = askDepthOf(request.turn) + 1;
  return {
    limits: tighten(request.limits, protocolSizes()),
    context: (init) =>
      request.turn.derive({
        ...init,
        ...asCall(request),
        mayAct: () => request.turn.mayAct() && (init.mayAct?.() ?? true),
        values: { ...init.values, [ASK_DEPTH]: depth, [ASK_QUOTA]: quota, [PAYER]: request.payer },
      }),
    async end(sid) {
      try {
        await request.endSession(sid);
      } catch (error) {
        request.host.logger.error({ error, sid }, 'the resources of a nested session could not be removed');
      }
    },
    fork({ context, tools, limits }) {
      const id = `${context.sessionId}#${context.turnIndex}`;
      const fork = request.fork({ turn: context, tools, limits, id, policy });
      const inner = turnFork(fork);
      return {
        ...inner,
        async execute(run) {
          const sources = [...(await request.definitions()), ...(run.sources ?? [])];
          const globals = { ...request.globals, ...run.globals };
          // The asking run cannot be suspended in the middle of a call.
          return inner.execute({ ...run, sources, globals, mayWait: false });
        },
      };
    },
  };
}

/** The value of the `ask` for its last turn. Throws the error of an `ask` that failed. */
function valueOfTurn(record: TurnRecord, budget: Budget): string | null {
  const { decision, reason, error } = record;
  if (decision === 'DONE') return visibleOutput(record);
  if (decision === 'ABORT') throw new ToolError(NS_CODES.FailStatement, abortReason(record));
  const breach = error === null ? null : budget.breachOf(error);
  throw breach ?? halted(reason ?? 'ERR_TOKEN_MISSING', error?.message);
}

/** The error of a nested loop that the host ended: code 6 with the reason. */
function halted(reason: HaltReason, message?: string): ToolError {
  return new ToolError(NS_CODES.Internal, `the ask was halted: ${reason}${message === undefined ? '' : ` (${message})`}`);
}

/** The reply to the script for the error of an `ask`; `spent` is null if no loop began. Rethrows faults of the host. */
export function replyFor(error: unknown, spent: AskSpent | null): AskReply {
  const paid = spent === null ? {} : { spent };
  if (error instanceof Halt) return { t: 'halt', error: error.info, ...paid };
  if (!(error instanceof ToolError)) throw error;
  return { t: 'error', code: error.nsCode, message: error.message, hint: error.hint, ...paid };
}

/** The reason in the token of an aborted program. The token has been verified. */
function abortReason({ output, candidates, jti }: TurnRecord): string {
  const chosen = candidates.find((candidate) => candidate.ok && candidate.jti === jti);
  const decoded = decodeToken(output.split('\n')[(chosen?.line ?? 0) - 1] ?? '');
  const payload = decoded.ok ? memberOf(decoded.token.payload, 'payload') : null;
  const reason = memberOf(memberOf(payload, 'request'), 'reason');
  return typeof reason === 'string' && reason !== '' ? reason : 'the ask was aborted';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
