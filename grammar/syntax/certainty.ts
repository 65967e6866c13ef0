/**
 * Facts about a program that are certain without running it. The answers ignore that a value may nest too deeply to be printed and that a
 * run may reach a limit.
 */
import { BUILTIN_ARITY, BUILTINS, builtinNamed } from '../vocabulary/builtins.ts';
import type { Block, ErrorHandler, Procedure, Stmt } from './ast.ts';
import type { BinaryExpr, Expr } from './astexpressions.ts';
import { blocksOf, childrenOf, eachStatement, expressionsOf } from './walk.ts';

/** Whether evaluating an expression can raise an error. */
export function canFail(expr: Expr): boolean {
  return raises(expr) || childrenOf(expr).some(canFail);
}

/** Whether an expression can raise an error after its parts were evaluated. */
function raises(expr: Expr): boolean {
  switch (expr.k) {
    case 'unary':
      return (expr.op === '-' || expr.op === '~') && expr.of.k !== 'num';
    case 'binary':
      return expr.rest.some(({ op }) => !TOTAL_OPERATORS.has(op));
    case 'call': {
      const builtin = builtinNamed(expr.name.name);
      return builtin === undefined || BUILTINS[builtin].takes !== 'any' || expr.args.length !== BUILTIN_ARITY;
    }
    case 'power':
    case 'access':
    case 'tool':
      return true;
    default:
      return false;
  }
}

/** Operators that take any values. */
export const TOTAL_OPERATORS: ReadonlySet<string> = new Set(['and', 'or', '==', '!=']);

const ORDER: ReadonlySet<string> = new Set(['<', '>', '<=', '>=']);
const ARITHMETIC: ReadonlySet<string> = new Set(['-', '/', '%', '&', '^', '|']);
/** No number is written with these. */
const NO_NUMBER = [...'%:,;{}()[]/=!?<>@#$&*'];

/** Why an operator fails whenever it is reached: `1 < x < 9` orders a truth value, `"%d items" % n` takes text for a number; null for others. */
export function failingOperand({ first, rest: [operation, second] }: BinaryExpr): 'order' | 'text' | null {
  if (second !== undefined && ORDER.has(second.op)) return 'order';
  return ARITHMETIC.has(operation?.op ?? '') && first.k === 'str' && NO_NUMBER.some((sign) => first.v.includes(sign))
    ? 'text'
    : null;
}

/** The truth value that an expression has in every run; undefined when it is not certain. */
export function constantTruth(expr: Expr): boolean | undefined {
  switch (expr.k) {
    case 'num':
      return expr.v !== 0;
    case 'str':
      return expr.v !== '';
    case 'bool':
      return expr.v;
    case 'nil':
      return false;
    case 'list':
      return canFail(expr) ? undefined : expr.items.length > 0;
    case 'map':
      return canFail(expr) ? undefined : expr.entries.length > 0;
    case 'group':
      return constantTruth(expr.of);
    case 'unary': {
      const truth = constantTruth(expr.of);
      if (expr.op === 'some') return truth;
      return truth === undefined || (expr.op !== 'not' && expr.op !== 'no') ? undefined : !truth;
    }
    default:
      return undefined;
  }
}

/** Whether a statement itself can raise an error, apart from the statements in its blocks. */
export function statementCanFail(stmt: Stmt, globals: ReadonlySet<string>): boolean {
  if (expressionsOf(stmt).some(canFail)) return true;
  switch (stmt.k) {
    case 'set': {
      const fits = stmt.targets.length === 1 || (stmt.value.k === 'list' && stmt.value.items.length === stmt.targets.length);
      return !fits || stmt.targets.some(({ name, steps }) => steps.length > 0 || globals.has(name.name));
    }
    case 'must':
      return constantTruth(stmt.cond) !== true;
    case 'for':
      return !ITERABLE.has(stmt.over.k);
    case 'fail':
    case 'clear_error':
    case 'ask':
    case 'promptuser':
      return true;
    default:
      return false;
  }
}

const ITERABLE: ReadonlySet<string> = new Set(['list', 'map', 'str', 'nil', 'template']);

/** Whether any statement of a block can raise an error, apart from those of its handlers. */
export function blockCanFail(block: Block, globals: ReadonlySet<string>): boolean {
  return block.stmts.some(
    (stmt) => statementCanFail(stmt, globals) || blocksOf(stmt).some((inner) => blockCanFail(inner, globals)),
  );
}

/** Whether a handler clears its error before it ends. */
export function clearing({ body }: ErrorHandler): 'always' | 'sometimes' | 'never' {
  if (body.stmts.some(({ k }) => k === 'clear_error')) return 'always';
  let found = false;
  eachStatement(body, ({ k }) => {
    found ||= k === 'clear_error';
  });
  return found ? 'sometimes' : 'never';
}

/** Whether a procedure can be called with this number of arguments. */
export function acceptsCount({ needs, optional }: Procedure, count: number): boolean {
  return count >= needs.length && count <= needs.length + optional.length;
}
