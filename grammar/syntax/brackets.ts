/**
 * Pairs brackets and counts the nesting depth on the tokens, before the parser recurses.
 *
 * One counter holds all of it: open brackets, open blocks, prefix operators whose operand has not ended, and right operands
 * of `**` that have not ended. A chain of operators on one level does not nest.
 */

/** The deepest nesting that is parsed. */
export const MAX_NESTING = 200;

export interface OpenBracket {
  readonly image: string;
  readonly at: number;
  /** Closing brackets that still have to come: two for `{{`. */
  left: number;
  /** Prefix and power operators outside this bracket that wait for their operand. */
  readonly waiting: number;
}

export const closing: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['{{', '}}'],
]);

/** The open brackets of a source and its nesting depth. */
export class Nesting {
  readonly #open: OpenBracket[] = [];
  /** Brackets below this index belong to the text around a template part. Nothing inside the part can close them. */
  #floor = 0;
  #waiting = 0;
  #blocks = 0;
  #depth = 0;

  get tooDeep(): boolean {
    return this.#depth > MAX_NESTING;
  }

  get inBrackets(): boolean {
    return this.#open.length > 0;
  }

  get innermost(): OpenBracket | undefined {
    return this.#open.at(-1);
  }

  openBracket(image: string, at: number): void {
    this.#open.push({ image, at, left: image === '{{' ? 2 : 1, waiting: this.#waiting });
    this.#waiting = 0;
    this.#depth++;
  }

  /**
   * Takes a closing bracket. Returns the unclosed brackets inside its partner, innermost first, or undefined when it has no
   * partner.
   */
  closeBracket(image: string): readonly OpenBracket[] | undefined {
    let index = this.#open.length - 1;
    while (index >= this.#floor && closing.get(this.#open[index]?.image ?? '')?.charAt(0) !== image) index--;
    const match = this.#open[index];
    if (index < this.#floor || match === undefined) return undefined;
    const unclosed = this.#abandon(index + 1);
    match.left--;
    if (match.left === 0) this.#abandon(index);
    return unclosed;
  }

  /** Drops every bracket of this region and returns them, innermost first. */
  abandonAll(): readonly OpenBracket[] {
    this.settle();
    return this.#abandon(this.#floor);
  }

  /** Enters a template part. The result goes to {@link leavePart}. */
  enterPart(at: number): number {
    const outer = this.#floor;
    this.openBracket('{{', at);
    this.#floor = this.#open.length;
    return outer;
  }

  /** Leaves a template part and returns the brackets left open in it, innermost first. */
  leavePart(outer: number): readonly OpenBracket[] {
    const unclosed = this.abandonAll();
    this.#abandon(this.#open.length - 1);
    this.#floor = outer;
    return unclosed;
  }

  /** Takes a prefix operator or `**`, whose operand begins here. */
  await(): void {
    this.#waiting++;
    this.#depth++;
  }

  /** Ends the operands of all waiting operators: a looser operator, a comma or a line end follows. */
  settle(): void {
    this.#depth -= this.#waiting;
    this.#waiting = 0;
  }

  openBlock(topLevel: boolean): void {
    // Procedures and command blocks do not nest, so a new one ends the count of the blocks left open.
    if (topLevel) {
      this.#depth -= this.#blocks;
      this.#blocks = 0;
    }
    this.#blocks++;
    this.#depth++;
  }

  closeBlock(): void {
    if (this.#blocks === 0) return;
    this.#blocks--;
    this.#depth--;
  }

  #abandon(from: number): readonly OpenBracket[] {
    const gone: OpenBracket[] = [];
    while (this.#open.length > from) {
      const bracket = this.#open.pop();
      if (bracket === undefined) break;
      this.#depth -= 1 + this.#waiting;
      this.#waiting = bracket.waiting;
      gone.push(bracket);
    }
    return gone;
  }
}
