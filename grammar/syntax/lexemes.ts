/** The tokens and comments of a source as plain data, for editors and highlighters. Works for sources with errors, too. */
import type { TokenType } from 'chevrotain';
import { commentsOf } from './comments.ts';
import { asksForDoubleBrackets } from './metadata.ts';
import type { Span } from './position.ts';
import { scan } from './scan.ts';
import {
  BinaryOperator,
  contextual,
  Identifier,
  keyword,
  keywords,
  Metadata,
  members,
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
} from './tokens.ts';

/** The kinds of lexemes. Words such as `and` are keywords; `text` is the literal text of a template or its delimiters. */
export type LexemeKind =
  | 'keyword'
  | 'name'
  | 'number'
  | 'string'
  | 'text'
  | 'placeholder'
  | 'operator'
  | 'punctuation'
  | 'metadata'
  | 'comment';

/** One token or comment. */
export interface Lexeme extends Span {
  /** The kind of lexeme. */
  readonly kind: LexemeKind;
  /** The token as written; for a string its value, without quotes and with escapes resolved. */
  readonly image: string;
}

/**
 * The tokens and comments of a text in their order, without line ends. `doubleBrackets` as in `ParseOptions`; by default the header
 * decides.
 */
export function lexemesOf(text: string, doubleBrackets = asksForDoubleBrackets(text)): readonly Lexeme[] {
  const { tokens } = scan(text, doubleBrackets);
  let loop = false;
  const found = tokens.flatMap(({ tokenType, image, startOffset: s, endOffset }, index): Lexeme[] => {
    if (tokenType === keyword.for || tokenType === Newline) loop = tokenType === keyword.for;
    // `together` ends the head of a loop; elsewhere it is a name.
    const ends = loop && image === 'together' && (tokens[index + 1]?.tokenType ?? Newline) === Newline;
    const kind = ends ? 'keyword' : kindOf.get(tokenType);
    return kind === undefined ? [] : [{ kind, image, s, e: endOffset + 1 }];
  });
  const comments = commentsOf(text, tokens).map(({ s, e }): Lexeme => ({ kind: 'comment', image: text.slice(s, e), s, e }));
  return comments.length === 0 ? found : [...found, ...comments].sort((a, b) => a.s - b.s);
}

const words = new Set(keywords.values());
const operators = new Set([...members(BinaryOperator), ...members(PrefixOperator), punct.power, punct.assign]);

const kindOf: ReadonlyMap<TokenType, LexemeKind> = new Map<TokenType, LexemeKind>([
  ...Object.values(punct).map((type): [TokenType, LexemeKind] => [type, operators.has(type) ? 'operator' : 'punctuation']),
  ...[...words].map((type): [TokenType, LexemeKind] => [type, 'keyword']),
  ...Object.values(contextual).map((type): [TokenType, LexemeKind] => [type, 'keyword']),
  [Identifier, 'name'],
  [NumberLiteral, 'number'],
  [StringLiteral, 'string'],
  [TemplateOpen, 'text'],
  [TemplateText, 'text'],
  [TemplateClose, 'text'],
  [punct.openPlaceholder, 'placeholder'],
  [PartOpen, 'placeholder'],
  [PartClose, 'placeholder'],
  [Metadata, 'metadata'],
]);
