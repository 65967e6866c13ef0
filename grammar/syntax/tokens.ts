/** The token types of NeuroScript and their properties that the parser needs. */
import { createToken, type IToken, type TokenType } from 'chevrotain';
import { builtinNamed } from '../vocabulary/builtins.ts';
import { KEYWORDS, type Keyword } from '../vocabulary/keywords.ts';

const all: TokenType[] = [];

function define(name: string, label: string, ...categories: TokenType[]): TokenType {
  const type = createToken({ name, label, categories });
  all.push(type);
  return type;
}

/** Operators between two operands, except `**`. {@link precedence} gives their levels. */
export const BinaryOperator = define('BinaryOperator', 'an operator');
/** Operators before an operand. */
export const PrefixOperator = define('PrefixOperator', 'a prefix operator');
/** Keywords that name a built-in function: `len` and the mathematical functions. */
export const BuiltIn = define('BuiltIn', 'a built-in function');

const prefixWords: ReadonlySet<Keyword> = new Set<Keyword>(['no', 'not', 'some', 'typeof']);
const binaryWords: ReadonlySet<Keyword> = new Set<Keyword>(['and', 'or']);

function categoriesOf(word: Keyword): TokenType[] {
  if (prefixWords.has(word)) return [PrefixOperator];
  if (binaryWords.has(word)) return [BinaryOperator];
  return builtinNamed(word) === undefined ? [] : [BuiltIn];
}

const words = KEYWORDS.map((word): [Keyword, TokenType] => [word, define(`Word_${word}`, `\`${word}\``, ...categoriesOf(word))]);

export const keyword = Object.fromEntries(words) as Readonly<Record<Keyword, TokenType>>;

/** Words that are keywords only in one place, so that programs may use them as names. */
export const contextual = {
  together: define('Word_together', '`together`'),
  endtogether: define('Word_endtogether', '`endtogether`'),
} as const;

const mark = (name: string, image: string, ...categories: TokenType[]): TokenType => define(name, `\`${image}\``, ...categories);

/** Punctuation and operators. The image of such a token is its text. */
export const punct = {
  assign: mark('Assign', '='),
  plus: mark('Plus', '+', BinaryOperator),
  minus: mark('Minus', '-', BinaryOperator, PrefixOperator),
  star: mark('Star', '*', BinaryOperator),
  slash: mark('Slash', '/', BinaryOperator),
  percent: mark('Percent', '%', BinaryOperator),
  power: mark('Power', '**'),
  amp: mark('Amp', '&', BinaryOperator),
  pipe: mark('Pipe', '|', BinaryOperator),
  caret: mark('Caret', '^', BinaryOperator),
  tilde: mark('Tilde', '~', PrefixOperator),
  equal: mark('Equal', '==', BinaryOperator),
  unequal: mark('Unequal', '!=', BinaryOperator),
  less: mark('Less', '<', BinaryOperator),
  greater: mark('Greater', '>', BinaryOperator),
  lessEqual: mark('LessEqual', '<=', BinaryOperator),
  greaterEqual: mark('GreaterEqual', '>=', BinaryOperator),
  comma: mark('Comma', ','),
  colon: mark('Colon', ':'),
  dot: mark('Dot', '.'),
  at: mark('At', '@'),
  openParen: mark('OpenParen', '('),
  closeParen: mark('CloseParen', ')'),
  openBracket: mark('OpenBracket', '['),
  closeBracket: mark('CloseBracket', ']'),
  openBrace: mark('OpenBrace', '{'),
  closeBrace: mark('CloseBrace', '}'),
  openPlaceholder: mark('OpenPlaceholder', '{{'),
} as const;

export const Newline = define('Newline', 'the end of the line');
/** An empty token. The lexer puts it before a line that begins with none of {@link lineStarters}, so that one token of lookahead tells. */
export const NoStatement = define('NoStatement', 'no statement');
/** A `:: key: value` line. Its image is the whole text from `::` on. */
export const Metadata = define('Metadata', 'a metadata line');
export const Identifier = define('Identifier', 'a name');
export const NumberLiteral = define('NumberLiteral', 'a number');
/** Any string literal without template parts. Its image is the *value*, escapes resolved. */
export const StringLiteral = define('StringLiteral', 'a string');
/** Begins the flat token sequence of a template: open, then text and `{{` expression `}}` in any order, then close. */
export const TemplateOpen = define('TemplateOpen', 'a template string');
/** Literal text of a template. Its image is that text, symbols replaced. */
export const TemplateText = define('TemplateText', 'text');
export const PartOpen = define('PartOpen', '`{{`');
export const PartClose = define('PartClose', '`}}`');
export const TemplateClose = define('TemplateClose', 'the end of the template');

/** Every token type, for the parser. */
export const tokenTypes: readonly TokenType[] = all;

/** Keyword by its exact spelling. */
export const keywords: ReadonlyMap<string, TokenType> = new Map(words);

export function members(category: TokenType): ReadonlySet<TokenType> {
  return new Set(all.filter((type) => type.CATEGORIES?.includes(category)));
}

const levels = ['or', 'and', '|', '^', '&', '== !=', '< > <= >=', '+ -', '* / %'];
/** Binding strength of a binary operator by its text: `or` 0 … `* / %` 8. */
export const precedence: ReadonlyMap<string, number> = new Map(
  levels.flatMap((operators, level) => operators.split(' ').map((operator): [string, number] => [operator, level])),
);

/** The end keyword of the block that each keyword opens. */
export const closers: ReadonlyMap<TokenType, TokenType> = new Map([
  [keyword.func, keyword.endfunc],
  [keyword.command, keyword.endcommand],
  [keyword.on, keyword.endon],
  [keyword.if, keyword.endif],
  [keyword.while, keyword.endwhile],
  [keyword.for, keyword.endfor],
  [contextual.together, contextual.endtogether],
]);
export const blockEnds: ReadonlySet<TokenType> = new Set(closers.values());

/** The keywords that begin a statement or a block, or end a block. None of them can stand inside brackets. */
export const lineStarters: ReadonlySet<TokenType> = new Set([
  ...closers.keys(),
  ...closers.values(),
  keyword.ask,
  keyword.break,
  keyword.call,
  keyword.clear,
  keyword.clear_error,
  keyword.continue,
  keyword.else,
  keyword.emit,
  keyword.fail,
  keyword.must,
  keyword.promptuser,
  keyword.return,
  keyword.set,
  keyword.whisper,
]);

/** Tokens that complete an operand. After one of them a `-` is binary, a `[` opens an index, and a `{` opens no map. */
export const operandEnds: ReadonlySet<TokenType> = new Set([
  ...[Identifier, NumberLiteral, StringLiteral, TemplateClose],
  ...[punct.closeParen, punct.closeBracket, punct.closeBrace],
  ...[keyword.true, keyword.false, keyword.nil, keyword.last],
]);

/** A token of the lexer. Offsets count UTF-16 units of the cleaned source; `endOffset` is inclusive, as Chevrotain wants it. */
export class Token implements IToken {
  /**
   * V8 drops compiled code when the last object of a shape in it dies. An object that lives on keeps the lexer's and parser's code, of
   * which otherwise every collection of garbage between two texts would take most.
   */
  static readonly living = new Token(Newline, '\n', 0, 1);

  readonly image: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly tokenType: TokenType;
  readonly tokenTypeIdx: number;
  constructor(tokenType: TokenType, image: string, start: number, end: number) {
    this.image = image;
    this.startOffset = start;
    this.endOffset = end - 1;
    this.tokenType = tokenType;
    this.tokenTypeIdx = tokenType.tokenTypeIdx ?? 0;
  }
}
