/** Recovery from syntax errors line by line, and the state that it needs while a source is parsed. */
import { type IToken, MismatchedTokenException, type TokenType } from 'chevrotain';
import { explain } from '../advice/explain.ts';
import { opensForeignBlock } from '../advice/keywords.ts';
import { BlockStack } from './blocks.ts';
import { endOf } from './build.ts';
import { ExpressionParser } from './expressions.ts';
import { type LineTable, lastAtMost, positionAt } from './position.ts';
import { MAX_PROBLEMS, problemAt, type SyntaxProblem } from './problem.ts';
import type { Scanned } from './scan.ts';
import { blockEnds, keyword, Newline, NoStatement } from './tokens.ts';

/** Ends a parse that has found {@link MAX_PROBLEMS}. */
export class TooManyProblems extends Error {}

/** Replaces the source after a parse, so that the parser does not keep it alive. */
const noSource = { text: '', lines: { starts: [0], astral: [] } };

export abstract class RecoveringParser extends ExpressionParser {
  protected text = noSource.text;
  protected problems: SyntaxProblem[] = [];
  protected blocks = new BlockStack();
  /** Whether the blocks of this top-level block no longer pair up. Reporting more such problems would only confuse. */
  protected broken = false;
  /** End keywords of blocks that were reported as never closed. Meeting one of them later is not a second problem. */
  #owed: TokenType[] = [];
  /** Offset of the current top-level block. */
  protected topLevelAt = 0;
  /** Whether the place is in a command block, where `return` takes no value. False in an event handler in such a block. */
  protected inCommand = false;
  /** The number of loops around the statement that `break` could leave. */
  protected loops = 0;
  #lines: LineTable = noSource.lines;
  /** Offsets of the lexer's problems, ascending. */
  #reported: readonly number[] = [];
  #breaks: readonly number[] = [];
  /** End of the line with the latest mismatch. No other problem of the line is reported. */
  #quietUntil = -1;

  protected prepare(text: string, lines: LineTable, scanned: Scanned): void {
    this.text = text;
    this.#lines = lines;
    this.problems = [];
    this.blocks = new BlockStack();
    this.broken = false;
    this.#owed = [];
    this.topLevelAt = 0;
    this.inCommand = false;
    this.loops = 0;
    this.#reported = scanned.problems.map((found) => found.s).sort((a, b) => a - b);
    this.#breaks = scanned.breaks;
    this.#quietUntil = -1;
    this.input = scanned.tokens;
  }

  protected release(): void {
    this.text = noSource.text;
    this.#lines = noSource.lines;
    this.input = [];
  }

  protected report(found: SyntaxProblem): void {
    this.problems.push(found);
    if (this.problems.length >= MAX_PROBLEMS) throw new TooManyProblems();
  }

  protected reportAt(token: IToken, message: string, hint?: string): void {
    this.report(problemAt(token.startOffset, endOf(token), message, hint));
  }

  /** Reports that blocks do not pair up, unless an earlier problem may be the cause. */
  protected reportStructure(token: IToken, message: string, hint?: string): void {
    const here = this.position();
    if (this.broken || here < this.#quietUntil || anyBetween(this.#breaks, this.topLevelAt, here)) return;
    this.reportAt(token, message, hint);
  }

  /** Offset of the next token, or the length of the text. */
  protected position(): number {
    const next = this.LA(1);
    return next.tokenType.name === 'EOF' ? this.text.length : next.startOffset;
  }

  protected atEnd(): boolean {
    return this.LA(1).tokenType.name === 'EOF';
  }

  /**
   * Reads something that ends with its line. Reports the first mismatch of a line, unless the lexer has reported a problem in
   * it, and skips the rest of the line.
   */
  protected line<T>(read: () => T): T | undefined {
    const first = this.LA(this.LA(1).tokenType === NoStatement ? 2 : 1);
    const before = this.RECORDING_PHASE ? 0 : endOf(this.LA(0));
    try {
      return read();
    } catch (error) {
      if (!(error instanceof MismatchedTokenException)) throw error;
      this.#recover(error.message, first, before);
      return undefined;
    }
  }

  #recover(expected: string, first: IToken, lineStart: number): void {
    const at = this.position();
    const found = explain({ expected, first, peek: (ahead) => this.LA(ahead), at });
    if (opensForeignBlock(first)) this.broken = true;
    this.skipLine();
    const known = at <= this.#quietUntil || anyBetween(this.#reported, lineStart, this.position());
    // A line can have a second mismatch only if it continues with an end keyword or `else`.
    if (this.LA(1).tokenType !== Newline && at > this.#quietUntil) {
      const end = this.text.indexOf('\n', at);
      this.#quietUntil = end < 0 ? this.text.length : end;
    }
    if (!known) this.report(found);
    if (this.LA(1).tokenType === Newline) this.SKIP_TOKEN();
  }

  /** Skips to the end of the line, or to a keyword in it that ends a block or branch. */
  protected skipLine(): void {
    for (let type = this.LA(1).tokenType; type !== Newline && !this.atEnd(); type = this.LA(1).tokenType) {
      if (blockEnds.has(type) || type === keyword.else) return;
      this.SKIP_TOKEN();
    }
  }

  protected get owesEnd(): boolean {
    return this.#owed.length > 0;
  }

  /** Records that a block was left without its end keyword. */
  protected owe(closer: TokenType): void {
    if (this.#owed.length < MAX_PROBLEMS) this.#owed.push(closer);
  }

  /** Whether this end keyword belongs to a block that was reported as never closed. Each such block has one. */
  protected settles(type: TokenType): boolean {
    const index = this.#owed.indexOf(type);
    if (index >= 0) this.#owed.splice(index, 1);
    return index >= 0;
  }

  protected lineOf(token: IToken): number {
    return positionAt(this.#lines, token.startOffset).line;
  }
}

/** Whether an ascending list has an element from `from` to `to`. */
function anyBetween(ascending: readonly number[], from: number, to: number): boolean {
  return lastAtMost(ascending, to) > lastAtMost(ascending, from - 1);
}
