import type { AgentModel } from '../../context/index.ts';
import type { AskBudget } from '../../runtime/index.ts';
import { checkAmount } from '../../sandbox/index.ts';
import { ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Value, ValueMap } from '../../wire/values.ts';

/** A limit that a nested loop shares with its caller. */
export type BudgetKey = keyof AskBudget;

/** The options of `with`, and the limit that each sets. */
const BUDGETS: Readonly<Record<string, BudgetKey>> = {
  fuel: 'fuel',
  memory_bytes: 'memoryBytes',
  tool_calls: 'toolCalls',
  cpu_ms: 'cpuMs',
  wall_ms: 'wallMs',
};

/** The option of `with` that sets a limit. */
export function optionOf(key: BudgetKey): string {
  return Object.keys(BUDGETS).find((name) => BUDGETS[name] === key) ?? key;
}

const COUNTS = ['max_turns', 'max_tokens'] as const;

/** Upper bound for the turns of one `ask`. */
const MAX_TURNS = 25;

/** The bounds of one `ask`, from its options and its model. */
export interface AskOptions {
  readonly maxTurns: number;
  /** Model tokens; null for no limit. */
  readonly maxTokens: number | null;
  /** Limits that `with` sets. They may be looser than what the caller has left. */
  readonly budget: Partial<AskBudget>;
}

/**
 * Reads the options after `with`. Throws {@link ToolError} 4 for an unknown key and for an amount that cannot be enforced.
 */
export function askOptions(given: ValueMap, model: AgentModel): AskOptions {
  const known = [...Object.keys(BUDGETS), ...COUNTS];
  const budget: Partial<Record<BudgetKey, number>> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) throw refused(`'${name}' is not an option of ask; known are ${known.join(', ')}`);
    const key = BUDGETS[name];
    if (key !== undefined) budget[key] = amount(name, key, value);
  }
  const { max_turns: turns = MAX_TURNS, max_tokens: tokens } = given;
  return {
    maxTurns: Math.max(1, Math.min(whole('max_turns', turns), model.max_turns ?? MAX_TURNS, MAX_TURNS)),
    maxTokens: tokens === undefined ? null : whole('max_tokens', tokens),
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

function whole(name: string, value: Value): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw refused(`${name} must be a whole number from 1`);
}

function refused(problem: string): ToolError {
  return new ToolError(NS_CODES.ArgMismatch, `the options of ask: ${problem}`);
}
