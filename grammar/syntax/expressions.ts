/** The expression half of the grammar. */
import {
  EmbeddedActionsParser,
  type IOrAlt,
  type IToken,
  MismatchedTokenException,
  type ParserMethod,
  type TokenType,
} from 'chevrotain';
import { canonicalName } from '../vocabulary/names.ts';
import type { Target } from './ast.ts';
import type { AccessStep, CallExpr, Expr, ToolCallExpr } from './astexpressions.ts';
import { Chain, endOf, nameOf, powers, prefixes, template } from './build.ts';
import { symbols } from './strings.ts';
import {
  BinaryOperator,
  BuiltIn,
  Identifier,
  keyword,
  members,
  NumberLiteral,
  PartClose,
  PartOpen,
  PrefixOperator,
  punct,
  StringLiteral,
  TemplateClose,
  TemplateOpen,
  TemplateText,
  tokenTypes,
} from './tokens.ts';

/** A rule of the grammar: what it returns, and its arguments. */
export type Rule<T, A extends unknown[] = []> = ParserMethod<A, T>;

/** A placeholder for a result while the grammar is recorded. */
const nothing: Expr = { k: 'nil', s: 0, e: 0 };

const binaryOperators = members(BinaryOperator);
const prefixOperators = members(PrefixOperator);
const builtIns = members(BuiltIn);
const stepStarts: ReadonlySet<TokenType> = new Set([punct.openBracket, punct.dot]);

/** Tokens that can begin an operand, apart from prefix operators. */
const operandStarts: ReadonlySet<TokenType> = new Set([
  ...[NumberLiteral, StringLiteral, Identifier, TemplateOpen, ...builtIns],
  ...[keyword.true, keyword.false, keyword.nil, keyword.last, keyword.eval, keyword.tool],
  ...[punct.openParen, punct.openBracket, punct.openBrace, punct.openPlaceholder],
]);

/** Whether a token can begin an expression. */
export function startsExpression(type: TokenType): boolean {
  return operandStarts.has(type) || prefixOperators.has(type);
}

/** How a mismatch names what it expected. */
const wordsFor = ({ LABEL, name }: TokenType): string => LABEL ?? name;

/**
 * The rules return syntax nodes directly, by embedded actions, without a concrete syntax tree. Every decision needs one token
 * of lookahead. A mismatch throws Chevrotain's exception, whose message names what was expected; the statement rules catch it.
 */
export abstract class ExpressionParser extends EmbeddedActionsParser {
  constructor(skipValidations: boolean) {
    super([...tokenTypes], {
      maxLookahead: 1,
      recoveryEnabled: false,
      skipValidations,
      errorMessageProvider: {
        buildMismatchTokenMessage: ({ expected }) => wordsFor(expected),
        buildNotAllInputParsedMessage: () => 'the end of the file',
        buildNoViableAltMessage: () => 'something else',
        buildEarlyExitMessage: () => 'something more',
      },
    });
  }

  /** Ends the current rule with a mismatch at the next token. `expected` is a noun phrase. */
  protected mismatch(expected: string): never {
    // The constructor would capture two stack traces that nobody reads, which takes longer than parsing the line.
    const mismatch = Object.create(MismatchedTokenException.prototype);
    throw Object.assign(mismatch, { name: 'MismatchedTokenException', message: expected });
  }

  /** What Chevrotain calls for a token that does not fit. Its own method would also name all rules under way, for a log that nobody reads. */
  protected consumeInternalError(expected: TokenType): never {
    return this.mismatch(wordsFor(expected));
  }

  /** What Chevrotain calls when no alternative fits, which no known source reaches. Its own method needs the analysed grammar, for a list that nobody reads. */
  protected raiseNoAltException(): never {
    return this.mismatch('something else');
  }

  /** The offset after the last token read. */
  protected end(): number {
    return endOf(this.LA(0));
  }

