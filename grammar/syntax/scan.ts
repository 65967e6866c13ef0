/**
 * The lexer: turns cleaned text into tokens, in one pass.
 *
 * It is written by hand, because Chevrotain's Lexer takes 4 to 5 ms to construct at every start of a worker and tries every
 * pattern at each foreign character. This lexer reads each character once, so it takes linear time for any input.
 */
import type { TokenType } from 'chevrotain';
import { foreignText, shorten } from '../advice/characters.ts';
import { FOREIGN_VALUES } from '../vocabulary/keywords.ts';
import { isBlank, isDigit, isWordUnit, LF, startsComment } from './codeunits.ts';
import { metadataEnd } from './metadata.ts';
import { problemAt, type SyntaxProblem } from './problem.ts';
import { TokenSink } from './sink.ts';
import { PartFinder, readQuoted, symbols } from './strings.ts';
import {
  contextual,
  Identifier,
  keyword,
  keywords,
  Newline,
  NumberLiteral,
  punct,
  StringLiteral,
  TemplateClose,
  TemplateOpen,
  TemplateText,
  type Token,
} from './tokens.ts';

export interface Scanned {
  readonly tokens: Token[];
  readonly problems: readonly SyntaxProblem[];
  /** Offsets after which blocks may not pair up: a brace used as a block, a string without an end. */
  readonly breaks: readonly number[];
  /** False when the lexer stopped early. Parsing the tokens would then report false problems. */
  readonly complete: boolean;
  /** Whether the text ends within a string, a bracket or a continued line, so that more text could complete it. */
  readonly open: boolean;
}

/** Reads the tokens of a cleaned source. `doubleBrackets` makes `[[…]]` a template. */
export function scan(text: string, doubleBrackets: boolean): Scanned {
  return new Scanner(text, doubleBrackets).run();
}

/** Operators of one character, by character code. The scanner first tries the longer tokens that begin like one of them. */
const singles: ReadonlyMap<number, TokenType> = new Map(
  [
    ...[punct.plus, punct.minus, punct.star, punct.slash, punct.percent, punct.amp, punct.pipe, punct.caret, punct.tilde],
    ...[punct.assign, punct.less, punct.greater, punct.comma, punct.colon, punct.dot, punct.at],
  ].map((type): [number, TokenType] => [(type.LABEL ?? '').charCodeAt(1), type]),
);
/** Operators of two characters. */
const doubles: ReadonlyMap<string, TokenType> = new Map(
  [punct.equal, punct.unequal, punct.lessEqual, punct.greaterEqual, punct.power].map((type): [string, TokenType] => [
    (type.LABEL ?? '').slice(1, -1),
    type,
  ]),
);

const foreignValues: ReadonlyMap<string, TokenType> = new Map(
  Object.entries(FOREIGN_VALUES).map(([spelling, value]) => [spelling, keyword[value]]),
);

class Scanner {
  /** See {@link Token.living}. */
  static readonly living = new Scanner('', false);

  readonly #text: string;
  readonly #doubleBrackets: boolean;
  readonly #sink = new TokenSink();
  #at = 0;
  #lineEnd = -1;
  #open = false;
  /** `together` blocks that are open. */
  #blocksTogether = 0;

  constructor(text: string, doubleBrackets: boolean) {
    this.#text = text;
    this.#doubleBrackets = doubleBrackets;
  }

  run(): Scanned {
    const sink = this.#sink;
    this.#range(this.#text.length);
    const { inBrackets } = sink;
    sink.finish(this.#text.length);
    const open = this.#open || inBrackets;
    return { tokens: sink.tokens, problems: sink.problems, breaks: sink.breaks, complete: !sink.stopped, open };
  }

  #range(limit: number): void {
    while (this.#at < limit && !this.#sink.stopped) {
      const unit = this.#text.charCodeAt(this.#at);
      if (isWordUnit(unit)) {
        if (isDigit(unit)) this.#number(limit);
        else this.#word(limit);
      } else if (isBlank(unit)) {
        this.#at++;
      } else if (unit === LF) {
        this.#sink.newline(this.#at++);
      } else {
        this.#mark(unit, limit);
      }
    }
  }

