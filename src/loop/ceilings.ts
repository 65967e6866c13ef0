import { checkUsd } from '../tools/index.ts';
import { quotaError } from '../wire/errorinfo.ts';
import { ConfigError } from '../wire/errors.ts';
import { type Nanos, nanosOf, usdText } from '../wire/money.ts';
import { type Checks, wholeNumber } from '../wire/options.ts';
import { grouped } from '../wire/text/grouped.ts';
import { AgentError } from './agents/agent.ts';
import type { SessionState } from './sessions/store.ts';

/** Ceilings of a whole session, over all its turns and all processes that drive it. */
export interface Ceilings {
  /** Most turns, from 1; 25 when absent. */
  readonly maxTurns?: number | undefined;
  /** Most fuel of all programs together, from 1; when absent, only the limits of each turn apply. */
  readonly maxFuel?: number | undefined;
  /** Most model tokens of all replies together, from 1; no ceiling when absent. Counts what the agent reports. */
  readonly maxTokens?: number | undefined;
  /** Most model tokens of one turn, from 1; no ceiling when absent. */
  readonly maxTurnTokens?: number | undefined;
  /** Most US dollars for tool calls and model tokens, above 0; no ceiling when absent. Counts by the prices that tools and agents have. */
  readonly maxCost?: number | undefined;
  /** Most milliseconds of one reply, from 1; five minutes when absent. */
  readonly maxReplyMs?: number | undefined;
  /** Most further replies of a turn after attempts that did not decide it, from 0; 3 when absent. */
  readonly maxReasks?: number | undefined;
}

export const CEILING_CHECKS: Checks<Ceilings> = {
  maxTurns: wholeNumber(1),
  maxFuel: wholeNumber(1),
  maxTokens: wholeNumber(1),
  maxTurnTokens: wholeNumber(1),
  maxCost: checkMaxCost,
  maxReplyMs: wholeNumber(1),
  maxReasks: wholeNumber(0),
};

function checkMaxCost(what: string, value: unknown): void {
  checkUsd(what, value);
  if (value === 0) throw new ConfigError(`${what} must be above 0`);
}

/** Ceilings with their defaults; undefined where there is no ceiling. */
export type ResolvedCeilings = {
  readonly [Name in 'maxTurns' | 'maxReplyMs' | 'maxReasks']: number;
} & {
  readonly [Name in 'maxFuel' | 'maxTokens' | 'maxTurnTokens' | 'maxCost']: number | undefined;
};

/** Fills in the defaults of checked ceilings. */
export function resolveCeilings(ceilings: Ceilings): ResolvedCeilings {
  const { maxTurns = 25, maxReplyMs = 300_000, maxReasks = 3, maxFuel, maxTokens, maxTurnTokens, maxCost } = ceilings;
  return { maxTurns, maxReplyMs, maxReasks, maxFuel, maxTokens, maxTurnTokens, maxCost };
}

/** Fuel, tokens and money for the next turn; null where there is no ceiling. */
export interface Allowance {
  readonly fuel: number | null;
  readonly tokens: number | null;
  readonly money: Nanos | null;
}

/** The rest of the ceilings, for the next turn. Throws {@link AgentError} (`ERR_QUOTA`) when a total is used up. */
export function allowance(
  { nextTurn, spent }: SessionState,
  { maxFuel, maxTokens, maxTurnTokens, maxCost }: ResolvedCeilings,
): Allowance {
  const left = (name: string, total: number | undefined, used: number): number | null => {
    if (total === undefined) return null;
    if (used < total) return total - used;
    throw new AgentError(nextTurn, `the session used up its ${name}: ${grouped(used)} of ${grouped(total)}`, 'ERR_QUOTA');
  };
  const fuel = left('fuel', maxFuel, spent.fuel);
  const tokens = left('model tokens', maxTokens, spent.tokens);
  if (maxCost !== undefined && (spent.cost ?? 0) >= maxCost) {
    const breach = { limit: 'cost', allowed: maxCost, used: spent.cost } as const;
    const message = `the session used up its money: ${usdText(spent.cost ?? 0)} of ${usdText(maxCost)}`;
    throw new AgentError(nextTurn, message, 'ERR_QUOTA', { failure: quotaError(breach, message) });
  }
  const money = maxCost === undefined ? null : nanosOf(maxCost) - nanosOf(spent.cost ?? 0);
  return { fuel, money, tokens: tokens === null ? (maxTurnTokens ?? null) : Math.min(tokens, maxTurnTokens ?? tokens) };
}
