import { ConfigError } from '../wire/errors.ts';
import { AgentError } from './agents/agent.ts';
import type { SessionState } from './store.ts';

/** What a whole session may use up, over all its turns and all processes that drive it. */
export interface Ceilings {
  /** Most turns, from 1; 25 when absent. */
  readonly maxTurns?: number;
  /** Most fuel of all programs together, from 1; no ceiling but that of each turn when absent. */
  readonly maxFuel?: number;
  /** Most model tokens of all replies together, from 1; none when absent. Counts what the agent reports. */
  readonly maxTokens?: number;
  /** Most model tokens of one reply, from 1; none when absent. */
  readonly maxTurnTokens?: number;
}

const MAX_TURNS = 25;

/** Throws {@link ConfigError} for a ceiling that cannot be enforced. */
export function checkCeilings(ceilings: Ceilings): Required<Pick<Ceilings, 'maxTurns'>> & Ceilings {
  const { maxTurns = MAX_TURNS, maxFuel, maxTokens, maxTurnTokens } = ceilings;
  for (const [name, value] of Object.entries({ maxTurns, maxFuel, maxTokens, maxTurnTokens }))
    if (value !== undefined) ceiling(name, value);
  return { ...ceilings, maxTurns };
}

/** The value, when it is one that can be enforced; else throws {@link ConfigError}. */
export function ceiling(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new ConfigError(`${name} must be a whole number from 1, got ${String(value)}`);
  return value;
}

/** What the next turn may use of fuel and tokens; null where nothing bounds it. */
export interface Allowance {
  readonly fuel: number | null;
  readonly tokens: number | null;
}

/** Throws {@link AgentError} (`ERR_QUOTA`) when nothing is left of a total: then nobody is asked, and nothing runs. */
export function allowance({ nextTurn, spent }: SessionState, { maxFuel, maxTokens, maxTurnTokens }: Ceilings): Allowance {
  const left = (name: string, total: number | undefined, used: number): number | null => {
    if (total === undefined) return null;
    if (used < total) return total - used;
    throw new AgentError(nextTurn, `the session used up its ${name}: ${used} of ${total}`, 'ERR_QUOTA');
  };
  const fuel = left('fuel', maxFuel, spent.fuel);
  const tokens = left('model tokens', maxTokens, spent.tokens);
  return { fuel, tokens: tokens === null ? (maxTurnTokens ?? null) : Math.min(tokens, maxTurnTokens ?? tokens) };
}
