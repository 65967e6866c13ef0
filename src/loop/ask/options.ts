import type { AgentModel } from '../../context/index.ts';
import type { AskBudget } from '../../runtime/index.ts';
import { checkAmount } from '../../sandbox/limits.ts';
import { ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Value, ValueMap } from '../../wire/values.ts';

/** The part of a budget that a nested loop shares with its caller; names of limits. */
export type BudgetKey = keyof AskBudget;

/** What `with` may say, and the budget that each bounds. */
const BUDGETS: Readonly<Record<string, BudgetKey>> = {
  fuel: 'fuel',
  memory_bytes: 'memoryBytes',
  tool_calls: 'toolCalls',
  cpu_ms: 'cpuMs',
  wall_ms: 'wallMs',
};
/** What `with` calls a budget. */
export function optionOf(key: BudgetKey): string {
  return Object.keys(BUDGETS).find((name) => BUDGETS[name] === key) ?? key;
}

const COUNTS = ['max_turns', 'max_tokens'] as const;

/** Most turns of one `ask`, whatever is asked for (language.md 11.2). */
const MAX_TURNS = 25;

/** What one `ask` may take, by its own words and by what its model may. */
export interface AskOptions {
  readonly maxTurns: number;
  /** Model tokens; null where nothing bounds them. */
  readonly maxTokens: number | null;
  /** What `with` bounds, tighter or not than what the caller has left. */
  readonly budget: Partial<AskBudget>;
}

/**
 * Reads the map behind `with` (P27). Throws {@link ToolError} 4 for a key that means nothing and for an amount that cannot be
 * enforced.
 */
export function askOptions(given: ValueMap, model: AgentModel): AskOptions {
  const known = [...Object.keys(BUDGETS), ...COUNTS];
  const budget: Partial<Record<BudgetKey, number>> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) throw refused(`'${name}' is no option of ask; known are ${known.join(', ')}`);
    const key = BUDGETS[name];
    if (key !== undefined) budget[key] = amount(name, key, value);
  }
  const turns = whole('max_turns', given['max_turns'] ?? null) ?? MAX_TURNS;
  return {
    maxTurns: Math.max(1, Math.min(turns, model.max_turns ?? MAX_TURNS, MAX_TURNS)),
    maxTokens: whole('max_tokens', given['max_tokens'] ?? null),
    budget,
  };
}

function amount(name: string, key: BudgetKey, value: Value): number {
  try {
    return checkAmount(name, limitOf(key), value);
  } catch (error) {
    throw error instanceof ConfigError ? refused(error.message) : error;
  }
}

function whole(name: string, value: Value): number | null {
  if (value === null || (Number.isSafeInteger(value) && Number(value) >= 1)) return value === null ? null : Number(value);
  throw refused(`${name} must be a whole number from 1`);
}

function refused(problem: string): ToolError {
  return new ToolError(NS_CODES.ArgMismatch, `the options of ask: ${problem}`);
}