  #mark(unit: number, limit: number): void {
    const next = this.#at + 1 < limit ? this.#text.charCodeAt(this.#at + 1) : -1;
    switch (unit) {
      case 0x22: // "
      case 0x27: // '
        this.#string(unit === next && this.#text.charCodeAt(this.#at + 2) === unit, limit);
        break;
      case 0x28: // (
        this.#sink.open(punct.openParen, '(', this.#at++);
        break;
      case 0x29: // )
        this.#sink.close(punct.closeParen, ')', this.#at++);
        break;
      case 0x5b: // [
        if (next === unit && this.#doubleBrackets) this.#template('[[', ']]', limit);
        else this.#sink.open(punct.openBracket, '[', this.#at++);
        break;
      case 0x5d: // ]
        this.#sink.close(punct.closeBracket, ']', this.#at++);
        break;
      case 0x7b: // {
        this.#brace(next === unit, limit);
        break;
      case 0x7d: // }
        this.#sink.close(punct.closeBrace, '}', this.#at++);
        break;
      case 0x23: // #
        this.#at = this.#endOfLine(limit);
        break;
      case 0x2d: // -
      case 0x2f: // /
        if (next === unit) this.#at = this.#endOfLine(limit);
        else this.#operator(unit, next, limit);
        break;
      case 0x3a: // :
        if (next === unit) this.#metadata(limit);
        else this.#operator(unit, next, limit);
        break;
      case 0x5c: // \
        this.#continuation(limit);
        break;
      case 0x60: // `
        if (this.#text.startsWith('```', this.#at)) this.#template('```', '```', limit);
        else this.#foreign(limit);
        break;
      default:
        this.#operator(unit, next, limit);
    }
  }

  #operator(unit: number, next: number, limit: number): void {
    const at = this.#at;
    const twice = next === unit && (unit === 0x26 || unit === 0x7c); // && ||
    const threefold = next === 0x3d && this.#text.charCodeAt(at + 2) === 0x3d && (unit === 0x3d || unit === 0x21); // === !==
    if (twice || threefold) {
      this.#foreign(limit);
      return;
    }
    if (next === 0x3d || next === 0x2a) {
      const image = this.#text.slice(at, at + 2);
      const type = doubles.get(image);
      if (type !== undefined) {
        this.#at += 2;
        this.#sink.operator(type, image, at);
        return;
      }
    }
    const type = singles.get(unit);
    if (type === undefined) {
      this.#foreign(limit);
      return;
    }
    this.#at++;
    this.#sink.operator(type, this.#text.charAt(at), at);
  }

  #endOfLine(limit: number): number {
    if (this.#lineEnd < this.#at) {
      const end = this.#text.indexOf('\n', this.#at);
      this.#lineEnd = end < 0 ? this.#text.length : end;
    }
    return Math.min(this.#lineEnd, limit);
  }

