/** A disagreement between grammar and text, as the hints see it. */
import type { IToken, TokenType } from 'chevrotain';
import { Metadata, Newline, StringLiteral, TemplateClose, TemplateOpen, TemplateText } from '../syntax/tokens.ts';
import { shorten } from './characters.ts';

/** A place where the grammar and the text disagree. */
export interface Mismatch {
  /** What the grammar wanted: a noun phrase, a token's label. */
  readonly expected: string;
  /** First token of the line or of the part of it that was being read. */
  readonly first: IToken;
  /** `peek(1)` is the offending token, `peek(0)` the one before it. */
  readonly peek: (ahead: number) => IToken;
  /** Offset of the offending token, or the length of the text. */
  readonly at: number;
}

/** What can be said better than "expected …, found …". */
export interface Advice {
  readonly message?: string;
  readonly hint?: string;
}

/** A token in words, for messages. */
export function describe(token: IToken): string {
  const type = token.tokenType;
  if (type.name === 'EOF') return 'the end of the file';
  const named: readonly TokenType[] = [Newline, Metadata, StringLiteral, TemplateOpen, TemplateText, TemplateClose];
  return named.includes(type) ? (type.LABEL ?? type.name) : `\`${shorten(token.image)}\``;
}
