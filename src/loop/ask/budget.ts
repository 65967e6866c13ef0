import type { AskBudget, AskRequest } from '../../runtime/index.ts';
import type { LimitOptions } from '../../sandbox/limits.ts';
import { Halt, ToolError } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { quotaError, timeoutError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { type LimitValues, limitOf } from '../../wire/limits.ts';
import type { AskSpent, Usage } from '../../wire/protocol.ts';
import { type AskOptions, type BudgetKey, optionOf } from './options.ts';
import type { Purse } from './purse.ts';

/** The least of each that a turn needs; a turn without a tool call cannot mint the token that would end it well. */
const LEAST: Readonly<Record<BudgetKey, number>> = {
  fuel: least('fuel'),
  memoryBytes: least('memoryBytes'),
  toolCalls: 1,
  cpuMs: least('cpuMs'),
  wallMs: least('wallMs'),
};
const KEYS = Object.keys(LEAST) as BudgetKey[];

/** Timers may fire so many milliseconds early. */
const EARLY_MS = 2;

type Counted = 'fuel' | 'toolCalls' | 'cpuMs';
const NOTHING: Readonly<Record<Counted, number>> = { fuel: 0, toolCalls: 0, cpuMs: 0 };

/**
 * What a nested loop may still use: no more than its caller had left where it asked, and no more than `with` says. Fuel, tool
 * calls and time go down by what each turn used; memory does not, since a turn gives it back. Turns and model tokens are
 * those of its {@link Purse}.
 */
export class Budget {
  readonly #left: AskBudget;
  readonly #own: Partial<AskBudget>;
  readonly #limits: LimitValues;
  readonly #purse: Purse;
  readonly #begun = performance.now();
  #sum = NOTHING;
  /** As {@link #sum} was before the last turn. */
  #before = NOTHING;

  constructor({ left, limits }: Pick<AskRequest, 'left' | 'limits'>, { budget }: Pick<AskOptions, 'budget'>, purse: Purse) {
    this.#left = left;
    this.#own = budget;
    this.#limits = limits;
    this.#purse = purse;
  }

  /** What the caller pays. */
  get spent(): AskSpent {
    const { turns, tokens } = this.#purse;
    return { ...this.#sum, turns, tokens };
  }

  /** Whether the time of the ask is over. */
  get timeIsUp(): boolean {
    return this.#rest('wallMs') <= EARLY_MS;
  }

  /** Counts what a turn used. */
  take({ fuel, toolCalls, cpuMs }: Usage): void {
    this.#before = this.#sum;
    const { fuel: ownFuel, toolCalls: ownCalls, cpuMs: ownCpu } = this.#sum;
    this.#sum = { fuel: ownFuel + fuel, toolCalls: ownCalls + toolCalls, cpuMs: ownCpu + cpuMs };
  }

  /**
   * The limits of the next turn. When there is too little left of something for any turn, throws what the `ask` ends with:
   * {@link ToolError} 37 where `with` has said so, {@link Halt} where it is the caller's own.
   */
  next(): LimitOptions & { readonly wallMs: number } {
    for (const key of KEYS) if (this.#rest(key) < LEAST[key]) throw this.breach(key, this.#used(key, this.#sum) + LEAST[key]);
    if (this.#purse.empty !== null) throw this.outOfTokens();
    return { ...Object.fromEntries(KEYS.map((key) => [key, this.#rest(key)])), wallMs: this.#rest('wallMs') };
  }

  /** What the `ask` ends with when so much of a budget was used in all, or would have been; undefined: nobody can tell. */
  breach(key: BudgetKey, used: number | undefined): ToolError | Halt {
    const own = this.#own[key];
    const left = this.#left[key];
    if (own !== undefined && own < left)
      return new ToolError(NS_CODES.ResourceExhaustion, `the ask used up its ${optionOf(key)}: ${own} are allowed`);
    const allowed = this.#limits[key];
    const total = used === undefined ? {} : { used: Math.max(allowed, Math.round(allowed - left + used)) };
    const message = `the run and what it asked used up its ${key}: ${allowed} are allowed`;
    const spent = { limit: key, allowed, ...total };
    return new Halt(key === 'wallMs' ? timeoutError(spent, message) : quotaError(spent, message));
  }

  /** What the `ask` ends with when its time is over. */
  outOfTime(): ToolError | Halt {
    return this.breach('wallMs', this.#used('wallMs', this.#sum));
  }

  /** What the `ask` ends with when there are no model tokens left. */
  outOfTokens(): ToolError | Halt {
    const { empty } = this.#purse;
    const { allowed, used } = (empty ?? this.#purse).account;
    if (empty === null || empty === this.#purse)
      return new ToolError(NS_CODES.ResourceExhaustion, `the ask used up its max_tokens: ${used} of ${allowed}`);
    const message = `the run and what it asked used up its model tokens: ${used} of ${allowed}`;
    return new Halt(quotaError({ limit: 'maxTokens', allowed, used }, message));
  }

  /** The same for the error that ended the last turn; null when that is no limit which is shared with the caller. */
  breachOf({ limit, used }: ErrorInfo): ToolError | Halt | null {
    if (limit === 'maxTokens') return this.outOfTokens();
    const key = KEYS.find((each) => each === limit);
    if (key === undefined) return null;
    // Parsing, and a deadline, have times of their own.
    if (key === 'wallMs') return this.timeIsUp ? this.outOfTime() : null;
    return this.breach(key, used === undefined ? undefined : this.#used(key, this.#before) + used);
  }

  #rest(key: BudgetKey): number {
    const total = Math.min(this.#left[key], this.#own[key] ?? Number.POSITIVE_INFINITY);
    return Math.max(0, Math.floor(total - this.#used(key, this.#sum)));
  }

  /** What all turns together used up; a turn gives its memory back. */
  #used(key: BudgetKey, sum: Readonly<Record<Counted, number>>): number {
    if (key === 'wallMs') return performance.now() - this.#begun;
    return key === 'memoryBytes' ? 0 : sum[key];
  }
}

function least(key: BudgetKey): number {
  return limitOf(key).min;
}
