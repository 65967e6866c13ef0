/** A place where the text does not match the grammar, with the data for advice. */
import type { IToken, TokenType } from 'chevrotain';
import { endOf } from '../syntax/build.ts';
import { Identifier, Metadata, Newline, StringLiteral, TemplateClose, TemplateOpen, TemplateText } from '../syntax/tokens.ts';
import { shorten } from './characters.ts';

/** A place where the text does not match the grammar. */
export interface Mismatch {
  /** What the grammar expected: a noun phrase, such as a token's label. */
  readonly expected: string;
  /** The first token of the line, or of the part of the line that was being read. */
  readonly first: IToken;
  /** `peek(1)` is the offending token, `peek(0)` the token before it. */
  readonly peek: (ahead: number) => IToken;
  /** Offset of the offending token, or the length of the text. */
  readonly at: number;
}

/** A message better than "expected …, found …", or a hint to go with that message. */
export interface Advice {
  readonly message?: string;
  readonly hint?: string;
}

/** What the grammar expects where an expression begins. */
export const aValue = 'a value';
export const aName = Identifier.LABEL ?? '';
export const endOfLine = Newline.LABEL ?? '';

/** A token in words, for messages. */
export function describe(token: IToken): string {
  const type = token.tokenType;
  if (type.name === 'EOF') return 'the end of the file';
  const named: readonly TokenType[] = [Newline, Metadata, StringLiteral, TemplateOpen, TemplateText, TemplateClose];
  return named.includes(type) ? (type.LABEL ?? type.name) : `\`${shorten(token.image)}\``;
}

/** The message for a mismatch that no advice explains better. */
export function expectedFound({ expected, peek }: Mismatch): string {
  return `expected ${expected}, found ${describe(peek(1))}`;
}

/** Whether two tokens stand side by side without a blank. */
export function touches(left: IToken, right: IToken): boolean {
  return endOf(left) === right.startOffset;
}

/** Most tokens that {@link lineBefore} gives, so that advice on a long line takes bounded time. */
const MAX_LOOKBACK = 60;

/** The tokens of the line before the offending token, nearest first. */
export function lineBefore({ peek }: Mismatch): readonly IToken[] {
  const tokens: IToken[] = [];
  for (let back = 0; back > -MAX_LOOKBACK; back--) {
    const token = peek(back);
    if (token.tokenType === Newline || token.tokenType.name === 'EOF') break;
    tokens.push(token);
  }
  return tokens;
}

/** The first token of the line, which names the statement. The part that was being read may begin after it. */
export function statementStart(mismatch: Mismatch): TokenType {
  const before = lineBefore(mismatch);
  return (before.length < MAX_LOOKBACK ? before.at(-1) : undefined)?.tokenType ?? mismatch.first.tokenType;
}
