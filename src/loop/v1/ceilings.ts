import type { LimitOptions } from '../../sandbox/limits.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checkOptions, type KeysOf } from '../../wire/options.ts';

/** What a loop may use. Only the host sets it; nothing that an agent or a program says changes it (AL1-7-2). */
export interface CeilingOptions {
  /** Most turns, from 1 to `maxTurnsCap`; 4 when absent. */
  readonly maxTurns?: number | undefined;
  /** The most that `maxTurns` may be; 25 when absent. */
  readonly maxTurnsCap?: number | undefined;
  /** Most milliseconds of the whole loop, agents and tools included; 30 000 when absent. */
  readonly wallMs?: number | undefined;
  /** Most fuel of one turn; the executor's own limit when absent. */
  readonly turnFuel?: number | undefined;
  /** Most fuel of all turns together; `turnFuel` (or the executor's) times `maxTurns` when absent. */
  readonly totalFuel?: number | undefined;
  /** Most tokens of the agent's model in one turn, prompt and reply; 200 000 when absent. */
  readonly turnTokens?: number | undefined;
  /** Most tokens in all turns together; `turnTokens` times `maxTurns` when absent. */
  readonly totalTokens?: number | undefined;
}

/** Checked {@link CeilingOptions}, complete. */
export type Ceilings = {
  readonly [Name in Exclude<keyof CeilingOptions, 'maxTurnsCap'>]: number;
};

const KEYS: KeysOf<CeilingOptions> = {
  maxTurns: true,
  maxTurnsCap: true,
  wallMs: true,
  turnFuel: true,
  totalFuel: true,
  turnTokens: true,
  totalTokens: true,
};

const DEFAULTS = { maxTurns: 4, maxTurnsCap: 25, wallMs: 30_000, turnTokens: 200_000 } as const;

/** Throws {@link ConfigError} (`ERR_CONFIG`) for a ceiling that cannot be enforced. `fuel` is what the executor allows a turn. */
export function resolveCeilings(options: CeilingOptions, fuel: number): Ceilings {
  checkOptions('the ceilings of a loop', options, KEYS);
  const whole = (name: keyof CeilingOptions, value: number): number => {
    if (Number.isSafeInteger(value) && value >= 1) return value;
    throw new ConfigError(`${name} must be a whole number from 1, got ${String(value)}`);
  };
  const cap = whole('maxTurnsCap', options.maxTurnsCap ?? DEFAULTS.maxTurnsCap);
  const maxTurns = whole('maxTurns', options.maxTurns ?? Math.min(DEFAULTS.maxTurns, cap));
  if (maxTurns > cap) throw new ConfigError(`maxTurns is ${maxTurns}, and at most ${cap} are allowed`);
  const turnFuel = Math.min(fuel, whole('turnFuel', options.turnFuel ?? fuel));
  const turnTokens = whole('turnTokens', options.turnTokens ?? DEFAULTS.turnTokens);
  return {
    maxTurns,
    wallMs: whole('wallMs', options.wallMs ?? DEFAULTS.wallMs),
    turnFuel,
    totalFuel: whole('totalFuel', options.totalFuel ?? Math.min(Number.MAX_SAFE_INTEGER, turnFuel * maxTurns)),
    turnTokens,
    totalTokens: whole('totalTokens', options.totalTokens ?? Math.min(Number.MAX_SAFE_INTEGER, turnTokens * maxTurns)),
  };
}

/** How many tokens a text has for the model that reads or writes it. */
export type TokenCounter = (text: string) => number;

/** Four bytes to a token: for agents that do not count. */
export const estimateTokens: TokenCounter = (text) => Math.ceil(Buffer.byteLength(text) / 4);

/** Which ceiling was reached, and in what numbers. */
export interface Breach {
  readonly reason: 'timeout' | 'policy' | 'max-turns';
  readonly ceiling: keyof Ceilings;
  readonly allowed: number;
  readonly used: number;
}

/** What a loop has used so far. */
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

  /** Most tokens that the next answer may take. */
  get tokensLeft(): number {
    return Math.max(0, Math.min(this.#ceilings.turnTokens, this.#ceilings.totalTokens - this.#tokens));
  }

  /** Books what the agent read and wrote; the breach that keeps its program from being run, or null. */
  asked(tokens: number): Breach | null {
    this.#tokens += tokens;
    const { turnTokens, totalTokens } = this.#ceilings;
    if (tokens > turnTokens) return { reason: 'policy', ceiling: 'turnTokens', allowed: turnTokens, used: tokens };
    if (this.#tokens > totalTokens) return { reason: 'policy', ceiling: 'totalTokens', allowed: totalTokens, used: this.#tokens };
    return null;
  }

  /** Limits of the turn to come: never more than what is left of the loop's own. */
  turnLimits(elapsedMs: number): LimitOptions {
    const { turnFuel, totalFuel, wallMs } = this.#ceilings;
    return {
      fuel: Math.max(1, Math.min(turnFuel, totalFuel - this.#fuel)),
      wallMs: Math.max(1, Math.floor(wallMs - elapsedMs)),
    };
  }

  /** Books an executed turn. */
  executed(fuel: number): void {
    this.#turns += 1;
    this.#fuel += fuel;
  }

  /** The breach of a loop whose time is used up; null while there is time. */
  overtime(elapsedMs: number): Breach | null {
    const { wallMs } = this.#ceilings;
    return elapsedMs < wallMs ? null : { reason: 'timeout', ceiling: 'wallMs', allowed: wallMs, used: elapsedMs };
  }

  /** The first ceiling that forbids another turn, in the order of protocol.md 8.2: time, budgets, turns. */
  breach(elapsedMs: number): Breach | null {
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
