/** Collects the lexer's tokens and works out nesting, brackets and line structure as they arrive. */
import type { TokenType } from 'chevrotain';
import { closing, MAX_NESTING, Nesting, type OpenBracket } from './brackets.ts';
import { MAX_PROBLEMS, problemAt, type SyntaxProblem } from './problem.ts';
import {
  BinaryOperator,
  blockEnds,
  closers,
  keyword,
  lineStarters,
  Metadata,
  Newline,
  NoStatement,
  operandEnds,
  PartClose,
  PartOpen,
  PrefixOperator,
  punct,
  Token,
} from './tokens.ts';

/** Tokens after which a `{` at the end of a line was meant to open a block. */
const blockIntros: ReadonlySet<TokenType> = new Set([...operandEnds, keyword.means, keyword.else, keyword.do, keyword.command]);

export class TokenSink {
  readonly tokens: Token[] = [];
  readonly problems: SyntaxProblem[] = [];
  /** Offsets after which blocks may not pair up: a brace used as a block, a string without an end. */
  readonly breaks: number[] = [];
  /** Whether the lexer must stop: the nesting is too deep, or {@link MAX_PROBLEMS} were found. */
  stopped = false;
  readonly #nesting = new Nesting();
  #previous: TokenType | undefined;
  /** The first token of the logical line. */
  #first: TokenType | undefined;
  /** Whether the lexer skipped a newline inside brackets since the last token. */
  #wrapped = false;
  /** Template parts around the place. Inside a part, newlines are free and no statement can begin. */
  #parts = 0;
  #braceBlocks = 0;

  /** Whether a dot precedes the place. A keyword is an ordinary name there. */
  get afterDot(): boolean {
    return this.#previous === punct.dot;
  }

  /** Whether the next token begins a line. */
  get atLineStart(): boolean {
    return (this.#previous === Newline || this.#previous === undefined) && this.#parts === 0;
  }

  get inBrackets(): boolean {
    return this.#nesting.inBrackets;
  }

  #after(types: ReadonlySet<TokenType>): boolean {
    return this.#previous !== undefined && types.has(this.#previous);
  }

  report(found: SyntaxProblem): void {
    this.problems.push(found);
    if (this.problems.length >= MAX_PROBLEMS) this.stopped = true;
  }

  /** Adds a token that does not change the nesting. */
  push(type: TokenType, image: string, start: number, end: number): void {
    if (this.#previous === Newline || this.#previous === undefined) {
      this.#first = type;
      if (type !== Newline && type !== Metadata && !lineStarters.has(type))
        this.tokens.push(new Token(NoStatement, '', start, start));
    }
    this.tokens.push(new Token(type, image, start, end));
    this.#previous = type;
    this.#wrapped = false;
  }

  newline(at: number): void {
    if (this.#nesting.inBrackets) {
      this.#wrapped = true;
      return;
    }
    this.#nesting.settle();
    // A run of blank lines becomes one, so that a flood of them costs nothing.
    const blank = this.#previous === Newline && this.tokens.at(-2)?.tokenType === Newline;
    if (!blank) this.push(Newline, '\n', at, at + 1);
  }

  metadata(image: string, start: number): void {
    this.#resynchronise(start);
    this.push(Metadata, image, start, start + image.length);
  }

  keyword(type: TokenType, image: string, start: number): void {
    const end = start + image.length;
    const categories = type.CATEGORIES ?? [];
    if (lineStarters.has(type)) {
      this.#resynchronise(start);
      const previous = this.#previous;
      this.push(type, image, start, end);
      if (blockEnds.has(type)) this.#nesting.closeBlock();
      else if (closers.has(type) && previous !== keyword.else) {
        this.#nesting.openBlock(type === keyword.func || type === keyword.command);
        this.#checkDepth(start, end);
      }
    } else if (categories.includes(PrefixOperator)) {
      this.#prefix(type, image, start);
    } else {
      if (categories.includes(BinaryOperator)) this.#nesting.settle();
      this.push(type, image, start, end);
    }
  }

