/** Where a program needs a value that is not nil. */
import type { Stmt } from '../syntax/ast.ts';
import type { Expr, NameExpr } from '../syntax/astexpressions.ts';
import { TOTAL_OPERATORS } from '../syntax/certainty.ts';
import { childrenOf } from '../syntax/walk.ts';
import { BUILTINS, builtinNamed } from '../vocabulary/builtins.ts';

/** Statements that run with nil as their value. */
export const TAKES_NIL: ReadonlySet<Stmt['k']> = new Set(['emit', 'if', 'while', 'for', 'return']);

/** Visits the variables in an expression. `nil`: whether nil does as the value of the expression, and as that of the variable. */
export function eachRead(expr: Expr, nil: boolean, visit: (name: NameExpr, nil: boolean) => void): void {
  if (expr.k === 'name') visit(expr, nil);
  else for (const child of childrenOf(expr)) eachRead(child, takesNil(expr) && (nil || !isPassedOn(expr)), visit);
}

/** Whether an expression can be evaluated where nil is one of its parts. */
function takesNil(expr: Expr): boolean {
  switch (expr.k) {
    case 'group':
    case 'list':
    case 'text':
    case 'template':
      return true;
    case 'unary':
      return expr.op !== '-' && expr.op !== '~';
    case 'binary':
      return expr.rest.every(({ op }) => TOTAL_OPERATORS.has(op));
    case 'call': {
      const builtin = builtinNamed(expr.name.name);
      return builtin !== undefined && BUILTINS[builtin].takes === 'any';
    }
    default:
      return false;
  }
}

/** Whether the value of an expression is, or holds, that of its part. */
function isPassedOn({ k }: Expr): boolean {
  return k === 'group' || k === 'list';
}
