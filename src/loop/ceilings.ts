import { type Checks, wholeNumber } from '../wire/options.ts';
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
  /** Most milliseconds of one reply, from 1; five minutes when absent. */
  readonly maxReplyMs?: number | undefined;
  /** Most further replies of a turn after attempts that did not decide it, from 0; 3 when absent. */
  readonly maxReasks?: number | undefined;
}

/** The checks of {@link Ceilings}. */
export const CEILING_CHECKS: Checks<Ceilings> = {
  maxTurns: wholeNumber(1),
  maxFuel: wholeNumber(1),
  maxTokens: wholeNumber(1),
  maxTurnTokens: wholeNumber(1),
  maxReplyMs: wholeNumber(1),
  maxReasks: wholeNumber(0),
};

/** Ceilings with their defaults; undefined where there is no ceiling. */
export type ResolvedCeilings = {
  readonly [Name in 'maxTurns' | 'maxReplyMs' | 'maxReasks']: number;
} & {
  readonly [Name in 'maxFuel' | 'maxTokens' | 'maxTurnTokens']: number | undefined;
};

/** Fills in the defaults of checked ceilings. */
export function resolveCeilings(ceilings: Ceilings): ResolvedCeilings {
  const { maxTurns = 25, maxReplyMs = 300_000, maxReasks = 3, maxFuel, maxTokens, maxTurnTokens } = ceilings;
  return { maxTurns, maxReplyMs, maxReasks, maxFuel, maxTokens, maxTurnTokens };
}

/** Fuel and tokens for the next turn; null where there is no ceiling. */
export interface Allowance {
  readonly fuel: number | null;
  readonly tokens: number | null;
}

/** The rest of the ceilings, for the next turn. Throws {@link AgentError} (`ERR_QUOTA`) when a total is used up. */
export function allowance({ nextTurn, spent }: SessionState, { maxFuel, maxTokens, maxTurnTokens }: ResolvedCeilings): Allowance {
  const left = (name: string, total: number | undefined, used: number): number | null => {
    if (total === undefined) return null;
    if (used < total) return total - used;
    throw new AgentError(nextTurn, `the session used up its ${name}: ${used} of ${total}`, 'ERR_QUOTA');
  };
  const fuel = left('fuel', maxFuel, spent.fuel);
  const tokens = left('model tokens', maxTokens, spent.tokens);
  return { fuel, tokens: tokens === null ? (maxTurnTokens ?? null) : Math.min(tokens, maxTurnTokens ?? tokens) };
}
