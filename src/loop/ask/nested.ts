import type { AskRequest } from '../../runtime/index.ts';
import { Halt, type ToolDefinition, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import { BusyError, RuntimeClosedError } from '../../wire/errors.ts';
import { AgentError, agentBrief } from '../agents/index.ts';
import { LoopController } from '../controller.ts';
import type { LoopEvent } from '../events.ts';
import type { LoopControllerOptions } from '../options.ts';
import type { SessionParent } from '../sessions/store.ts';
import type { HaltReason } from '../turn/decision.ts';
import type { Asked } from './agents.ts';
import type { Budget } from './budget.ts';
import { askExecutor } from './executor.ts';
import { halted, valueOfTurn } from './outcome.ts';
import type { Purse } from './purse.ts';

/** What a nested loop is driven with. */
export interface NestedLoop {
  readonly request: AskRequest;
  readonly asked: Asked;
  readonly budget: Budget;
  readonly purse: Purse;
  readonly userdata: unknown;
  readonly sid: string;
  /** What its controller shares with those of other asks. */
  readonly shared: Omit<LoopControllerOptions, 'executor' | 'system'>;
  readonly onEvent: ((event: LoopEvent, parent: SessionParent) => void) | undefined;
}

/**
 * Opens a session, drives it to its end, and gives the value of the `ask`. However it ends, the session has ended then, and
 * the budget says what was used. Throws {@link ToolError} for what the script can catch, {@link Halt} for what ends its run,
 * and anything else for a fault of the host.
 */
export async function driveNested(loop: NestedLoop): Promise<string | null> {
  const { request, asked, budget, purse, userdata, sid, onEvent } = loop;
  const { turn, seq, signal, host } = request;
  const { model, agent } = asked;
  const parent: SessionParent = { sid: turn.sessionId, turn: turn.turnIndex, seq };
  const controller = controllerOf(loop);
  await controller.open(userdata, sid, { parent });
  let open = true;
  /** Model tokens of the replies of the current turn. */
  let replied = 0;
  try {
    for (;;) {
      const { wallMs, ...limits } = budget.next();
      if (!purse.hasTurn) throw new Ended('ERR_MAX_TURNS');
      const tokens = purse.tokensLeft;
      // What the turn has cost so far is not there for what its program asks.
      purse.take(1, 0);
      replied = 0;
      const record = await controller.step(sid, {
        agent,
        limits,
        wallMs,
        signal,
        ...(tokens === null ? {} : { maxTokens: purse.tokens + tokens }),
        onEvent(event: LoopEvent) {
          if (event.type === 'replied') pay(event.tokens);
          onEvent?.(event, parent);
        },
      });
      budget.take(record.usage);
      open = record.decision === 'CONTINUE';
      if (!open) return valueOfTurn(record, budget);
      if (model.auto_loop_enabled === false) throw new Ended('ERR_POLICY', `${model.name} may not ask for another turn`);
    }
  } catch (error) {
    // Of replies that were refused it is known already.
    if (error instanceof AgentError) pay(error.tokens - replied);
    const end = endOf(error, budget);
    if (open) await close(end.reason);
    throw end.error;
  }

  function pay(tokens: number): void {
    replied += tokens;
    purse.take(0, tokens);
  }

  async function close(reason: HaltReason): Promise<void> {
    try {
      await controller.halt(sid, reason);
    } catch (error) {
      // What the ask ends with went wrong first; who recovers the store ends the session.
      host.logger.error({ error, sid }, 'a nested session could not be ended');
    }
  }
}

/** The host gives a loop up between two turns. */
class Ended extends Error {
  readonly reason: HaltReason;
  readonly told: string | undefined;
  constructor(reason: HaltReason, told?: string) {
    super(reason);
    this.reason = reason;
    this.told = told;
  }
}

/** What an `ask` ends with, and its session where that is open. */
function endOf(error: unknown, budget: Budget): { readonly reason: HaltReason; readonly error: unknown } {
  if (error instanceof Ended) return { reason: error.reason, error: halted(error.reason, error.told) };
  if (error instanceof AgentError) return { reason: error.reason, error: endOfAgent(error, budget) };
  if (error instanceof ToolError || error instanceof Halt) return { reason: 'ERR_QUOTA', error };
  if (error instanceof BusyError)
    return { reason: 'ERR_QUOTA', error: new ToolError(NS_CODES.ResourceExhaustion, `the ask got no worker: ${error.message}`) };
  if (error instanceof RuntimeClosedError) return { reason: 'ERR_CANCELLED', error: cancelled() };
  return { reason: 'ERR_INTERRUPTED', error };
}

function endOfAgent({ reason, message }: AgentError, budget: Budget): ToolError | Halt {
  if (reason === 'ERR_CANCELLED') return cancelled();
  if (reason === 'ERR_QUOTA') return budget.outOfTokens();
  // One reply may take less time than the whole ask.
  if (reason === 'ERR_TIMEOUT' && budget.timeIsUp) return budget.outOfTime();
  return new ToolError(NS_CODES.LLMError, message);
}

function cancelled(): Halt {
  return new Halt(cancelledError('the run ended while it asked'));
}

function controllerOf({ request, asked: { model }, purse, shared }: NestedLoop): LoopController {
  const mayCallTools = model.tool_loop_permitted !== false;
  return new LoopController({
    ...shared,
    executor: askExecutor(request, purse, mayCallTools ? undefined : { allow: [] }),
    system: agentBrief({ tools: mayCallTools ? callable(request) : [] }),
    // The asking program stands still meanwhile, and cannot be put aside with what it asked.
    mayWait: false,
  });
}

/** The tools that a nested program may call: the model should not be told of others. */
function callable(request: AskRequest): readonly ToolDefinition[] {
  const fork = request.fork({ turn: request.turn });
  return fork.tools.names().flatMap((name) => {
    const tool = fork.tools.lookup(name);
    return tool === undefined || fork.denied(name) !== null ? [] : [tool];
  });
}
