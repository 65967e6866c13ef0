/** What the estimator knows about statements before it follows them. */

import type { Block, ErrorHandler } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { constantTruth } from '../syntax/certainty.ts';
import { childrenOf, eachStatement, isAtom, loopNames, targetsOf } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';

/** Holds the result of a procedure among its variables. The blank keeps it from being a variable's name. */
export const RESULT = ' result';

/** Why a loop has no bound. `certain` says that every pass that was followed had a certain successor. */
export function whyEndless(cond: Expr, certain: boolean): string {
  if (constantTruth(cond) === true) return 'the condition of this `while` never becomes false';
  return certain ? 'this `while` has too many passes to follow' : 'the number of passes of this `while` is not known';
}

/** The variables that the statements of a block may set, or the handler around it after one of them fails. */
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

/** Whether evaluating an expression raises no error, whatever the size of its values. */
export function isHarmless(expr: Expr): boolean {
  return cannotRaise(expr) && childrenOf(expr).every(isHarmless);
}

/** Whether an expression raises no error after its parts were evaluated. */
function cannotRaise(expr: Expr): boolean {
  switch (expr.k) {
    case 'group':
    case 'list':
      return true;
    case 'map':
      return expr.entries.every(([key]) => key.k === 'str');
    case 'unary':
      return expr.op === 'not' || expr.op === 'no' || expr.op === 'some' || expr.op === 'typeof';
    case 'binary':
      return expr.rest.every(({ op }) => op === 'and' || op === 'or');
    default:
      return isAtom(expr);
  }
}
