import { ConfigError } from '../wire/errors.ts';
import type { KeysOf } from '../wire/options.ts';
import { AgentError } from './agents/agent.ts';
import type { SessionState } from './sessions/store.ts';

/** What a whole session may use, over all its turns and all processes that drive it. */
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
  /** Most further requests to an agent for a turn after a reply without an envelope, from 0; 2 when absent. */
  readonly maxReasks?: number | undefined;
}

/** Names of all ceilings. */
export const CEILINGS: KeysOf<Ceilings> = {
  maxTurns: true,
  maxFuel: true,
  maxTokens: true,
  maxTurnTokens: true,
  maxReplyMs: true,
  maxReasks: true,
};

const MAX_TURNS = 25;
const MAX_REPLY_MS = 300_000;
const MAX_REASKS = 2;

/** Ceilings with their defaults; undefined where there is no ceiling. */
export type CheckedCeilings = {
  readonly [Name in 'maxTurns' | 'maxReplyMs' | 'maxReasks']: number;
} & {
  readonly [Name in 'maxFuel' | 'maxTokens' | 'maxTurnTokens']: number | undefined;
};

/** Throws {@link ConfigError} for a ceiling that cannot be enforced. */
export function checkCeilings(ceilings: Ceilings): CheckedCeilings {
  const { maxTurns = MAX_TURNS, maxReplyMs = MAX_REPLY_MS, maxReasks = MAX_REASKS } = ceilings;
  const { maxFuel, maxTokens, maxTurnTokens } = ceilings;
  for (const [name, value] of Object.entries({ maxTurns, maxReplyMs, maxFuel, maxTokens, maxTurnTokens }))
    if (value !== undefined) ceiling(name, value);
  if (!Number.isSafeInteger(maxReasks) || maxReasks < 0)
    throw new ConfigError(`maxReasks must be a whole number from 0, got ${String(maxReasks)}`);
  return { maxTurns, maxReplyMs, maxReasks, maxFuel, maxTokens, maxTurnTokens };
}

/** Checks one ceiling. Throws {@link ConfigError} for a value that cannot be enforced. */
export function ceiling(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new ConfigError(`${name} must be a whole number from 1, got ${String(value)}`);
  return value;
}

/** Fuel and tokens for the next turn; null where there is no ceiling. */
export interface Allowance {
  readonly fuel: number | null;
  readonly tokens: number | null;
}

/** What the ceilings leave for the next turn. Throws {@link AgentError} (`ERR_QUOTA`) when a total is used up. */
export function allowance({ nextTurn, spent }: SessionState, { maxFuel, maxTokens, maxTurnTokens }: CheckedCeilings): Allowance {
  const left = (name: string, total: number | undefined, used: number): number | null => {
    if (total === undefined) return null;
    if (used < total) return total - used;
    throw new AgentError(nextTurn, `the session used up its ${name}: ${used} of ${total}`, 'ERR_QUOTA');
  };
  const fuel = left('fuel', maxFuel, spent.fuel);
  const tokens = left('model tokens', maxTokens, spent.tokens);
  return { fuel, tokens: tokens === null ? (maxTurnTokens ?? null) : Math.min(tokens, maxTurnTokens ?? tokens) };
}