  #continuation(limit: number): void {
    let next = this.#at + 1;
    while (isBlank(this.#text.charCodeAt(next))) next++;
    if (this.#text.charCodeAt(next) === LF && next < limit) this.#at = next + 1;
    else {
      this.#open ||= next === this.#text.length;
      this.#foreign(limit);
    }
  }

  #word(limit: number): void {
    const start = this.#at;
    this.#at = this.#wordEnd(start, limit);
    const image = this.#text.slice(start, this.#at);
    const type = this.#sink.afterDot ? undefined : keywords.get(image);
    const value = this.#sink.afterDot ? undefined : foreignValues.get(image);
    if (type !== undefined) {
      this.#sink.keyword(type, image, start);
    } else if (value !== undefined) {
      this.#sink.report(problemAt(start, this.#at, `\`${image}\` is not a name in NeuroScript`, `write ${value.LABEL ?? ''}`));
      this.#sink.push(value, image, start, this.#at);
    } else {
      const block = this.#togetherWord(image, limit);
      if (block === undefined) this.#sink.push(Identifier, image, start, this.#at);
      else this.#sink.keyword(block, image, start);
    }
  }

  /** `together` and `endtogether` are keywords when they are alone on their line, the second one after the first. */
  #togetherWord(image: string, limit: number): TokenType | undefined {
    if ((image !== 'together' && image !== 'endtogether') || !this.#sink.atLineStart) return undefined;
    const rest = this.#text.slice(this.#at, this.#endOfLine(limit)).trimStart();
    if (rest !== '' && !startsComment(rest, 0)) return undefined;
    if (image === 'together') this.#blocksTogether++;
    else if (this.#blocksTogether-- === 0) return undefined;
    return contextual[image];
  }

  #wordEnd(from: number, limit: number): number {
    let end = from;
    while (end < limit && isWordUnit(this.#text.charCodeAt(end))) end++;
    return end;
  }

  #number(limit: number): void {
    const start = this.#at;
    let end = this.#digits(start, limit);
    if (this.#text.charCodeAt(end) === 0x2e) end = this.#digits(end + 1, limit) > end + 1 ? this.#digits(end + 1, limit) : end;
    if ((this.#text.charCodeAt(end) | 0x20) === 0x65) {
      const sign = this.#text.charAt(end + 1);
      const from = sign === '+' || sign === '-' ? end + 2 : end + 1;
      if (this.#digits(from, limit) > from) end = this.#digits(from, limit);
    }
    const image = this.#text.slice(start, end);
    if (!Number.isFinite(Number(image))) {
      const hint = 'the largest number is about 1.8e308';
      this.#sink.report(problemAt(start, end, `the number ${shorten(image)} is too large`, hint));
    }
    const tail = this.#wordEnd(end, limit);
    if (tail > end && !keywords.has(this.#text.slice(end, tail))) {
      const hint = 'write decimal digits without prefix, suffix or underscores, as in 1000, 2.5 or 1e-7';
      this.#sink.report(problemAt(start, tail, `\`${shorten(this.#text.slice(start, tail))}\` is not a number`, hint));
      end = tail;
    }
    this.#at = end;
    this.#sink.push(NumberLiteral, image, start, end);
  }

  #digits(from: number, limit: number): number {
    let end = from;
    while (end < limit && isDigit(this.#text.charCodeAt(end))) end++;
    return end;
  }

  #string(triple: boolean, limit: number): void {
    const start = this.#at;
    const mark = this.#text.charAt(start).repeat(3);
    if (!triple) {
      const { end, value, problems, cut } = readQuoted(this.#text, start, limit);
      this.#open ||= cut && end === this.#text.length;
      for (const problem of problems) this.#sink.report(problem);
      this.#at = end;
      this.#sink.push(StringLiteral, value, start, end);
      return;
    }
    if (mark === '"""') {
      this.#sink.report(
        problemAt(start, start + 3, '`"""` does not begin a string', "write text of several lines as '''…''' or ```…```"),
      );
    }
    const close = this.#text.indexOf(mark, start + 3);
    if (close < 0 || close + 3 > limit) {
      this.#endless(mark, limit);
      return;
    }
    this.#at = close + 3;
    this.#sink.push(StringLiteral, this.#text.slice(start + 3, close), start, this.#at);
  }

  /** A string of several lines that is never closed takes the rest of the text. */
  #endless(close: string, limit: number): void {
    const start = this.#at;
    if (close !== '"""')
      this.#sink.report(problemAt(start, start + close.length, 'this string is never closed', `close it with ${close}`));
    this.#sink.breaks.push(start);
    this.#open = true;
    this.#at = limit;
    this.#sink.push(StringLiteral, '', start, limit);
  }

  #template(open: string, close: string, limit: number): void {
    const start = this.#at;
    const from = start + open.length;
    const end = this.#text.indexOf(close, from);
    if (end < 0 || end + close.length > limit) {
      this.#endless(close, limit);
      return;
    }
    this.#sink.push(TemplateOpen, open, start, from);
    const body = this.#text.slice(from, end);
    const parts = new PartFinder(body);
    let done = 0;
    while (!this.#sink.stopped) {
      const brace = body.indexOf('{{', done);
      const partEnd = brace < 0 ? -1 : parts.end(brace + 2);
      if (partEnd < 0) break;
      this.#templateText(body, done, brace, from);
      this.#part(body, brace, partEnd, from);
      done = partEnd + 2;
    }
    this.#templateText(body, done, body.length, from);
    this.#at = end + close.length;
    this.#sink.push(TemplateClose, close, end, this.#at);
  }

  #templateText(body: string, from: number, to: number, offset: number): void {
    if (to > from) this.#sink.push(TemplateText, body.slice(from, to), offset + from, offset + to);
  }

  /** One `{{…}}` of a template: nothing, a symbol, `LAST`, or an expression. */
  #part(body: string, from: number, to: number, offset: number): void {
    const start = offset + from;
    const end = offset + to + 2;
    const inner = body.slice(from + 2, to).trim();
    if (inner === '') return;
    if (inner.startsWith('@')) {
      const text = symbols.get(inner.slice(1)) ?? body.slice(from, to + 2);
      this.#sink.push(TemplateText, text, start, end);
      return;
    }
    this.#at = start + 2;
    this.#sink.part(start, end, () => {
      if (inner.toUpperCase() === 'LAST') this.#sink.push(keyword.last, inner, start + 2, end - 2);
      else this.#range(end - 2);
    });
  }

  #brace(double: boolean, limit: number): void {
    const start = this.#at;
    if (double) {
      this.#at += 2;
      this.#sink.open(punct.openPlaceholder, '{{', start);
      return;
    }
    this.#at++;
    const rest = this.#text.slice(this.#at, this.#endOfLine(limit)).trimStart();
    this.#sink.openBrace(start, startsComment(rest, 0) ? '' : rest);
  }

  #metadata(limit: number): void {
    const start = this.#at;
    this.#at = metadataEnd(this.#text, start, limit);
    const after = this.#text.charAt(start + 2);
    if (after !== ' ' && after !== '\t') {
      this.#sink.report(problemAt(start, start + 2, 'a blank must follow `::`', 'write `:: key: value`'));
    }
    this.#sink.metadata(this.#text.slice(start, this.#at), start);
  }

  #foreign(limit: number): void {
    const start = this.#at;
    const { length, message, hint, instead } = foreignText(this.#text, start, this.#endOfLine(limit));
    this.#at = start + length;
    this.#sink.report(problemAt(start, this.#at, message, hint));
    if (instead === undefined || (instead === Newline && this.#sink.inBrackets)) return;
    const image = instead === Identifier ? this.#text.slice(start, this.#at) : (instead.LABEL ?? '').slice(1, -1);
    this.#sink.push(instead, image, start, this.#at);
  }
}
