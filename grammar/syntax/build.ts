/** Builders of the syntax nodes that need more than a literal: operator chains, templates, spans of tokens. */
import type { IToken } from 'chevrotain';
import type { BinaryExpr, BinaryOp, Expr, Name, PowerExpr, UnaryExpr, UnaryOp } from './astexpressions.ts';
import { precedence } from './tokens.ts';

export function endOf(token: IToken): number {
  return (token.endOffset ?? token.startOffset - 1) + 1;
}

export function nameOf(token: IToken): Name {
  return { name: token.image, s: token.startOffset, e: endOf(token) };
}

const binaryOps: ReadonlySet<string> = new Set(precedence.keys());
function isBinaryOp(text: string): text is BinaryOp {
  return binaryOps.has(text);
}
const unaryOps: ReadonlySet<string> = new Set<UnaryOp>(['-', '~', 'not', 'no', 'some', 'typeof']);
function isUnaryOp(text: string): text is UnaryOp {
  return unaryOps.has(text);
}

/** Operators of one precedence level with their operands, the last right operand missing. */
interface OperatorRun {
  readonly level: number;
  readonly first: Expr;
  readonly rest: { op: BinaryOp; at: number; right: Expr }[];
  op: BinaryOp;
  at: number;
}

/** Turns `a op b op c …`, as it is read, into nodes by precedence: one flat node for each run of one level. */
export class Chain {
  /** See `Token.living`. */
  static readonly living = new Chain({ k: 'nil', s: 0, e: 3 });

  /** Runs without their last right operand, loosest first. */
  readonly #runs: OperatorRun[] = [];
  #operand: Expr;

  constructor(first: Expr) {
    this.#operand = first;
  }

  add(operator: IToken, right: Expr): void {
    const op = operator.image;
    if (!isBinaryOp(op)) return;
    const level = precedence.get(op) ?? 0;
    this.#closeAbove(level);
    const run = this.#runs.at(-1);
    if (run !== undefined && run.level === level) {
      run.rest.push({ op: run.op, at: run.at, right: this.#operand });
      run.op = op;
      run.at = operator.startOffset;
    } else {
      this.#runs.push({ level, first: this.#operand, rest: [], op, at: operator.startOffset });
    }
    this.#operand = right;
  }

  done(): Expr {
    this.#closeAbove(-1);
    return this.#operand;
  }

  #closeAbove(level: number): void {
    for (let run = this.#runs.at(-1); run !== undefined && run.level > level; run = this.#runs.at(-1)) {
      this.#runs.pop();
      run.rest.push({ op: run.op, at: run.at, right: this.#operand });
      const whole: BinaryExpr = { k: 'binary', first: run.first, rest: run.rest, s: run.first.s, e: this.#operand.e };
      this.#operand = whole;
    }
  }
}

/** `base ** a ** b`, right-associative. */
export function powers(base: Expr, exponents: readonly { readonly at: number; readonly value: Expr }[]): Expr {
  const last = exponents.at(-1);
  if (last === undefined) return base;
  let exponent = last.value;
  for (let i = exponents.length - 1; i >= 0; i--) {
    const left = exponents[i - 1]?.value ?? base;
    const power: PowerExpr = { k: 'power', base: left, at: exponents[i]?.at ?? 0, exponent, s: left.s, e: exponent.e };
    exponent = power;
  }
  return exponent;
}

/** Prefix operators around an operand. The last operator is the innermost. */
export function prefixes(operators: readonly IToken[], operand: Expr): Expr {
  let inner = operand;
  for (let i = operators.length - 1; i >= 0; i--) {
    const operator = operators[i];
    if (operator === undefined || !isUnaryOp(operator.image)) continue;
    const unary: UnaryExpr = { k: 'unary', op: operator.image, of: inner, s: operator.startOffset, e: inner.e };
    inner = unary;
  }
  return inner;
}

/** A template of these parts, adjacent texts merged. Without an expression it is a plain string. */
export function template(parts: readonly (string | Expr)[], s: number, e: number): Expr {
  const merged: (string | Expr)[] = [];
  for (const part of parts) {
    const before = merged.at(-1);
    if (typeof part === 'string' && typeof before === 'string') merged[merged.length - 1] = before + part;
    else merged.push(part);
  }
  const [only = ''] = merged;
  if (merged.length < 2 && typeof only === 'string') return { k: 'str', v: only, s, e };
  return { k: 'template', parts: merged, s, e };
}
