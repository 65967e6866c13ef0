/**
 * What certainly cannot fail, and what is certainly known, without running anything. For advice only: that a value nests
 * too deeply to be printed, or that a limit is reached, is left aside.
 */

import { BUILTIN_ARITY, BUILTINS, builtinNamed } from '../vocabulary/builtins.ts';
import type { Block, Expr, Stmt } from './ast.ts';
import { blocksOf, isAtom } from './walk.ts';

/** Whether evaluating an expression can raise an error. */
export function canFail(expr: Expr): boolean {
  if (isAtom(expr)) return false;
  switch (expr.k) {
    case 'list':
      return expr.items.some(canFail);
    case 'map':
      return expr.entries.some(([key, value]) => canFail(key) || canFail(value));
    case 'template':
      return expr.parts.some((part) => typeof part !== 'string' && canFail(part));
    case 'text':
    case 'group':
    case 'eval':
      return canFail(expr.of);
    case 'unary':
      return canFail(expr.of) || ((expr.op === '-' || expr.op === '~') && expr.of.k !== 'num');
    case 'binary':
      return canFail(expr.first) || expr.rest.some(({ op, right }) => canFail(right) || !TOTAL_OPERATORS.has(op));
    case 'call': {
      const builtin = builtinNamed(expr.name.name);
      const total = builtin !== undefined && BUILTINS[builtin].takes === 'any' && expr.args.length === BUILTIN_ARITY;
      return !total || expr.args.some(canFail);
    }
    default:
      return true;
  }
}

const TOTAL_OPERATORS: ReadonlySet<string> = new Set(['and', 'or', '==', '!=']);

/** The truth of an expression that is the same in every run; undefined when that is not certain. */
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

/** Whether a statement itself can raise an error, what is in its blocks aside. */
export function statementCanFail(stmt: Stmt, globals: ReadonlySet<string>): boolean {
  switch (stmt.k) {
    case 'set': {
      const [target] = stmt.targets;
      const plain = stmt.targets.every(({ name, steps }) => steps.length === 0 && !globals.has(name.name));
      const fits = stmt.targets.length === 1 || (stmt.value.k === 'list' && stmt.value.items.length === stmt.targets.length);
      return target === undefined || !plain || !fits || canFail(stmt.value);
    }
    case 'emit':
      return canFail(stmt.value);
    case 'whisper':
      return canFail(stmt.handle) || canFail(stmt.value);
    case 'call':
      return canFail(stmt.call);
    case 'return':
      return stmt.values.some(canFail);
    case 'must':
      return canFail(stmt.cond) || constantTruth(stmt.cond) !== true;
    case 'if':
    case 'while':
      return canFail(stmt.cond);
    case 'for':
      return canFail(stmt.over) || !ITERABLE.has(stmt.over.k);
    case 'break':
    case 'continue':
    case 'on_event':
    case 'on_error':
      return false;
    case 'clear_event':
      return stmt.event !== undefined && canFail(stmt.event);
    default:
      return true;
  }
}

const ITERABLE: ReadonlySet<string> = new Set(['list', 'map', 'str', 'nil', 'template']);

/** Whether anything in a block can raise an error; what its handlers do is not looked at. */
export function blockCanFail(block: Block, globals: ReadonlySet<string>): boolean {
  return block.stmts.some(
    (stmt) => statementCanFail(stmt, globals) || blocksOf(stmt).some((inner) => blockCanFail(inner, globals)),
  );
}