  operator(type: TokenType, image: string, start: number): void {
    if (type === punct.tilde || (type === punct.minus && !this.#after(operandEnds))) {
      this.#prefix(type, image, start);
      return;
    }
    if (type === punct.power) this.#nesting.await();
    else if (type !== punct.dot) this.#nesting.settle();
    this.push(type, image, start, start + image.length);
    this.#checkDepth(start, start + image.length);
  }

  #prefix(type: TokenType, image: string, start: number): void {
    this.#nesting.await();
    this.push(type, image, start, start + image.length);
    this.#checkDepth(start, start + image.length);
  }

  open(type: TokenType, image: string, start: number): void {
    this.#nesting.openBracket(image, start);
    this.push(type, image, start, start + image.length);
    this.#checkDepth(start, start + image.length);
  }

  /** Takes a `{`. `lineRest`, the text up to the end of the line or a comment, tells a map from a block in braces. */
  openBrace(start: number, lineRest: string): void {
    const asBlock = this.#after(blockIntros) && !this.#nesting.inBrackets;
    const opener = this.#first === undefined ? undefined : closers.get(this.#first);
    if (!asBlock || (lineRest !== '' && opener === undefined)) {
      this.open(punct.openBrace, '{', start);
      return;
    }
    const end = opener?.LABEL ?? 'a keyword such as `endif`';
    this.report(
      problemAt(start, start + 1, 'a block is not written in braces', `remove the braces and end the block with ${end}`),
    );
    this.breaks.push(start);
    this.#braceBlocks++;
  }

  close(type: TokenType, image: string, start: number): void {
    const unclosed = this.#nesting.closeBracket(image);
    if (unclosed !== undefined) {
      this.#unclosed(unclosed);
      this.push(type, image, start, start + 1);
    } else if (image === '}' && this.#braceBlocks > 0) {
      this.#braceBlocks--;
    } else {
      this.report(problemAt(start, start + 1, `\`${image}\` closes nothing`, 'delete it, or add the bracket that opens it'));
    }
  }

  /** Takes a template part `{{` … `}}` with an expression, whose tokens `read` adds. */
  part(start: number, end: number, read: () => void): void {
    this.push(PartOpen, '{{', start, start + 2);
    const outer = this.#nesting.enterPart(start);
    this.#checkDepth(start, start + 2);
    this.#parts++;
    read();
    this.#parts--;
    this.#unclosed(this.#nesting.leavePart(outer));
    this.push(PartClose, '}}', end - 2, end);
  }

  /** Ends the text and its last line. */
  finish(end: number): void {
    if (this.stopped) return;
    this.#unclosed(this.#nesting.abandonAll());
    if (this.#previous !== Newline) this.push(Newline, '', end, end);
  }

  /** Reports the open brackets as unclosed if a statement begins on a new line within them. */
  #resynchronise(start: number): void {
    if (!this.#wrapped || this.#parts > 0) return;
    const unclosed = this.#nesting.abandonAll();
    if (unclosed.length === 0) return;
    this.#unclosed(unclosed);
    this.push(Newline, '\n', start, start);
  }

  #unclosed(brackets: readonly OpenBracket[]): void {
    for (const { image, at } of [...brackets].reverse()) {
      const hint = `add the missing \`${closing.get(image) ?? ''}\``;
      this.report(problemAt(at, at + image.length, `\`${image}\` is never closed`, hint));
    }
  }

  /** Stops the lexer if the token just added nests one level too deeply. */
  #checkDepth(start: number, end: number): void {
    if (!this.#nesting.tooDeep) return;
    const hint = 'move the inner parts into variables or procedures';
    this.report(problemAt(start, end, `nesting is deeper than ${MAX_NESTING} levels`, hint));
    this.stopped = true;
  }
}
