/** Texts up to this length are cheaper to test than to remember. */
const SHORT = 32;
/** Number of texts that are remembered, by their length; a power of two. */
const MEMORY = 8;

/** A text that is not a number whatever is appended: by its first character, by a character that no number has, or by a gap. */
const WORD = /^[\s\u0085]*[^\s\u0085\-+.0-9iInN]|[^\s\u0085\-+._0-9a-fA-FxXpPiInNtTyY]|[^\s\u0085][\s\u0085]+[^\s\u0085]/;

/**
 * Remembers long texts that are not numbers. `+` has to ask that of its left side, and reading a text that was just joined makes V8 copy
 * it: building a text piece by piece would take quadratic time.
 */
export class NonNumericTexts {
  readonly #recent: string[] = new Array<string>(MEMORY).fill('');

  has(text: string): boolean {
    return text.length > SHORT && this.#recent[text.length % MEMORY] === text;
  }

  /** Remembers a text if it is not a number. */
  learn(text: string): void {
    if (WORD.test(text)) this.remember(text);
  }

  /** Whether `left + right` is certainly not a number, without reading a long text. */
  hasJoined(left: string, right: string): boolean {
    const word = left.length > SHORT ? this.has(left) : WORD.test(left);
    return word || (right.length <= SHORT && FOREIGN.test(right));
  }

  /** Remembers a text that is certainly not a number. */
  remember(text: string): void {
    if (text.length > SHORT) this.#recent[text.length % MEMORY] = text;
  }

  /** Forgets all texts, so that none is kept alive. */
  clear(): void {
    this.#recent.fill('');
  }
}

/** A character that no number has. */
const FOREIGN = /[^\s\u0085\-+._0-9a-fA-FxXpPiInNtTyY]/;
