import type { LimitOptions } from '../../sandbox/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checker, wholeNumber } from '../../wire/options.ts';

/** The ceilings of a loop. Only the host sets them; no agent and no program can change them. */
export interface CeilingOptions {
  /** Most turns, from 1 to `maxTurnsCap`; 4 when absent. */
  readonly maxTurns?: number | undefined;
  /** Upper bound for `maxTurns`; 25 when absent. */
  readonly maxTurnsCap?: number | undefined;
  /** Most milliseconds of the whole loop, including agents and tools; 30,000 when absent. */
  readonly wallMs?: number | undefined;
  /** Most fuel of one turn; the executor's limit when absent. */
  readonly turnFuel?: number | undefined;
  /** Most fuel of all turns together; `turnFuel` times `maxTurns` when absent. */
  readonly totalFuel?: number | undefined;
  /** Most model tokens of one turn, for prompt and reply together; 200,000 when absent. */
  readonly turnTokens?: number | undefined;
  /** Most model tokens of all turns together; `turnTokens` times `maxTurns` when absent. */
  readonly totalTokens?: number | undefined;
}

export type Ceilings = {
  readonly [Name in Exclude<keyof CeilingOptions, 'maxTurnsCap'>]: number;
};

const checkCeilingOptions = checker<CeilingOptions>({
  maxTurns: wholeNumber(1),
  maxTurnsCap: wholeNumber(1),
  wallMs: wholeNumber(1),
  turnFuel: wholeNumber(1),
  totalFuel: wholeNumber(1),
  turnTokens: wholeNumber(1),
  totalTokens: wholeNumber(1),
});

/**
 * Supplies the defaults. Throws {@link ConfigError} (`ERR_CONFIG`) for a ceiling that cannot be enforced. `fuel` is the executor's limit
 * per turn.
 */
export function resolveCeilings(options: CeilingOptions, fuel: number): Ceilings {
  checkCeilingOptions('the ceilings of a loop', options);
  const { maxTurnsCap: cap = 25, maxTurns = Math.min(4, cap), wallMs = 30_000, turnTokens = 200_000 } = options;
  if (maxTurns > cap) throw new ConfigError(`maxTurns is ${maxTurns}, and at most ${cap} are allowed`);
  const turnFuel = Math.min(fuel, options.turnFuel ?? fuel);
  const { totalFuel = Math.min(Number.MAX_SAFE_INTEGER, turnFuel * maxTurns) } = options;
  const { totalTokens = Math.min(Number.MAX_SAFE_INTEGER, turnTokens * maxTurns) } = options;
  return { maxTurns, wallMs, turnFuel, totalFuel, turnTokens, totalTokens };
}

/** Counts the tokens of a text. */
export type TokenCounter = (text: string) => number;

/** Estimates one token per four bytes, for agents that do not count. */
export const estimateTokens: TokenCounter = (text) => Math.ceil(Buffer.byteLength(text) / 4);

/** A ceiling that was reached. */
export interface CeilingBreach {
  readonly reason: 'timeout' | 'policy' | 'max-turns';
  readonly ceiling: keyof Ceilings;
  readonly allowed: number;
  readonly used: number;
}

export class Account {
  readonly #ceilings: Ceilings;
  #turns = 0;
  #fuel = 0;
  #tokens = 0;

  constructor(ceilings: Ceilings) {
    this.#ceilings = ceilings;
  }

  get fuel(): number {
    return this.#fuel;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Most tokens of the next reply. */
  get tokensLeft(): number {
    return Math.max(0, Math.min(this.#ceilings.turnTokens, this.#ceilings.totalTokens - this.#tokens));
  }

  /** Counts the tokens of a reply. Returns the breach that keeps its program from running, or null. */
  consulted(tokens: number): CeilingBreach | null {
    this.#tokens += tokens;
    const { turnTokens, totalTokens } = this.#ceilings;
    if (tokens > turnTokens) return { reason: 'policy', ceiling: 'turnTokens', allowed: turnTokens, used: tokens };
    if (this.#tokens > totalTokens) return { reason: 'policy', ceiling: 'totalTokens', allowed: totalTokens, used: this.#tokens };
    return null;
  }

  /** Limits of the next turn: at most the rest of the loop's ceilings. */
  turnLimits(elapsedMs: number): LimitOptions {
    const { turnFuel, totalFuel, wallMs } = this.#ceilings;
    return {
      fuel: Math.max(1, Math.min(turnFuel, totalFuel - this.#fuel)),
      wallMs: Math.max(1, Math.floor(wallMs - elapsedMs)),
    };
  }

  /** Counts an executed turn. */
  executed(fuel: number): void {
    this.#turns += 1;
    this.#fuel += fuel;
  }

  /** The breach of a loop whose time is used up; null while time is left. */
  overtime(elapsedMs: number): CeilingBreach | null {
    const { wallMs } = this.#ceilings;
    return elapsedMs < wallMs ? null : { reason: 'timeout', ceiling: 'wallMs', allowed: wallMs, used: elapsedMs };
  }

  /** The first ceiling that forbids another turn, in the order of the protocol: time, budgets, turns. */
  breach(elapsedMs: number): CeilingBreach | null {
    const { totalFuel, totalTokens, maxTurns } = this.#ceilings;
    const late = this.overtime(elapsedMs);
    if (late !== null) return late;
    if (this.#fuel >= totalFuel) return { reason: 'policy', ceiling: 'totalFuel', allowed: totalFuel, used: this.#fuel };
    if (this.#tokens >= totalTokens)
      return { reason: 'policy', ceiling: 'totalTokens', allowed: totalTokens, used: this.#tokens };
    if (this.#turns >= maxTurns) return { reason: 'max-turns', ceiling: 'maxTurns', allowed: maxTurns, used: this.#turns };
    return null;
  }
}
