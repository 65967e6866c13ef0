/** Counts operations as the interpreter does: all operations of an expression, including parts that a run skips. */

import type { Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { childrenOf, expressionsOf, isAtom, targetsOf } from '../syntax/walk.ts';
import type { FuelCosts } from './costs.ts';

export function operationsOf(expr: Expr): number {
  let operations = ownOperations(expr);
  for (const child of childrenOf(expr)) operations += operationsOf(child);
  return operations;
}

function ownOperations(expr: Expr): number {
  if (isAtom(expr)) return 0;
  switch (expr.k) {
    case 'group':
      return 0;
    case 'binary':
      return expr.rest.length;
    case 'access':
      return expr.steps.length;
    case 'list':
      return 1 + expr.items.length;
    case 'map':
      return 1 + expr.entries.length;
    case 'template':
      return 1 + expr.parts.length;
    default:
      return 1;
  }
}

/** Operations that a statement is charged for when it begins. A `while` is charged for its condition at each pass. */
export function statementOperations(stmt: Stmt): number {
  if (stmt.k === 'while') return 0;
  let operations = stmt.k === 'return' && stmt.values.length > 1 ? stmt.values.length : 0;
  for (const expr of expressionsOf(stmt)) operations += operationsOf(expr);
  for (const { steps } of targetsOf(stmt)) operations += steps.length;
  return operations;
}

export function eventNameFuel({ steps }: FuelCosts, event: Expr): number {
  return steps.statement.amount + steps.operation.amount * operationsOf(event);
}
