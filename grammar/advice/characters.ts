/** What other languages write and NeuroScript does not: characters and words that never form a token of ours. */
import type { TokenType } from 'chevrotain';
import { Identifier, keyword, Newline, punct, StringLiteral } from '../syntax/tokens.ts';

/** A foreign piece of text: how long it is, what to say, and which token takes its place so that the line still reads. */
export interface Foreign {
  readonly length: number;
  readonly message: string;
  readonly hint?: string;
  readonly instead?: TokenType;
}

const marks: readonly (readonly [text: string, message: string, hint: string, instead?: TokenType])[] = [
  ['!==', '`!==` is no operator', 'write `!=`', punct.unequal],
  ['===', '`===` is no operator', 'write `==`', punct.equal],
  ['!', '`!` is no operator', 'write `not x`', keyword.not],
  ['&&', '`&&` is no operator', 'write `and`', keyword.and],
  ['||', '`||` is no operator', 'write `or`', keyword.or],
  [';', 'statements end with the line, not with `;`', 'write each statement on a line of its own', Newline],
  ['??', '`??` is no operator', 'write `if is_nil(x)`, on the next lines `set x = …` and `endif`', keyword.or],
  ['?.', '`?.` is no operator', 'a missing key is nil: test with `is_nil(x)`, then write `x.a`', punct.dot],
  ['?', '`?` means nothing here', 'write if … else … endif'],
  ['$', '`$` means nothing here', 'a variable is written by its bare name; in a ```template``` as {{name}}'],
  ['\\', 'a backslash outside a string must be the last character of its line', 'newlines inside brackets need no backslash'],
  ['\u00a0', 'this is a non-breaking space', 'write an ordinary space'],
  ['≤', '`≤` is no operator', 'write `<=`', punct.lessEqual],
  ['≥', '`≥` is no operator', 'write `>=`', punct.greaterEqual],
  ['≠', '`≠` is no operator', 'write `!=`', punct.unequal],
  ['×', '`×` is no operator', 'write `*`', punct.star],
  ['÷', '`÷` is no operator', 'write `/`', punct.slash],
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

/** Explains the text at `at`, where no token of the language begins; looks no further than `lineEnd`. */
export function foreignText(text: string, at: number, lineEnd: number): Foreign {
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
    const message = `\`${shorten(name)}\` is no name: names are made of A–Z, a–z, 0–9 and _`;
    return { length: name.length, message, hint: 'as text it needs quotes', instead: Identifier };
  }
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  let length = character.length;
  while (text.startsWith(character, at + length) && at + length < lineEnd) length += character.length;
  return { length, message: `the character \`${character}\` means nothing here`, hint: 'as text it needs quotes' };
}

function backtick(text: string, at: number, lineEnd: number): Foreign {
  let close = at + 1;
  while (close < lineEnd && text.charAt(close) !== '`') close++;
  const length = Math.min(close + 1, lineEnd) - at;
  return {
    length,
    message: 'a single backtick begins no string',
    hint: 'write \'…\' or "…"; a text with {{x}} in it is written ```…```',
    instead: StringLiteral,
  };
}

function curlyString(text: string, at: number, lineEnd: number, closing: string): Foreign {
  // Only so far, or a line full of opening quotes would be searched from each of them.
  const limit = Math.min(lineEnd, at + 1000);
  let close = at + 1;
  while (close < limit && text.charAt(close) !== closing) close++;
  const message = `\`${text.charAt(at)}\` is a typographic quote`;
  const hint = 'write \'…\' or "…"';
  if (close >= limit) return { length: 1, message, hint };
  return { length: close + 1 - at, message, hint, instead: StringLiteral };
}

/** At most 40 characters of a text for a message. */
export function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
