import type { Expr } from '../../grammar/index.ts';
import type { Context } from './context.ts';
import { isShortNonNumber } from './convert.ts';
import type { Machine } from './machine.ts';

// What the compiler knows of an operand. Brackets around it make no difference.

export function variableSlot(context: Context, expr: Expr): number | undefined {
  if (expr.k === 'group') return variableSlot(context, expr.of);
  return expr.k === 'name' && context.compilers.direct ? context.scope.slot(expr.name) : undefined;
}

export function numberLiteral(expr: Expr): number | undefined {
  if (expr.k === 'group') return numberLiteral(expr.of);
  return expr.k === 'num' ? expr.v : undefined;
}

/** The text of a literal that is not numeric and keeps to the limits, so that it is never checked again. */
export function textLiteral(machine: Machine, expr: Expr): string | undefined {
  if (expr.k === 'group') return textLiteral(machine, expr.of);
  return expr.k === 'str' && isShortNonNumber(expr.v) && machine.admitsText(expr.v.length) ? expr.v : undefined;
}
