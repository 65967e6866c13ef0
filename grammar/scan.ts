/**
 * The lexer: cleaned text to tokens, in one pass (language.md 1.2–1.11 with P10–P12, P21, P23, P33).
 *
 * Written by hand rather than with Chevrotain's Lexer: that one takes 4 to 5 ms to construct at every start of a worker, and
 * a foreign character costs it one try of every pattern. Here each character is looked at once, so any input is linear.
 */
import type { TokenType } from 'chevrotain';
import { MAX_NESTING, Nesting, type OpenBracket } from './brackets.ts';
import { type Finding, finding, MAX_FINDINGS } from './finding.ts';
import { foreignText, foreignValues, shorten } from './foreign.ts';
import { metadataEnd } from './metadata.ts';
import { PartFinder, readQuoted, symbols } from './strings.ts';
import {
  BinaryOperator,
  blockEnds,
  closers,
  Identifier,
  keyword,
  keywords,
  lineStarters,
  Metadata,
  Newline,
  NumberLiteral,
  PartClose,
  PartOpen,
  PrefixOperator,
  punct,
  StringLiteral,
  TemplateClose,
  TemplateOpen,
  TemplateText,
  Token,
} from './tokens.ts';

export interface Scanned {
  readonly tokens: Token[];
  readonly findings: Finding[];
  /** Offsets from which on the pairing of blocks cannot be trusted: braces as blocks, a string without end. */
  readonly breaks: readonly number[];
  /** False when reading stopped early; parsing the tokens would then say nothing true. */
  readonly complete: boolean;
}

/** Reads the tokens of a cleaned source. `doubleBrackets` makes `[[…]]` a template (P11). */
export function scan(text: string, doubleBrackets: boolean): Scanned {
  return new Scanner(text, doubleBrackets).run();
}

/** Tokens after which an operand is complete: a `-` that follows is binary, a `{` no map. */
const operandEnds: ReadonlySet<TokenType | undefined> = new Set([
  Identifier,
  NumberLiteral,
  StringLiteral,
  TemplateClose,
  punct.closeParen,
  punct.closeBracket,
  punct.closeBrace,
  keyword.true,
  keyword.false,
  keyword.nil,
  keyword.last,
]);
/** Tokens after which a `{` at the end of a line is meant as the start of a block. */
const blockIntros: ReadonlySet<TokenType | undefined> = new Set([
  ...operandEnds,
  keyword.means,
  keyword.else,
  keyword.do,
  keyword.command,
]);

const simpleMarks: ReadonlyMap<string, TokenType> = new Map(
  [punct.plus, punct.slash, punct.percent, punct.amp, punct.pipe, punct.caret, punct.comma, punct.colon, punct.dot, punct.at].map(
    (type): [string, TokenType] => [(type.LABEL ?? '').slice(1, -1), type],
  ),
);

class Scanner {
  private readonly text: string;
  private readonly doubleBrackets: boolean;
  private readonly tokens: Token[] = [];
  private readonly findings: Finding[] = [];
  private readonly breaks: number[] = [];
  private readonly nesting = new Nesting();
  private at = 0;
  private previous: TokenType | undefined;
  /** First token of the logical line. */
  private first: TokenType | undefined;
  /** A newline was passed over inside brackets since the last token. */
  private wrapped = false;
  /** Inside a template part every newline is free and no statement can begin. */
  private inPart = false;
  private braceBlocks = 0;
  private stopped = false;
  private lineEnd = -1;

  constructor(text: string, doubleBrackets: boolean) {
    this.text = text;
    this.doubleBrackets = doubleBrackets;
  }

  run(): Scanned {
    this.range(this.text.length);
    if (!this.stopped) this.unclosed(this.nesting.abandonAll());
    return { tokens: this.tokens, findings: this.findings, breaks: this.breaks, complete: !this.stopped };
  }

