/**
 * Counts nesting on the tokens, before the parser recurses (P33, ruling 15), and pairs brackets (P21).
 *
 * One counter: every open bracket, every open block, every prefix operator whose operand has not ended, every right operand
 * of `**` that has not ended. A chain of operators on one level is no nesting.
 */

/** Deepest nesting that is still parsed. */
export const MAX_NESTING = 200;

/** A bracket that is open; `left` closing brackets end it: two for `{{`. */
export interface OpenBracket {
  readonly image: string;
  readonly at: number;
  left: number;
  /** Prefix and power operators that wait around this bracket. */
  readonly waiting: number;
}

/** What closes each opening bracket. */
export const closing: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['{{', '}}'],
]);

export class Nesting {
  private readonly open: OpenBracket[] = [];
  /** Brackets below this one belong to the text around a template part: nothing inside the part can close them. */
  private floor = 0;
  private waiting = 0;
  private blocks = 0;
  private depth = 0;

  get tooDeep(): boolean {
    return this.depth > MAX_NESTING;
  }

  get inBrackets(): boolean {
    return this.open.length > 0;
  }

  /** The innermost open bracket's text, if there is one. */
  get innermost(): OpenBracket | undefined {
    return this.open.at(-1);
  }

  openBracket(image: string, at: number): void {
    this.open.push({ image, at, left: image === '{{' ? 2 : 1, waiting: this.waiting });
    this.waiting = 0;
    this.depth++;
  }

  /**
   * A closing bracket came. Gives the brackets inside its partner that were never closed, innermost first (none when all is
   * well), or undefined when it has no partner at all.
   */
  closeBracket(image: string): readonly OpenBracket[] | undefined {
    let index = this.open.length - 1;
    while (index >= this.floor && closing.get(this.open[index]?.image ?? '')?.charAt(0) !== image) index--;
    const match = this.open[index];
    if (index < this.floor || match === undefined) return undefined;
    const unclosed = this.abandon(index + 1);
    match.left--;
    if (match.left === 0) this.abandon(index);
    return unclosed;
  }

  /** Forgets every bracket of this region and gives those that were open, innermost first. */
  abandonAll(): readonly OpenBracket[] {
    this.settle();
    return this.abandon(this.floor);
  }

  /** Enters a template part; the result goes to {@link leavePart}. */
  enterPart(at: number): number {
    const outer = this.floor;
    this.openBracket('{{', at);
    this.floor = this.open.length;
    return outer;
  }

  /** Leaves a template part and gives the brackets left open in it. */
  leavePart(outer: number): readonly OpenBracket[] {
    const unclosed = this.abandonAll();
    this.abandon(this.open.length - 1);
    this.floor = outer;
    return unclosed;
  }

  /** A prefix operator or `**`: its operand begins. */
  await(): void {
    this.waiting++;
    this.depth++;
  }

  /** Whatever waits for an operand has it: an operator of lower rank, a comma or a line end came. */
  settle(): void {
    this.depth -= this.waiting;
    this.waiting = 0;
  }

  openBlock(topLevel: boolean): void {
    // Procedures and command blocks do not nest: one that begins ends, for the count, whatever was left open.
    if (topLevel) {
      this.depth -= this.blocks;
      this.blocks = 0;
    }
    this.blocks++;
    this.depth++;
  }

  closeBlock(): void {
    if (this.blocks === 0) return;
    this.blocks--;
    this.depth--;
  }

  private abandon(from: number): readonly OpenBracket[] {
    const gone: OpenBracket[] = [];
    while (this.open.length > from) {
      const bracket = this.open.pop();
      if (bracket === undefined) break;
      this.depth -= 1 + this.waiting;
      this.waiting = bracket.waiting;
      gone.push(bracket);
    }
    return gone;
  }
}
