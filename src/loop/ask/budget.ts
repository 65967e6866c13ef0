import type { AskBudget, AskRequest } from '../../runtime/index.ts';
import type { LimitOptions } from '../../sandbox/index.ts';
import { Halt, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { quotaError, timeoutError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { type LimitValues, limitOf } from '../../wire/limits.ts';
import { sumUsd } from '../../wire/money.ts';
import type { AskSpent, Usage } from '../../wire/protocol.ts';
import { grouped } from '../../wire/text/grouped.ts';
import type { AskQuota } from '../quota.ts';
import { costs } from '../spent.ts';
import { type AskOptions, type BudgetKey, optionOf } from './options.ts';

/** Minimum that a turn needs of each budget. A turn without a tool call cannot mint the token for its decision. */
const MINIMUM: Readonly<Record<BudgetKey, number>> = {
  fuel: minimumOf('fuel'),
  memoryBytes: minimumOf('memoryBytes'),
  toolCalls: 1,
  cpuMs: minimumOf('cpuMs'),
  wallMs: minimumOf('wallMs'),
};
const KEYS = Object.keys(MINIMUM) as BudgetKey[];

/** Milliseconds by which a timer may fire early. */
const EARLY_MS = 2;

type Counted = 'fuel' | 'toolCalls' | 'cpuMs';
const NOTHING: Readonly<Record<Counted, number>> = { fuel: 0, toolCalls: 0, cpuMs: 0 };

/**
 * The remaining budget of a nested loop: at most the rest of its caller's budget at the `ask`, and at most the amounts of `with`. Every
 * turn reduces fuel, tool calls and time, but not memory, which a turn returns. The {@link AskQuota} limits turns and model tokens.
 */
export class Budget {
  readonly #left: AskBudget;
  readonly #own: Partial<AskBudget>;
  readonly #limits: LimitValues;
  readonly #quota: AskQuota;
  readonly #begun = performance.now();
  #sum = NOTHING;
  #cost = 0;
  /** The value of {@link #sum} before the last turn. */
  #before = NOTHING;

  constructor({ left, limits }: Pick<AskRequest, 'left' | 'limits'>, { budget }: Pick<AskOptions, 'budget'>, quota: AskQuota) {
    this.#left = left;
    this.#own = budget;
    this.#limits = limits;
    this.#quota = quota;
  }

  /** The usage that the caller pays for. */
  get spent(): AskSpent {
    const { turns, tokens } = this.#quota;
    return { ...this.#sum, turns, tokens, ...costs(this.#cost) };
  }

  /** Whether the time of the ask is used up. */
  get timeIsUp(): boolean {
    return this.#rest('wallMs') <= EARLY_MS;
  }

  pay(cost: number): void {
    this.#cost = sumUsd(this.#cost, cost);
  }

  /** Counts the usage of a turn, that of all attempts at it. */
  take({ fuel, toolCalls, cpuMs, cost = 0 }: Pick<Usage, Counted | 'cost'>): void {
    this.pay(cost);
    this.#before = this.#sum;
    const { fuel: ownFuel, toolCalls: ownCalls, cpuMs: ownCpu } = this.#sum;
    this.#sum = { fuel: ownFuel + fuel, toolCalls: ownCalls + toolCalls, cpuMs: ownCpu + cpuMs };
  }

  /**
   * The limits of the next turn. If too little is left for any turn, throws {@link ToolError} 37 for a limit of `with`, and
   * {@link Halt} for a limit of the caller.
   */
  next(): LimitOptions & { readonly wallMs: number } {
    for (const key of KEYS) if (this.#rest(key) < MINIMUM[key]) throw this.breach(key, this.#used(key, this.#sum) + MINIMUM[key]);
    if (this.#quota.exhausted !== null) throw this.outOfTokens();
    return { ...Object.fromEntries(KEYS.map((key) => [key, this.#rest(key)])), wallMs: this.#rest('wallMs') };
  }

  /** The error of the `ask` when `used` of a budget would exceed it; undefined when the amount is unknown. */
  breach(key: BudgetKey, used: number | undefined): ToolError | Halt {
    const own = this.#own[key];
    const left = this.#left[key];
    if (own !== undefined && own < left)
      return new ToolError(NS_CODES.ResourceExhaustion, `the ask used up its ${optionOf(key)}: ${grouped(own)} are allowed`);
    const allowed = this.#limits[key];
    const message = `the run and what it asked used up its ${key}: ${grouped(allowed)} are allowed`;
    const spent = {
      limit: key,
      allowed,
      used: used === undefined ? undefined : Math.max(allowed, Math.round(allowed - left + used)),
    };
    return new Halt(key === 'wallMs' ? timeoutError(spent, message) : quotaError(spent, message));
  }

  /** The error of the `ask` when its time is used up. */
  outOfTime(): ToolError | Halt {
    return this.breach('wallMs', this.#used('wallMs', this.#sum));
  }

  /** The error of the `ask` when no model tokens are left. */
  outOfTokens(): ToolError | Halt {
    const { exhausted } = this.#quota;
    const { allowed, used } = (exhausted ?? this.#quota).account;
    if (exhausted === null || exhausted === this.#quota)
      return new ToolError(
        NS_CODES.ResourceExhaustion,
        `the ask used up its max_tokens: ${grouped(used)} of ${grouped(allowed)}`,
      );
    const message = `the run and what it asked used up its model tokens: ${grouped(used)} of ${grouped(allowed)}`;
    return new Halt(quotaError({ limit: 'maxTokens', allowed, used }, message));
  }

  /** The error of the `ask` for the error that ended the last turn; null when that was not a limit shared with the caller. */
  breachOf(error: ErrorInfo): ToolError | Halt | null {
    const { limit, used } = error;
    if (limit === 'cost' || limit === 'tenantCost') return new Halt(error);
    if (limit === 'maxTokens') return this.outOfTokens();
    const key = KEYS.find((each) => each === limit);
    if (key === undefined) return null;
    // Parsing and deadlines have time limits of their own.
    if (key === 'wallMs') return this.timeIsUp ? this.outOfTime() : null;
    return this.breach(key, used === undefined ? undefined : this.#used(key, this.#before) + used);
  }

  #rest(key: BudgetKey): number {
    const total = Math.min(this.#left[key], this.#own[key] ?? Number.POSITIVE_INFINITY);
    return Math.max(0, Math.floor(total - this.#used(key, this.#sum)));
  }

  /** The usage of all turns together. Memory does not add up, because a turn returns it. */
  #used(key: BudgetKey, sum: Readonly<Record<Counted, number>>): number {
    if (key === 'wallMs') return performance.now() - this.#begun;
    return key === 'memoryBytes' ? 0 : sum[key];
  }
}

function minimumOf(key: BudgetKey): number {
  return limitOf(key).min;
}
