/** Texts up to this length are cheaper to look at than to remember. */
const SHORT = 32;
/** Texts remembered, by their length; a power of two. */
const MEMORY = 8;

/** A text that is no number, whatever is appended to it: by its first character, a character no number has, or a gap. */
const WORD = /^[\s\u0085]*[^\s\u0085\-+.0-9iInN]|[^\s\u0085\-+._0-9a-fA-FxXpPiInNtTyY]|[^\s\u0085][\s\u0085]+[^\s\u0085]/;

/**
 * Remembers long texts that are no numbers. `+` asks that of its left side each time, and looking at a text that was just
 * put together makes V8 copy it: building a text piece by piece would take quadratic time.
 */
export class NonNumericTexts {
  readonly #recent: string[] = new Array<string>(MEMORY).fill('');

  /** Whether a text is known to be no number. */
  has(text: string): boolean {
    return text.length > SHORT && this.#recent[text.length % MEMORY] === text;
  }

  /** Remembers a text if it is no number. */
  learn(text: string): void {
    if (WORD.test(text)) this.remember(text);
  }

  /** Whether `left + right` is certainly no number, as far as is seen without looking at a long text. */
  hasJoined(left: string, right: string): boolean {
    const word = left.length > SHORT ? this.has(left) : WORD.test(left);
    return word || (right.length <= SHORT && FOREIGN.test(right));
  }

  /** Remembers a text that is certainly no number. */
  remember(text: string): void {
    if (text.length > SHORT) this.#recent[text.length % MEMORY] = text;
  }

  /** Lets go of everything, so that no text is kept alive. */
  clear(): void {
    this.#recent.fill('');
  }
}

/** A character that no number has. */
const FOREIGN = /[^\s\u0085\-+._0-9a-fA-FxXpPiInNtTyY]/;