  // Nested brackets recurse through the rules below up to 200 times, on stacks as small as Node's default. Each of Chevrotain's
  // repetitions costs four to five stack frames, so these rules repeat with plain loops. By measurement that takes 20 frames a
  // level instead of 46 and parses twice as fast. The recording phase uses the usual methods, for Chevrotain's analysis.

  /** `operand { operator operand }`. {@link Chain} applies precedence while reading. */
  readonly expression: Rule<Expr> = this.RULE('expression', (): Expr => {
    const first = this.SUBRULE(this.#operand);
    let chain: Chain | undefined;
    while (binaryOperators.has(this.LA(1).tokenType)) {
      const operator = this.#take();
      chain ??= new Chain(first);
      chain.add(operator, this.SUBRULE2(this.#operand));
    }
    return chain === undefined ? first : chain.done();
  });

  /** Prefix operators, then a primary with its accessors, or a chain of `**` of those. */
  readonly #operand: Rule<Expr> = this.RULE('operand', (): Expr => {
    if (this.RECORDING_PHASE) {
      this.MANY(() => this.CONSUME(PrefixOperator));
      this.OR(this.#primaries);
      this.SUBRULE(this.#step);
      return nothing;
    }
    let operators: IToken[] | undefined;
    while (prefixOperators.has(this.LA(1).tokenType)) {
      operators ??= [];
      operators.push(this.#take());
    }
    const base = this.#access();
    let exponents: { at: number; value: Expr }[] | undefined;
    while (this.LA(1).tokenType === punct.power) {
      exponents ??= [];
      exponents.push({ at: this.#take().startOffset, value: this.#access() });
    }
    const value = exponents === undefined ? base : powers(base, exponents);
    return operators === undefined ? value : prefixes(operators, value);
  });

  #access(): Expr {
    if (!operandStarts.has(this.LA(1).tokenType)) this.mismatch('a value');
    const base = this.OR(this.#primaries);
    let steps: AccessStep[] | undefined;
    while (stepStarts.has(this.LA(1).tokenType)) {
      steps ??= [];
      steps.push(this.SUBRULE(this.#step));
    }
    return steps === undefined ? base : { k: 'access', base, steps, s: base.s, e: this.end() };
  }

  #take(): IToken {
    const token = this.LA(1);
    this.SKIP_TOKEN();
    return token;
  }

  /** Reads the next token if it is of this type. Returns whether it was. */
  #accepts(type: TokenType): boolean {
    if (this.LA(1).tokenType !== type) return false;
    this.SKIP_TOKEN();
    return true;
  }

  // The alternatives are made once: making an array of closures at every operand would cost more than parsing.
  readonly #primaries: [IOrAlt<Expr>, ...IOrAlt<Expr>[]] = [
    { ALT: () => this.#number(this.CONSUME(NumberLiteral)) },
    { ALT: () => this.#string(this.CONSUME(StringLiteral)) },
    { ALT: () => this.SUBRULE(this.#nameOrCall) },
    { ALT: () => this.#boolean(this.CONSUME(keyword.true), true) },
    { ALT: () => this.#boolean(this.CONSUME(keyword.false), false) },
    { ALT: () => this.#simple(this.CONSUME(keyword.nil), 'nil') },
    { ALT: () => this.#simple(this.CONSUME(keyword.last), 'last') },
    { ALT: () => this.SUBRULE(this.#group) },
    { ALT: () => this.SUBRULE(this.#list) },
    { ALT: () => this.SUBRULE(this.#map) },
    { ALT: () => this.SUBRULE(this.#template) },
    { ALT: () => this.SUBRULE(this.#toolCall) },
    { ALT: () => this.SUBRULE(this.#builtInCall) },
    { ALT: () => this.SUBRULE(this.#evaluation) },
    { ALT: () => this.SUBRULE(this.#placeholder) },
  ];

  #number(token: IToken): Expr {
    return { k: 'num', v: Number(token.image), s: token.startOffset, e: endOf(token) };
  }

  #string(token: IToken): Expr {
    return { k: 'str', v: token.image, s: token.startOffset, e: endOf(token) };
  }

  #boolean(token: IToken, v: boolean): Expr {
    return { k: 'bool', v, s: token.startOffset, e: endOf(token) };
  }

  #simple(token: IToken, k: 'nil' | 'last'): Expr {
    return { k, s: token.startOffset, e: endOf(token) };
  }

  readonly #group: Rule<Expr> = this.RULE('group', (): Expr => {
    const s = this.CONSUME(punct.openParen).startOffset;
    const of = this.SUBRULE(this.expression);
    this.CONSUME(punct.closeParen);
    return { k: 'group', of, s, e: this.end() };
  });

  readonly #list: Rule<Expr> = this.RULE('list', (): Expr => {
    const s = this.CONSUME(punct.openBracket).startOffset;
    const items = this.#items();
    this.CONSUME(punct.closeBracket);
    return { k: 'list', items, s, e: this.end() };
  });

  /** Expressions between brackets; one trailing comma is allowed. Part of the rule that calls it. */
  #items(): Expr[] {
    const items: Expr[] = [];
    if (this.RECORDING_PHASE) this.SUBRULE(this.expression);
    while (startsExpression(this.LA(1).tokenType)) {
      items.push(this.SUBRULE(this.expression));
      if (!this.#accepts(punct.comma)) break;
    }
    return items;
  }

  readonly #map: Rule<Expr> = this.RULE('map', (): Expr => {
    const s = this.CONSUME(punct.openBrace).startOffset;
    const entries: (readonly [Expr, Expr])[] = [];
    if (this.RECORDING_PHASE) this.SUBRULE(this.expression);
    while (startsExpression(this.LA(1).tokenType)) {
      const key = this.SUBRULE(this.expression);
      this.CONSUME(punct.colon);
      entries.push([key, this.SUBRULE2(this.expression)]);
      if (!this.#accepts(punct.comma)) break;
    }
    this.CONSUME(punct.closeBrace);
    return { k: 'map', entries, s, e: this.end() };
  });

  /** A template, which the lexer has cut into texts and expressions. */
  readonly #template: Rule<Expr> = this.RULE('template', (): Expr => {
    const s = this.CONSUME(TemplateOpen).startOffset;
    const parts: (string | Expr)[] = [];
    this.MANY(() => {
      this.OR([
        { ALT: () => parts.push(this.CONSUME(TemplateText).image) },
        {
          ALT: () => {
            this.CONSUME(PartOpen);
            parts.push(this.SUBRULE(this.expression));
            this.CONSUME(PartClose);
          },
        },
      ]);
    });
    this.CONSUME(TemplateClose);
    return this.ACTION(() => template(parts, s, this.end()));
  });

  /** A bare `{{x}}`, `{{@nl}}` or `{{last}}`. */
  readonly #placeholder: Rule<Expr> = this.RULE('placeholder', (): Expr => {
    const s = this.CONSUME(punct.openPlaceholder).startOffset;
    let symbol: string | undefined;
    let of: Expr | undefined;
    const next = this.LA(1).tokenType;
    if (!this.RECORDING_PHASE && next !== punct.at && !startsExpression(next)) this.mismatch('a value');
    this.OR([
      {
        ALT: () => {
          this.CONSUME(punct.at);
          symbol = this.CONSUME(Identifier).image;
        },
      },
      {
        ALT: () => {
          of = this.SUBRULE(this.expression);
        },
      },
    ]);
    this.CONSUME(punct.closeBrace);
    this.CONSUME2(punct.closeBrace);
    return this.#placeholderNode(s, this.end(), symbol, of);
  });

  #placeholderNode(s: number, e: number, symbol: string | undefined, of: Expr | undefined): Expr {
    if (of === undefined) return { k: 'str', v: symbols.get(symbol ?? '') ?? `{{@${symbol}}}`, s, e };
    const isLast = of.k === 'name' && of.name.toUpperCase() === 'LAST';
    return { k: 'text', of: isLast ? { k: 'last', s: of.s, e: of.e } : of, s, e };
  }

  readonly #step: Rule<AccessStep> = this.RULE('step', (): AccessStep => this.OR(this.#steps));

  readonly #steps: [IOrAlt<AccessStep>, ...IOrAlt<AccessStep>[]] = [
    {
      ALT: () => {
        const s = this.CONSUME(punct.openBracket).startOffset;
        const index = this.SUBRULE(this.expression);
        this.CONSUME(punct.closeBracket);
        return { k: 'index', index, s, e: this.end() };
      },
    },
    {
      ALT: () => {
        const s = this.CONSUME(punct.dot).startOffset;
        const name = this.CONSUME(Identifier).image;
        return { k: 'field', name, s, e: this.end() };
      },
    },
  ];

  readonly #nameOrCall: Rule<Expr> = this.RULE('nameOrCall', (): Expr => {
    const token = this.CONSUME(Identifier);
    if (this.RECORDING_PHASE) this.#args();
    if (this.LA(1).tokenType !== punct.openParen) return { k: 'name', name: token.image, s: token.startOffset, e: endOf(token) };
    return this.#call(token);
  });

  /** The arguments of a call, in their parentheses. Part of the rule that calls it. */
  #args(): Expr[] {
    this.CONSUME(punct.openParen);
    const args = this.#items();
    this.CONSUME(punct.closeParen);
    return args;
  }

  #call(token: IToken): CallExpr {
    const args = this.#args();
    return { k: 'call', name: nameOf(token), args, s: token.startOffset, e: this.end() };
  }

  readonly #builtInCall: Rule<CallExpr> = this.RULE('builtInCall', (): CallExpr => this.#call(this.CONSUME(BuiltIn)));

  readonly #toolCall: Rule<ToolCallExpr> = this.RULE('toolCall', (): ToolCallExpr => {
    const s = this.CONSUME(keyword.tool).startOffset;
    const segments: string[] = [];
    this.CONSUME(punct.dot);
    segments.push(this.CONSUME(Identifier).image);
    this.MANY(() => {
      this.CONSUME2(punct.dot);
      segments.push(this.CONSUME2(Identifier).image);
    });
    const args = this.#args();
    const written = ['tool', ...segments].join('.');
    return { k: 'tool', name: canonicalName(written), written, args, s, e: this.end() };
  });

  readonly #evaluation: Rule<Expr> = this.RULE('evaluation', (): Expr => {
    const s = this.CONSUME(keyword.eval).startOffset;
    this.CONSUME(punct.openParen);
    const of = this.SUBRULE(this.expression);
    this.CONSUME(punct.closeParen);
    return { k: 'eval', of, s, e: this.end() };
  });

  /** The operand of `call`: any call, without accessors. */
  readonly callable: Rule<CallExpr | ToolCallExpr> = this.RULE('callable', (): CallExpr | ToolCallExpr => {
    const type = this.LA(1).tokenType;
    const fits = type === Identifier || type === keyword.tool || builtIns.has(type);
    if (!this.RECORDING_PHASE && !fits) this.mismatch('the name of a procedure, a built-in function or a tool');
    return this.OR([
      {
        ALT: (): CallExpr => this.#call(this.CONSUME(Identifier)),
      },
      { ALT: () => this.SUBRULE(this.#toolCall) },
      { ALT: () => this.SUBRULE(this.#builtInCall) },
    ]);
  });

  /** The target of `set` and `into`. */
  readonly target: Rule<Target> = this.RULE('target', (): Target => {
    const token = this.CONSUME(Identifier);
    const steps: AccessStep[] = [];
    this.MANY(() => steps.push(this.SUBRULE(this.#step)));
    return { name: nameOf(token), steps, s: token.startOffset, e: this.end() };
  });
}
