import { encodeUserdata, type Keyring, type Lifetimes, MAX_ENVELOPE_BYTES, UserdataError } from '../../aeiou/index.ts';
import { parsedJson } from '../../files/json.ts';
import type { AskHandler } from '../../runtime/index.ts';
import { type AskReply, ToolError } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { anything, checker, checkFunction, required, timerMs, wholeNumber } from '../../wire/options.ts';
import { plainMaps } from '../../wire/tagged.ts';
import { isValueMap, type Value } from '../../wire/values.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { LoopEvent } from '../events.ts';
import { type Ids, randomIds } from '../ids.ts';
import type { DecisionLog } from '../log/log.ts';
import { Metrics } from '../metrics.ts';
import { AskQuota, askDepthOf, askQuotaOf } from '../quota.ts';
import { MemoryStore } from '../sessions/sqlite.ts';
import type { SessionParent, SessionStore } from '../sessions/store.ts';
import { Budget } from './budget.ts';
import { driveNested, replyFor } from './nested.ts';
import { askOptions } from './options.ts';
import { type AgentProvider, openaiProvider, resolveTarget } from './providers.ts';

/** Options of {@link askHandler}. The stores of the asking interpreter hold the models. */
export interface AskHandlerOptions {
  /** Must hold a fallback key. */
  readonly keyring: Keyring;
  /** Providers by case-insensitive name, in addition to `openai`. */
  readonly providers?: Readonly<Record<string, AgentProvider>>;
  /** Stores nested sessions; in memory when absent. */
  readonly store?: SessionStore;
  /** Receives the decisions of nested sessions; none when absent. */
  readonly log?: DecisionLog;
  /** Counts the turns of nested sessions; nothing does when absent. */
  readonly metrics?: Metrics;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random ids when absent. */
  readonly ids?: Ids;
  /** How long tokens are valid; `DEFAULT_LIFETIMES` for absent fields. */
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Length of the leases of nested sessions in milliseconds, from 100; 15 seconds when absent. */
  readonly leaseMs?: number | undefined;
  /** Most nested loops, from 1; 4 when absent. */
  readonly maxDepth?: number;
  /** Receives the events of nested sessions together with the asking turn. Must not throw. */
  readonly onEvent?: (event: LoopEvent, parent: SessionParent) => unknown;
}

const checkAskOptions = checker<AskHandlerOptions>({
  keyring: required(anything),
  providers: anything,
  store: anything,
  log: anything,
  metrics: anything,
  clock: anything,
  ids: anything,
  lifetimes: anything,
  leaseMs: timerMs(100),
  maxDepth: wholeNumber(1),
  onEvent: checkFunction,
});

const MAX_DEPTH = 4;

/**
 * Answers `ask` with a nested loop: an agent writes programs, each program runs in a fork of the asking run and a fresh isolate,
 * and the decision of each turn is verified as in any loop. Pass the handler to `createRuntime` as `ask`. Throws
 * `ConfigError` (`ERR_CONFIG`).
 *
 * @example
 * ```ts
 * import { AgentModelStore, createRuntime } from 'neuroscript-runtime';
 * import { generateKeys, keyringFrom } from 'neuroscript-runtime/aeiou';
 * import { askHandler, systemClock } from 'neuroscript-runtime/loop';
 *
 * await using runtime = await createRuntime({
 *   ask: askHandler({ keyring: keyringFrom(generateKeys('ask'), { clock: systemClock }) }),
 * });
 * const models = new AgentModelStore();
 * models.register('helper', { provider: 'openai', model: 'm-1', base_url: 'http://127.0.0.1:11434/v1' });
 * await runtime.run('command\n  ask "helper", "Say hello." into answer\n  emit answer\nendcommand', { stores: { models } });
 * ```
 */
export function askHandler(options: AskHandlerOptions): AskHandler {
  checkAskOptions('the options of ask', options);
  const { maxDepth = MAX_DEPTH, providers = {} } = options;
  const { keyring, log, lifetimes, leaseMs, ids = randomIds } = options;
  const shared = {
    keyring,
    ids,
    store: options.store ?? new MemoryStore(),
    metrics: options.metrics ?? new Metrics(),
    clock: options.clock ?? systemClock,
    log,
    lifetimes,
    leaseMs,
  };
  const known = new Map(
    Object.entries({ openai: openaiProvider, ...providers }).map(([name, provider]) => [name.toLowerCase(), provider]),
  );
  return async (request) => {
    let budget: Budget | null = null;
    const said = new Set<string>();
    try {
      if (askDepthOf(request.turn) >= maxDepth)
        throw new ToolError(NS_CODES.NestingDepthExceeded, `ask is nested ${maxDepth} deep already, which is the maximum`);
      const target = resolveTarget(request.model, request.stores, known);
      const wanted = askOptions(request.options, target.model);
      const userdata = userdataOf(request.prompt);
      const quota = new AskQuota(askQuotaOf(request.turn), { turns: wanted.maxTurns, tokens: wanted.maxTokens });
      budget = new Budget(request, wanted, quota);
      const sid = ids.session();
      const { onEvent } = options;
      const value = await driveNested({ request, target, budget, quota, userdata, sid, said, shared, onEvent });
      return { t: 'ok', value: encode(value), ...labelsOf(said), spent: budget.spent };
    } catch (error) {
      const reply = replyFor(error, budget?.spent ?? null);
      return reply.t === 'halt' ? reply : { ...reply, ...labelsOf(said) };
    }
  };
}

/** The labels that an answer brings. */
function labelsOf(said: ReadonlySet<string>): Pick<AskReply & { readonly t: 'ok' }, 'labels'> {
  return said.size === 0 ? {} : { labels: { adds: [...said].sort(), drops: [] } };
}

/**
 * USERDATA of a nested loop. A prompt that is USERDATA already, as a map or as JSON text, stays as it is; any other prompt
 * becomes the field `prompt`. Throws {@link ToolError} 4 for a value that cannot be part of USERDATA.
 */
export function userdataOf(prompt: Value): unknown {
  // USERDATA is canonical JSON, which sorts keys, so the order of the program's map is dropped.
  const json = plainMaps(encode(prompt));
  const whole = isValueMap(prompt) ? json : typeof prompt === 'string' ? parsed(prompt) : null;
  if (isUserdata(whole)) return whole;
  const wrapped = { subject: 'ask', fields: { prompt: json } };
  try {
    encodeUserdata(wrapped);
    return wrapped;
  } catch (error) {
    if (!(error instanceof UserdataError)) throw error;
    throw new ToolError(NS_CODES.ArgMismatch, `the prompt cannot be sent: ${error.message}`, undefined, { cause: error });
  }
}

function parsed(text: string): unknown {
  // A text that is longer than an envelope cannot be part of one.
  if (text.length > MAX_ENVELOPE_BYTES || !text.trimStart().startsWith('{')) return null;
  return parsedJson(text) ?? null;
}

function isUserdata(value: unknown): boolean {
  if (value === null) return false;
  try {
    encodeUserdata(value);
    return true;
  } catch (error) {
    if (error instanceof UserdataError) return false;
    throw error;
  }
}
