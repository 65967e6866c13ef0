/** What is certain about statements before they are followed. */

import type { Block, ErrorHandler, Expr } from '../syntax/ast.ts';
import { constantTruth } from '../syntax/certainty.ts';
import { eachStatement, isAtom, loopNames, targetsOf } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';

/** What a procedure gives, kept beside its variables: under names that no variable has. */
export const RESULT = ' result';

/** Why a loop has no bound; `certain`: as far as it was followed, there was always a next pass. */
export function whyEndless(cond: Expr, certain: boolean): string {
  if (constantTruth(cond) === true) return 'the condition of this `while` never ends it';
  return certain ? 'this `while` runs too often to be followed' : 'nothing tells how often this `while` runs';
}

/** The variables that the statements of a block may set, and the handler around it when one of them fails. */
export function changedIn(body: Block, handler: ErrorHandler | undefined): readonly string[] {
  const changed = new Set<string>([RESULT, ...ERROR_VARIABLES]);
  for (const block of handler === undefined ? [body] : [body, handler.body]) {
    eachStatement(block, (stmt) => {
      for (const { name } of targetsOf(stmt)) changed.add(name.name);
      if (stmt.k === 'for') for (const name of loopNames(stmt)) changed.add(name);
    });
  }
  return [...changed];
}

/** Whether evaluating an expression certainly raises no error, at whatever size of its values. */
export function isHarmless(expr: Expr): boolean {
  if (isAtom(expr)) return true;
  switch (expr.k) {
    case 'group':
      return isHarmless(expr.of);
    case 'list':
      return expr.items.every(isHarmless);
    case 'map':
      return expr.entries.every(([key, value]) => key.k === 'str' && isHarmless(value));
    case 'unary':
      return (expr.op === 'not' || expr.op === 'no' || expr.op === 'some' || expr.op === 'typeof') && isHarmless(expr.of);
    case 'binary':
      return isHarmless(expr.first) && expr.rest.every(({ op, right }) => (op === 'and' || op === 'or') && isHarmless(right));
    default:
      return false;
  }
}
