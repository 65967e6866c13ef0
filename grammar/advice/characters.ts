/** Advice on characters and operators of other languages that begin no token of NeuroScript. */
import type { TokenType } from 'chevrotain';
import { Identifier, keyword, Newline, punct, StringLiteral } from '../syntax/tokens.ts';

/** Foreign text: its length, the error about it, and the token that replaces it so that the line can still be read. */
export interface ForeignText {
  readonly length: number;
  readonly message: string;
  readonly hint?: string;
  readonly instead?: TokenType;
}

const marks: readonly (readonly [text: string, message: string, hint: string, instead?: TokenType])[] = [
  ['!==', '`!==` is not an operator', 'write `!=`', punct.unequal],
  ['===', '`===` is not an operator', 'write `==`', punct.equal],
  ['!', '`!` is not an operator', 'write `not x`', keyword.not],
  ['&&', '`&&` is not an operator', 'write `and`', keyword.and],
  [
    '||',
    '`||` is not an operator',
    'write `or`, which gives true or false; for a default write `if is_nil(x)`, `set x = …`, `endif`',
    keyword.or,
  ],
  [';', 'a statement ends with its line, not with `;`', 'write each statement on a line of its own', Newline],
  ['??', '`??` is not an operator', 'write `if is_nil(x)`, then `set x = …` and `endif` on lines of their own', keyword.or],
  ['?.', '`?.` is not an operator', 'a missing key reads as nil: test `is_nil(x)` before `x.a`', punct.dot],
  ['?', '`?` has no meaning here', 'write `if` … `else` … `endif`'],
  ['$', '`$` has no meaning here', 'write the bare name of the variable, or {{name}} in a ```template```'],
  ['\\', 'a backslash outside a string must end its line', 'lines in brackets need no backslash to continue'],
  ['\u00a0', 'this is a non-breaking space', 'write an ordinary space'],
  ['≤', '`≤` is not an operator', 'write `<=`', punct.lessEqual],
  ['≥', '`≥` is not an operator', 'write `>=`', punct.greaterEqual],
  ['≠', '`≠` is not an operator', 'write `!=`', punct.unequal],
  ['×', '`×` is not an operator', 'write `*`', punct.star],
  ['÷', '`÷` is not an operator', 'write `/`', punct.slash],
  ['–', 'this is a dash, not a minus sign', 'write `-`', punct.minus],
  ['−', 'this is a typographic minus sign', 'write `-`', punct.minus],
];

const curly: ReadonlyMap<string, string> = new Map([
  ['“', '”'],
  ['”', '”'],
  ['„', '“'],
  ['‘', '’'],
  ['’', '’'],
  ['«', '»'],
]);

const nameLike = /[\p{L}\p{M}\p{N}_]+/uy;

/** Explains the text at `at`, where no token begins. Reads no further than `lineEnd`. */
export function foreignText(text: string, at: number, lineEnd: number): ForeignText {
  const first = text.charAt(at);
  if (first === '`') return backtick(text, at, lineEnd);
  const closing = curly.get(first);
  if (closing !== undefined) return curlyString(text, at, lineEnd, closing);
  for (const [mark, message, hint, instead] of marks) {
    if (!text.startsWith(mark, at)) continue;
    let length = mark.length;
    while (mark.length === 1 && text.charAt(at + length) === mark && at + length < lineEnd) length++;
    return instead === undefined ? { length, message, hint } : { length, message, hint, instead };
  }
  nameLike.lastIndex = at;
  const name = nameLike.exec(text)?.[0];
  if (name !== undefined) {
    const message = `\`${shorten(name)}\` is not a name: a name has only the letters A–Z and a–z, digits and _`;
    return { length: name.length, message, hint: 'put text in quotes', instead: Identifier };
  }
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  let length = character.length;
  while (text.startsWith(character, at + length) && at + length < lineEnd) length += character.length;
  return { length, message: `the character \`${character}\` has no meaning here`, hint: 'put text in quotes' };
}

function backtick(text: string, at: number, lineEnd: number): ForeignText {
  let close = at + 1;
  while (close < lineEnd && text.charAt(close) !== '`') close++;
  const length = Math.min(close + 1, lineEnd) - at;
  return {
    length,
    message: 'a single backtick does not begin a string',
    hint: 'write \'…\' or "…"; a template with {{x}} in it is written ```…```',
    instead: StringLiteral,
  };
}

function curlyString(text: string, at: number, lineEnd: number, closing: string): ForeignText {
  // The limit bounds the search in a line full of opening quotes.
  const limit = Math.min(lineEnd, at + 1000);
  let close = at + 1;
  while (close < limit && text.charAt(close) !== closing) close++;
  const message = `\`${text.charAt(at)}\` is a typographic quote`;
  const hint = 'write \'…\' or "…"';
  if (close >= limit) return { length: 1, message, hint };
  return { length: close + 1 - at, message, hint, instead: StringLiteral };
}

/** The first 40 characters of a text, for a message. */
export function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
