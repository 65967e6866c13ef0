import type { Keyring, Lifetimes } from '../../aeiou/index.ts';
import type { AskHandler } from '../../runtime/index.ts';
import { ToolError } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checkCallback, checkOptions, type KeysOf } from '../../wire/options.ts';
import type { LoopEvent } from '../events.ts';
import type { DecisionLog } from '../log/log.ts';
import { Metrics } from '../metrics.ts';
import { type Clock, type Ids, randomIds, systemClock } from '../ports.ts';
import { MemoryStore } from '../sessions/memory.ts';
import type { SessionParent, SessionStore } from '../sessions/store.ts';
import { type AgentProvider, openaiProvider, whomToAsk } from './agents.ts';
import { Budget } from './budget.ts';
import { depthOf } from './depth.ts';
import { driveNested } from './nested.ts';
import { askOptions } from './options.ts';
import { replyFor } from './outcome.ts';
import { Purse, purseOf } from './purse.ts';
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
  const { keyring, log, lifetimes, ids = randomIds } = options;
  const shared = {
    keyring,
    ids,
    store: options.store ?? new MemoryStore(),
    metrics: options.metrics ?? new Metrics(),
    clock: options.clock ?? systemClock,
    ...(log === undefined ? {} : { log }),
    ...(lifetimes === undefined ? {} : { lifetimes }),
  };
  const known = new Map(
    Object.entries({ openai: openaiProvider, ...providers }).map(([name, provider]) => [name.toLowerCase(), provider]),
  );
  return async (request) => {
    let budget: Budget | null = null;
    try {
      if (depthOf(request.turn) >= maxDepth)
        throw new ToolError(NS_CODES.NestingDepthExceeded, `ask is nested ${maxDepth} deep already, and that is the most`);
      const asked = whomToAsk(request.model, request.stores, known);
      const wanted = askOptions(request.options, asked.model);
      const userdata = userdataOf(request.prompt);
      const purse = new Purse(purseOf(request.turn), { turns: wanted.maxTurns, tokens: wanted.maxTokens });
      budget = new Budget(request, wanted, purse);
      const sid = ids.session();
      const { onEvent } = options;
      const value = await driveNested({ request, asked, budget, purse, userdata, sid, shared, onEvent });
      return { t: 'ok', value: encode(value), spent: budget.spent };
    } catch (error) {
      return replyFor(error, budget?.spent ?? null);
    }
  };
}
