import type { TurnContext } from '../../context/index.ts';
import type { JournalEntry } from '../../wire/journal.ts';

/** The value of a turn context that bounds what its asks may take. */
export const ASK_PURSE = 'loop.askPurse';

/** What a purse holds; null where nothing bounds it. */
export interface PurseInit {
  readonly turns: number | null;
  readonly tokens: number | null;
  /** The ceiling that the tokens are left of; the tokens themselves when absent. */
  readonly ceiling?: number;
}

/**
 * Turns and model tokens for an `ask` and all that is asked within it: whatever one of them takes, all around it pay. A turn
 * of a session of the host has one too, with the tokens that the session has left.
 */
export class Purse {
  readonly #parent: Purse | null;
  readonly #init: PurseInit;
  #turns = 0;
  #tokens = 0;

  constructor(parent: Purse | null, init: PurseInit) {
    this.#parent = parent;
    this.#init = init;
  }

  /** Turns that were taken, in all. */
  get turns(): number {
    return this.#turns;
  }

  /** Tokens that were taken, in all. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Whether there is one more turn, here and in all around. */
  get hasTurn(): boolean {
    const { turns } = this.#init;
    return (turns === null || this.#turns < turns) && (this.#parent?.hasTurn ?? true);
  }

  /** Tokens that are left, here and in all around; null where nothing bounds them. */
  get tokensLeft(): number | null {
    const { tokens } = this.#init;
    const around = this.#parent?.tokensLeft ?? null;
    return tokens === null ? around : Math.min(Math.max(0, tokens - this.#tokens), around ?? Number.POSITIVE_INFINITY);
  }

  /** The outermost purse that has no tokens left; null while all have some. */
  get empty(): Purse | null {
    const { tokens } = this.#init;
    return this.#parent?.empty ?? (tokens !== null && this.#tokens >= tokens ? this : null);
  }

  /** What is allowed in all, and what was used of it. */
  get account(): { readonly allowed: number; readonly used: number } {
    const { tokens, ceiling } = this.#init;
    const allowed = ceiling ?? tokens ?? 0;
    return { allowed, used: allowed - (tokens ?? 0) + this.#tokens };
  }

  /** Takes from here and from all around. */
  take(turns: number, tokens: number): void {
    this.#turns += turns;
    this.#tokens += tokens;
    this.#parent?.take(turns, tokens);
  }
}

/** The purse that the asks of a turn take from; null where nothing bounds them. */
export function purseOf(turn: TurnContext): Purse | null {
  const purse = turn.value(ASK_PURSE);
  return purse instanceof Purse ? purse : null;
}

/** Model tokens that the asks of a turn took. */
export function tokensOfAsks(journal: readonly JournalEntry[]): number {
  return journal.reduce((sum, entry) => sum + (entry.kind === 'ask' ? (entry.spent?.tokens ?? 0) : 0), 0);
}
