import type { TurnContext } from '../context/index.ts';
import type { JournalEntry } from '../wire/journal.ts';

/** The value of a turn context that limits what its asks may use. */
export const ASK_QUOTA = 'loop.askQuota';

/** The value of a turn context that counts the asks around it. */
export const ASK_DEPTH = 'loop.askDepth';

/** The amounts that a quota allows; null stands for no limit. */
export interface AskQuotaInit {
  readonly turns: number | null;
  readonly tokens: number | null;
  /** The ceiling of which `tokens` is the remainder; equal to `tokens` when absent. */
  readonly ceiling?: number;
}

/**
 * Turns and model tokens of an `ask` and of all asks nested in it: use by one counts against every quota around it. A turn of
 * one of the host's sessions has a quota, too, with the tokens that its session has left.
 */
export class AskQuota {
  readonly #parent: AskQuota | null;
  readonly #init: AskQuotaInit;
  #turns = 0;
  #tokens = 0;

  constructor(parent: AskQuota | null, init: AskQuotaInit) {
    this.#parent = parent;
    this.#init = init;
  }

  get turns(): number {
    return this.#turns;
  }

  /** Model tokens used so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Whether this quota and all quotas around it allow one more turn. */
  get hasTurn(): boolean {
    const { turns } = this.#init;
    return (turns === null || this.#turns < turns) && (this.#parent?.hasTurn ?? true);
  }

  /** Tokens that this quota and all quotas around it still allow; null when there is no limit. */
  get tokensLeft(): number | null {
    const { tokens } = this.#init;
    const around = this.#parent?.tokensLeft ?? null;
    return tokens === null ? around : Math.min(Math.max(0, tokens - this.#tokens), around ?? Number.POSITIVE_INFINITY);
  }

  /** The outermost quota without tokens left; null when every quota has some. */
  get exhausted(): AskQuota | null {
    const { tokens } = this.#init;
    return this.#parent?.exhausted ?? (tokens !== null && this.#tokens >= tokens ? this : null);
  }

  /** Tokens allowed in total, and how many of them were used. */
  get account(): { readonly allowed: number; readonly used: number } {
    const { tokens, ceiling } = this.#init;
    const allowed = ceiling ?? tokens ?? 0;
    return { allowed, used: allowed - (tokens ?? 0) + this.#tokens };
  }

  /** Counts use against this quota and all quotas around it. */
  use(turns: number, tokens: number): void {
    this.#turns += turns;
    this.#tokens += tokens;
    this.#parent?.use(turns, tokens);
  }
}

/** The quota of a turn's asks; null when there is no limit. */
export function askQuotaOf(turn: TurnContext): AskQuota | null {
  const quota = turn.value(ASK_QUOTA);
  return quota instanceof AskQuota ? quota : null;
}

/** The number of asks in which a turn is nested; 0 for a turn of the host's own session. */
export function askDepthOf(turn: TurnContext): number {
  const depth = turn.value(ASK_DEPTH);
  return typeof depth === 'number' ? depth : 0;
}

export function tokensOfAsks(journal: readonly JournalEntry[]): number {
  return journal.reduce((sum, entry) => sum + (entry.kind === 'ask' ? (entry.spent?.tokens ?? 0) : 0), 0);
}
