import type { Keyring, Lifetimes } from '../../aeiou/index.ts';
import type { AskHandler, AskRequest } from '../../runtime/index.ts';
import { Halt, type ToolDefinition, ToolError } from '../../tools/index.ts';
import { cancelledError } from '../../wire/breach.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checkCallback, checkOptions, type KeysOf } from '../../wire/options.ts';
import { AgentError, agentBrief } from '../agents/index.ts';
import { LoopController } from '../controller.ts';
import type { LoopEvent } from '../events.ts';
import type { DecisionLog } from '../log.ts';
import { MemoryStore } from '../memory.ts';
import { Metrics } from '../metrics.ts';
import type { Clock, Ids } from '../ports.ts';
import { randomIds, systemClock } from '../ports.ts';
import type { SessionParent, SessionStore } from '../store.ts';
import { type AgentProvider, type Asked, openaiProvider, whomToAsk } from './agents.ts';
import { Budget } from './budget.ts';
import { depthOf } from './depth.ts';
import { askExecutor } from './executor.ts';
import { type AskOptions, askOptions } from './options.ts';
import { halted, replyFor, valueOfTurn } from './outcome.ts';
import { userdataOf } from './userdata.ts';

/** What nested loops are made from. Which models there are is in the stores of the asking interpreter. */
export interface AskHandlerOptions {
  /** Must hold a fallback key (A3-11.4-1). */
  readonly keyring: Keyring;
  /** By the name that a model gives as its provider, in any case; `openai` is there beside them. */
  readonly providers?: Readonly<Record<string, AgentProvider>>;
  /** Where nested sessions are kept, with the turn that has asked; in memory when absent. */
  readonly store?: SessionStore;
  readonly log?: DecisionLog;
  readonly metrics?: Metrics;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly lifetimes?: Partial<Lifetimes>;
  /** Most loops that one is nested in, from 1; 4 when absent. */
  readonly maxDepth?: number;
  /** Told of everything that happens in nested sessions, and of the turn that each belongs to. Must not throw. */
  readonly onEvent?: (event: LoopEvent, parent: SessionParent) => void;
}

const KEYS: KeysOf<AskHandlerOptions> = {
  keyring: true,
  providers: true,
  store: true,
  log: true,
  metrics: true,
  clock: true,
  ids: true,
  lifetimes: true,
  maxDepth: true,
  onEvent: true,
};

const MAX_DEPTH = 4;

/** A handler's options with their defaults. */
interface Shared extends Required<Pick<AskHandlerOptions, 'keyring' | 'store' | 'metrics' | 'clock' | 'ids' | 'maxDepth'>> {
  readonly options: AskHandlerOptions;
  readonly providers: ReadonlyMap<string, AgentProvider>;
}

/**
 * Answers `ask` with a nested loop of this profile (P34): the agent writes programs, each runs in a fork of the asking run,
 * in a fresh isolate, and the decision of each turn is verified as in the loop outside. Give it to `createRuntime` as `ask`.
 * Throws {@link ConfigError} (`ERR_CONFIG`).
 */
export function askHandler(options: AskHandlerOptions): AskHandler {
  checkOptions('the options of ask', options, KEYS);
  checkCallback('onEvent', options.onEvent);
  const { maxDepth = MAX_DEPTH, providers = {} } = options;
  if (!Number.isSafeInteger(maxDepth) || maxDepth < 1)
    throw new ConfigError(`maxDepth of ask must be a whole number from 1, got ${String(maxDepth)}`);
  const shared: Shared = {
    options,
    keyring: options.keyring,
    store: options.store ?? new MemoryStore(),
    metrics: options.metrics ?? new Metrics(),
    clock: options.clock ?? systemClock,
    ids: options.ids ?? randomIds,
    maxDepth,
    providers: new Map(
      Object.entries({ openai: openaiProvider, ...providers }).map(([name, provider]) => [name.toLowerCase(), provider]),
    ),
  };
  return async (request) => {
    let budget: Budget | null = null;
    try {
      if (depthOf(request.turn) >= maxDepth)
        throw new ToolError(NS_CODES.NestingDepthExceeded, `ask is nested ${maxDepth} deep already, and that is the most`);
      const asked = whomToAsk(request.model, request.stores, shared.providers);
      const wanted = askOptions(request.options, asked.model);
      const userdata = userdataOf(request.prompt);
      budget = new Budget(request, wanted);
      const value = await loop(shared, request, asked, wanted, budget, userdata);
      return { t: 'ok', value: encode(value), spent: budget.spent };
    } catch (error) {
      return replyFor(error, budget?.spent ?? { fuel: 0, toolCalls: 0, cpuMs: 0 });
    }
  };
}

async function loop(
  shared: Shared,
  request: AskRequest,
  { model, agent }: Asked,
  { maxTurns, maxTokens }: AskOptions,
  budget: Budget,
  userdata: unknown,
): Promise<string | null> {
  const { turn, seq, signal } = request;
  const parent: SessionParent = { sid: turn.sessionId, turn: turn.turnIndex, seq };
  const controller = controllerOf(shared, request, model.tool_loop_permitted !== false);
  const { onEvent } = shared.options;
  const sid = await controller.open(userdata, shared.ids.session(), { parent });
  try {
    for (let turns = 1; ; turns++) {
      const { wallMs, ...limits } = budget.next();
      const record = await controller.step(sid, {
        agent,
        limits,
        wallMs,
        signal,
        ...(maxTokens === null ? {} : { maxTokens }),
        ...(onEvent === undefined ? {} : { onEvent: (event: LoopEvent) => onEvent(event, parent) }),
      });
      budget.take(record.usage);
      if (record.decision !== 'CONTINUE') return valueOfTurn(record, budget);
      if (model.auto_loop_enabled === false) throw await ended('ERR_POLICY', `${model.name} may not ask for another turn`);
      if (turns >= maxTurns) throw await ended('ERR_MAX_TURNS');
    }
  } catch (error) {
    if (error instanceof AgentError) throw await given(error);
    if (error instanceof ToolError || error instanceof Halt) await close('ERR_QUOTA');
    throw error;
  }

  async function ended(reason: 'ERR_POLICY' | 'ERR_MAX_TURNS', message?: string): Promise<ToolError> {
    await close(reason);
    return halted(reason, message);
  }

  /** Nothing happens to a session that has ended by itself. */
  async function close(reason: Parameters<LoopController['halt']>[1]): Promise<void> {
    await controller.halt(sid, reason);
  }

  async function given({ reason, message }: AgentError): Promise<ToolError | Halt> {
    await close(reason);
    if (reason === 'ERR_CANCELLED') return new Halt(cancelledError('the run ended while it asked'));
    if (reason === 'ERR_TIMEOUT') return budget.breach('wallMs', Number.POSITIVE_INFINITY);
    if (reason === 'ERR_QUOTA') return new ToolError(NS_CODES.ResourceExhaustion, message);
    return new ToolError(NS_CODES.LLMError, message);
  }
}

function controllerOf(shared: Shared, request: AskRequest, mayCallTools: boolean): LoopController {
  const { keyring, store, metrics, clock, ids } = shared;
  const { log, lifetimes } = shared.options;
  return new LoopController({
    executor: askExecutor(request, mayCallTools ? undefined : { allow: [] }),
    keyring,
    store,
    metrics,
    clock,
    ids,
    system: agentBrief({ tools: mayCallTools ? callable(request) : [] }),
    ...(log === undefined ? {} : { log }),
    ...(lifetimes === undefined ? {} : { lifetimes }),
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
