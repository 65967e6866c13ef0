/** The expressions of the abstract syntax tree. */

import type { Span } from './position.ts';

/** A name and its place in the source. */
export interface Name extends Span {
  /** The name as it is written. */
  readonly name: string;
}

/** `[expr]` or `.name`. Its span starts at the bracket or dot, where an access error is reported. */
export type AccessStep = IndexStep | FieldStep;

/** `[index]`: a list position, a map key, or a character of a string. */
export interface IndexStep extends Span {
  readonly k: 'index';
  /** The position or the key. */
  readonly index: Expr;
}

/** `.name`: the same as `['name']`. */
export interface FieldStep extends Span {
  readonly k: 'field';
  /** The key. */
  readonly name: string;
}

/** Any expression. `k` tells which. */
export type Expr =
  | NumberExpr
  | StringExpr
  | BooleanExpr
  | NilExpr
  | NameExpr
  | LastExpr
  | ListExpr
  | MapExpr
  | TemplateExpr
  | TextExpr
  | EvalExpr
  | GroupExpr
  | UnaryExpr
  | PowerExpr
  | BinaryExpr
  | AccessExpr
  | CallExpr
  | ToolCallExpr;

/** A number literal. */
export interface NumberExpr extends Span {
  readonly k: 'num';
  /** Always finite: an overflowing literal is a syntax error. */
  readonly v: number;
}

/** A string literal without placeholders, its escapes resolved. */
export interface StringExpr extends Span {
  readonly k: 'str';
  /** The text. */
  readonly v: string;
}

/** `true` or `false`. */
export interface BooleanExpr extends Span {
  readonly k: 'bool';
  /** The truth value. */
  readonly v: boolean;
}

/** `nil`. */
export interface NilExpr extends Span {
  readonly k: 'nil';
}

/** Reading a variable. */
export interface NameExpr extends Span {
  readonly k: 'name';
  /** The variable. */
  readonly name: string;
}

/** `last`: the value of the latest statement of the fork that has one. */
export interface LastExpr extends Span {
  readonly k: 'last';
}

/** `[a, b, …]`. */
export interface ListExpr extends Span {
  readonly k: 'list';
  /** The elements. */
  readonly items: readonly Expr[];
}

/** `{key: value, …}`, in the order written. A repeated key is kept: the interpreter decides which entry counts. */
export interface MapExpr extends Span {
  readonly k: 'map';
  /** Keys and values. */
  readonly entries: readonly (readonly [key: Expr, value: Expr])[];
}

/** A string with `{{ }}` parts. Literal text and symbols are plain strings, adjacent ones merged. */
export interface TemplateExpr extends Span {
  readonly k: 'template';
  /** Texts, and expressions whose text is put between them. */
  readonly parts: readonly (string | Expr)[];
}

/** A bare `{{x}}`: the text of `x`. A bare `{{@nl}}` is a {@link StringExpr}. */
export interface TextExpr extends Span {
  readonly k: 'text';
  /** The expression in the braces. */
  readonly of: Expr;
}

/** `eval(e)`: fills the placeholders of a text. */
export interface EvalExpr extends Span {
  readonly k: 'eval';
  /** The text to fill. */
  readonly of: Expr;
}

/** Parentheses, which the tree keeps for printing. */
export interface GroupExpr extends Span {
  readonly k: 'group';
  /** The expression in the parentheses. */
  readonly of: Expr;
}

/** The prefix operators. */
export type UnaryOp = '-' | '~' | 'not' | 'no' | 'some' | 'typeof';

/** A prefix operator and its operand. */
export interface UnaryExpr extends Span {
  readonly k: 'unary';
  /** The operator. */
  readonly op: UnaryOp;
  /** The operand. */
  readonly of: Expr;
}

/** `base ** exponent`, right-associative. `at` is the offset of the operator. */
export interface PowerExpr extends Span {
  readonly k: 'power';
  /** The base. */
  readonly base: Expr;
  /** Offset of the operator. */
  readonly at: number;
  /** The exponent. */
  readonly exponent: Expr;
}

/** The operators of {@link BinaryExpr}, loosest first. */
export type BinaryOp = 'or' | 'and' | '|' | '^' | '&' | '==' | '!=' | '<' | '>' | '<=' | '>=' | '+' | '-' | '*' | '/' | '%';

/** A left-associative run of operators of one precedence level: `first op right op right …`. `at` is each operator's offset. */
export interface BinaryExpr extends Span {
  readonly k: 'binary';
  /** The leftmost operand. */
  readonly first: Expr;
  /** The operators with their right operands; at least one. */
  readonly rest: readonly { readonly op: BinaryOp; readonly at: number; readonly right: Expr }[];
}

/** `base[i].name…`: one node for all steps of the chain. */
export interface AccessExpr extends Span {
  readonly k: 'access';
  /** The container. */
  readonly base: Expr;
  /** The steps in order; at least one. */
  readonly steps: readonly AccessStep[];
}

/** A call of a built-in function or a procedure. A built-in function wins, and its name ignores letter case. */
export interface CallExpr extends Span {
  readonly k: 'call';
  /** The function. */
  readonly name: Name;
  /** The arguments in order. */
  readonly args: readonly Expr[];
}

/** A call of a tool. */
export interface ToolCallExpr extends Span {
  readonly k: 'tool';
  /** Canonical name: lower case, with exactly one `tool.` in front, such as `tool.str.length`. */
  readonly name: string;
  /** The name as written, for messages and printing, such as `tool.str.Length`. */
  readonly written: string;
  /** The arguments in order. */
  readonly args: readonly Expr[];
}
