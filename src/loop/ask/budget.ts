import type { AskBudget, AskRequest } from '../../runtime/index.ts';
import { LIMITS, type LimitOptions } from '../../sandbox/limits.ts';
import { Halt, ToolError } from '../../tools/index.ts';
import { quotaError, timeoutError } from '../../wire/breach.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { AskSpent, LimitValues, Usage } from '../../wire/protocol.ts';
import type { AskOptions, BudgetKey } from './options.ts';

const KEYS: readonly BudgetKey[] = ['fuel', 'memoryBytes', 'toolCalls', 'cpuMs', 'wallMs'];

/**
 * What a nested loop may still use: no more than its caller had left where it asked, and no more than `with` says. Fuel, tool
 * calls and time go down by what each turn used; memory does not, since a turn gives it back.
 */
export class Budget {
  readonly #left: AskBudget;
  readonly #own: Partial<AskBudget>;
  readonly #limits: LimitValues;
  readonly #begun = performance.now();
  #fuel = 0;
  #toolCalls = 0;
  #cpuMs = 0;

  constructor({ left, limits }: Pick<AskRequest, 'left' | 'limits'>, { budget }: AskOptions) {
    this.#left = left;
    this.#own = budget;
    this.#limits = limits;
  }

  /** What the caller pays. */
  get spent(): AskSpent {
    return { fuel: this.#fuel, toolCalls: this.#toolCalls, cpuMs: this.#cpuMs };
  }

  /** Counts a turn. */
  take({ fuel, toolCalls, cpuMs }: Usage): void {
    this.#fuel += fuel;
    this.#toolCalls += toolCalls;
    this.#cpuMs += cpuMs;
  }

  /**
   * The limits of the next turn. When there is too little left of something for any turn, throws what the `ask` ends with:
   * {@link ToolError} 37 where `with` has said so, {@link Halt} where it is the caller's own.
   */
  next(): LimitOptions & { readonly wallMs: number } {
    const limits = Object.fromEntries(KEYS.map((key) => [key, this.#rest(key)]));
    for (const { key, min } of LIMITS) {
      const rest = limits[key];
      if (rest !== undefined && rest < min) throw this.breach(keyOf(key) ?? 'fuel', this.#used(keyOf(key) ?? 'fuel') + 1);
    }
    return { ...limits, wallMs: this.#rest('wallMs') };
  }

  /** What the `ask` ends with when so much of a budget was used, or asked for, in all. */
  breach(key: BudgetKey, used: number): ToolError | Halt {
    const own = this.#own[key];
    if (own !== undefined && own < this.#left[key])
      return new ToolError(NS_CODES.ResourceExhaustion, `the ask used up its ${key}: ${own} are allowed`);
    const allowed = this.#limits[key];
    const total = Math.max(allowed, Math.round(allowed - this.#left[key] + used));
    const message = `the run and what it asked used up its ${key}: ${allowed} are allowed`;
    return new Halt(
      key === 'wallMs'
        ? timeoutError({ limit: key, allowed, used: total }, message)
        : quotaError({ limit: key, allowed, used: total }, message),
    );
  }

  /** The same for the limit that ended a turn; null when it is none that is shared with the caller. */
  breachOf(limit: string | undefined, usedByTurn: number): ToolError | Halt | null {
    const key = keyOf(limit);
    return key === null ? null : this.breach(key, (key === 'memoryBytes' ? 0 : this.#used(key)) + usedByTurn);
  }

  #rest(key: BudgetKey): number {
    const total = Math.min(this.#left[key], this.#own[key] ?? Number.POSITIVE_INFINITY);
    return Math.max(0, Math.floor(total - this.#used(key)));
  }

  #used(key: BudgetKey): number {
    switch (key) {
      case 'fuel':
        return this.#fuel;
      case 'toolCalls':
        return this.#toolCalls;
      case 'cpuMs':
        return this.#cpuMs;
      case 'wallMs':
        return performance.now() - this.#begun;
      case 'memoryBytes':
        return 0;
    }
  }
}

function keyOf(limit: string | undefined): BudgetKey | null {
  return KEYS.find((key) => key === limit) ?? null;
}