  private range(limit: number): void {
    while (this.at < limit && !this.stopped) {
      const unit = this.text.charCodeAt(this.at);
      if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f) this.word(limit);
      else if (unit === 0x20 || unit === 0x09) this.at++;
      else if (unit === 0x0a) this.newline();
      else if (unit >= 0x30 && unit <= 0x39) this.number(limit);
      else this.mark(limit);
    }
  }

  private mark(limit: number): void {
    const { text, at } = this;
    const image = text.charAt(at);
    const next = at + 1 < limit ? text.charAt(at + 1) : '';
    switch (image) {
      case '#':
        return this.comment(limit);
      case '"':
        return this.quoted(limit);
      case "'":
        return text.startsWith("'''", at) ? this.tripleQuoted(limit) : this.quoted(limit);
      case '(':
        return this.open(punct.openParen, image);
      case '[':
        return this.doubleBrackets && next === '[' ? this.template('[[', ']]', limit) : this.open(punct.openBracket, image);
      case '{':
        return this.brace(next, limit);
      case ')':
        return this.close(punct.closeParen, image);
      case ']':
        return this.close(punct.closeBracket, image);
      case '}':
        return this.close(punct.closeBrace, image);
      case '-':
        return next === '-' ? this.comment(limit) : this.operator(punct.minus, image);
      case '/':
        return next === '/' ? this.comment(limit) : this.operator(punct.slash, image);
      case '*':
        return next === '*' ? this.power() : this.operator(punct.star, image);
      case '~':
        return this.operator(punct.tilde, image);
      case '=':
        if (next === '=' && text.charAt(at + 2) === '=') return this.foreign(limit);
        return next === '=' ? this.operator(punct.equal, '==') : this.operator(punct.assign, image);
      case '<':
        return next === '=' ? this.operator(punct.lessEqual, '<=') : this.operator(punct.less, image);
      case '>':
        return next === '=' ? this.operator(punct.greaterEqual, '>=') : this.operator(punct.greater, image);
      case '!':
        if (next === '=' && text.charAt(at + 2) !== '=') return this.operator(punct.unequal, '!=');
        return this.foreign(limit);
      case ':':
        return next === ':' ? this.metadata(limit) : this.operator(punct.colon, image);
      case '&':
      case '|':
        return next === image ? this.foreign(limit) : this.operator(image === '&' ? punct.amp : punct.pipe, image);
      case '`':
        return text.startsWith('```', at) ? this.template('```', '```', limit) : this.foreign(limit);
      case '\\':
        return this.continuation(limit);
      default: {
        const type = simpleMarks.get(image);
        return type === undefined ? this.foreign(limit) : this.operator(type, image);
      }
    }
  }

  private push(type: TokenType, image: string, start: number, end: number): void {
    this.tokens.push(new Token(type, image, start, end));
    if (this.previous === Newline || this.previous === undefined) this.first = type;
    this.previous = type;
    this.wrapped = false;
    this.at = end;
  }

  private report(found: Finding): void {
    this.findings.push(found);
    if (this.findings.length >= MAX_FINDINGS) this.stopped = true;
  }

  /** Whatever has just been opened may be one level too many; nothing after it is read then (P33). */
  private checkDepth(start: number, end: number): void {
    if (!this.nesting.tooDeep) return;
    const hint = 'move inner parts into variables or procedures of their own';
    this.report(finding(start, end, `nesting is deeper than ${MAX_NESTING} levels`, hint));
    this.stopped = true;
  }

  private newline(): void {
    if (this.nesting.inBrackets) {
      this.wrapped = true;
      this.at++;
      return;
    }
    this.nesting.settle();
    this.push(Newline, '\n', this.at, this.at + 1);
  }

  private endOfLine(limit: number): number {
    if (this.lineEnd < this.at) {
      const end = this.text.indexOf('\n', this.at);
      this.lineEnd = end < 0 ? this.text.length : end;
    }
    return Math.min(this.lineEnd, limit);
  }

  private comment(limit: number): void {
    this.at = this.endOfLine(limit);
  }

  private continuation(limit: number): void {
    let next = this.at + 1;
    while (this.text.charAt(next) === ' ' || this.text.charAt(next) === '\t') next++;
    if (this.text.charAt(next) === '\n' && next < limit) this.at = next + 1;
    else this.foreign(limit);
  }

  private word(limit: number): void {
    const start = this.at;
    const end = this.wordEnd(start, limit);
    const image = this.text.slice(start, end);
    if (this.previous === punct.dot) return this.push(Identifier, image, start, end);
    const type = keywords.get(image);
    if (type !== undefined) return this.keyword(type, image, start, end);
    const value = foreignValues.get(image);
    if (value === undefined) return this.push(Identifier, image, start, end);
    this.report(finding(start, end, `\`${image}\` is no name in NeuroScript`, `write ${value.LABEL ?? ''}`));
    this.push(value, image, start, end);
  }

  private wordEnd(from: number, limit: number): number {
    let end = from;
    while (end < limit && isWordUnit(this.text.charCodeAt(end))) end++;
    return end;
  }

  private keyword(type: TokenType, image: string, start: number, end: number): void {
    if (lineStarters.has(type)) {
      if (this.wrapped && !this.inPart) this.resynchronise(start);
      const previous = this.previous;
      this.push(type, image, start, end);
      if (closers.has(type) && previous !== keyword.else) {
        this.nesting.openBlock(type === keyword.func || type === keyword.command);
        this.checkDepth(start, end);
      } else if (blockEnds.has(type)) {
        this.nesting.closeBlock();
      }
      return;
    }
    const categories = type.CATEGORIES ?? [];
    if (categories.includes(PrefixOperator)) {
      this.nesting.await();
      this.checkDepth(start, end);
    } else if (categories.includes(BinaryOperator)) {
      this.nesting.settle();
    }
    this.push(type, image, start, end);
  }

  /** A statement begins on a new line while brackets are open: they were never closed. */
  private resynchronise(start: number): void {
    const unclosed = this.nesting.abandonAll();
    if (unclosed.length === 0) return;
    this.unclosed(unclosed);
    this.push(Newline, '\n', start, start);
  }

  private unclosed(brackets: readonly OpenBracket[]): void {
    for (const bracket of [...brackets].reverse()) {
      const { image, at } = bracket;
      const close = image === '(' ? ')' : image === '[' ? ']' : image === '{' ? '}' : '}}';
      this.report(finding(at, at + image.length, `\`${image}\` is never closed`, `its \`${close}\` is missing`));
    }
  }

  private number(limit: number): void {
    const start = this.at;
    let end = this.digits(start, limit);
    if (this.text.charAt(end) === '.' && this.digits(end + 1, limit) > end + 1) end = this.digits(end + 1, limit);
    if (this.text.charAt(end) === 'e' || this.text.charAt(end) === 'E') {
      const sign = this.text.charAt(end + 1);
      const from = sign === '+' || sign === '-' ? end + 2 : end + 1;
      if (this.digits(from, limit) > from) end = this.digits(from, limit);
    }
    const image = this.text.slice(start, end);
    if (!Number.isFinite(Number(image))) {
      const hint = 'the largest number is about 1.8e308';
      this.report(finding(start, end, `the number ${shorten(image)} is too large`, hint));
    }
    const tail = this.wordEnd(end, limit);
    if (tail > end && !keywords.has(this.text.slice(end, tail))) {
      const hint = 'numbers are decimal digits, as in 1000, 2.5 or 1e-7, without prefix, suffix or underscores';
      this.report(finding(start, tail, `\`${shorten(this.text.slice(start, tail))}\` is no number`, hint));
      end = tail;
    }
    this.push(NumberLiteral, image, start, end);
  }

  private digits(from: number, limit: number): number {
    let end = from;
    while (end < limit && isDigit(this.text.charCodeAt(end))) end++;
    return end;
  }

  private quoted(limit: number): void {
    const start = this.at;
    const { end, value, problems } = readQuoted(this.text, start, limit);
    for (const problem of problems) this.report(problem);
    this.push(StringLiteral, value, start, end);
  }

  private tripleQuoted(limit: number): void {
    const start = this.at;
    const close = this.text.indexOf("'''", start + 3);
    if (close < 0 || close + 3 > limit) return this.endless("'''", "'''", limit);
    this.push(StringLiteral, this.text.slice(start + 3, close), start, close + 3);
  }

  /** A string of several lines without its end takes everything that is left. */
  private endless(open: string, close: string, limit: number): void {
    const start = this.at;
    this.report(finding(start, start + open.length, `the string is never closed`, `close it with ${close}`));
    this.breaks.push(start);
    this.push(StringLiteral, '', start, limit);
  }

  private template(open: string, close: string, limit: number): void {
    const start = this.at;
    const end = this.text.indexOf(close, start + open.length);
    if (end < 0 || end + close.length > limit) return this.endless(open, close, limit);
    const from = start + open.length;
    this.push(TemplateOpen, open, start, from);
    const body = this.text.slice(from, end);
    const parts = new PartFinder(body);
    let done = 0;
    while (!this.stopped) {
      const brace = body.indexOf('{{', done);
      const partEnd = brace < 0 ? -1 : parts.end(brace + 2);
      if (partEnd < 0) break;
      this.templateText(body, done, brace, from);
      this.part(body, brace, partEnd, from);
      done = partEnd + 2;
    }
    this.templateText(body, done, body.length, from);
    this.push(TemplateClose, close, end, end + close.length);
  }

  private templateText(body: string, from: number, to: number, offset: number): void {
    if (to > from) this.push(TemplateText, body.slice(from, to), offset + from, offset + to);
  }

  /** One `{{…}}` of a template: nothing, a symbol, `LAST`, or an expression (P12, ruling 3). */
  private part(body: string, from: number, to: number, offset: number): void {
    const start = offset + from;
    const end = offset + to + 2;
    const inner = body.slice(from + 2, to).trim();
    if (inner === '') return;
    if (inner.startsWith('@')) {
      const text = symbols.get(inner.slice(1)) ?? body.slice(from, to + 2);
      return this.push(TemplateText, text, start, end);
    }
    this.push(PartOpen, '{{', start, start + 2);
    if (inner.toUpperCase() === 'LAST') {
      this.push(keyword.last, inner, start + 2, end - 2);
    } else {
      const outerPart = this.inPart;
      const outer = this.nesting.enterPart(start);
      this.checkDepth(start, start + 2);
      this.inPart = true;
      this.range(end - 2);
      this.inPart = outerPart;
      this.unclosed(this.nesting.leavePart(outer));
    }
    this.push(PartClose, '}}', end - 2, end);
  }

  private open(type: TokenType, image: string): void {
    const start = this.at;
    this.nesting.openBracket(image, start);
    this.push(type, image, start, start + image.length);
    this.checkDepth(start, start + image.length);
  }

  private brace(next: string, limit: number): void {
    if (next === '{') return this.open(punct.openPlaceholder, '{{');
    const start = this.at;
    if (!blockIntros.has(this.previous) || this.nesting.inBrackets) return this.open(punct.openBrace, '{');
    const rest = this.text.slice(start + 1, this.endOfLine(limit)).trimStart();
    const endsLine = rest === '' || rest.startsWith('#') || rest.startsWith('--') || rest.startsWith('//');
    if (!endsLine && !closers.has(this.first ?? Newline)) return this.open(punct.openBrace, '{');
    const end = closers.get(this.first ?? Newline)?.LABEL ?? 'a keyword such as `endif`';
    this.report(finding(start, start + 1, 'blocks are not written in braces', `drop the braces and end the block with ${end}`));
    this.breaks.push(start);
    this.braceBlocks++;
    this.at++;
  }

  private close(type: TokenType, image: string): void {
    const start = this.at;
    const unclosed = this.nesting.closeBracket(image);
    if (unclosed !== undefined) {
      this.unclosed(unclosed);
      return this.push(type, image, start, start + 1);
    }
    this.at++;
    if (image === '}' && this.braceBlocks > 0) this.braceBlocks--;
    else this.report(finding(start, start + 1, `\`${image}\` closes nothing`, 'delete it, or open its partner'));
  }

  private operator(type: TokenType, image: string): void {
    const start = this.at;
    const prefix = type === punct.tilde || (type === punct.minus && !operandEnds.has(this.previous));
    if (prefix) this.nesting.await();
    else if (type !== punct.dot) this.nesting.settle();
    this.push(type, image, start, start + image.length);
    if (prefix) this.checkDepth(start, start + 1);
  }

  private power(): void {
    this.nesting.await();
    this.push(punct.power, '**', this.at, this.at + 2);
    this.checkDepth(this.at - 2, this.at);
  }

  private metadata(limit: number): void {
    const start = this.at;
    const end = metadataEnd(this.text, start, limit);
    const after = this.text.charAt(start + 2);
    if (after !== ' ' && after !== '\t') {
      this.report(finding(start, start + 2, '`::` needs a blank after it', 'write `:: key: value`'));
    }
    if (this.wrapped && !this.inPart) this.resynchronise(start);
    this.push(Metadata, this.text.slice(start, end), start, end);
  }

  private foreign(limit: number): void {
    const start = this.at;
    const { length, message, hint, instead } = foreignText(this.text, start, this.endOfLine(limit));
    this.report(finding(start, start + length, message, hint));
    this.at = start + length;
    if (instead === undefined || (instead === Newline && this.nesting.inBrackets)) return;
    this.push(
      instead,
      instead === Identifier ? this.text.slice(start, start + length) : (instead.LABEL ?? '').slice(1, -1),
      start,
      this.at,
    );
  }
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isWordUnit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || isDigit(unit) || unit === 0x5f;
}
