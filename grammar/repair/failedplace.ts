/** The part of a program that failed, and where its values come from. */

import type { CheckedFile, Failed } from '../lint/finding.ts';
import type { Stmt } from '../syntax/ast.ts';
import type { AccessExpr, Expr } from '../syntax/astexpressions.ts';
import { allOf, bodiesOf, eachStatement, loopNames, targetsOf } from '../syntax/walk.ts';

/** The part of a program that failed. */
export interface Failure extends Pick<Failed, 'message' | 'hint'> {
  readonly text: string;
  /** Offset of the operation. */
  readonly at: number;
  /** All statements, in the order of the text. */
  readonly stmts: readonly Stmt[];
  /** The statements around the place, the innermost last. */
  readonly around: readonly Stmt[];
}

/** The statements of a file, and those around an offset. */
export function failureAt({ file, text }: CheckedFile, at: number, { message, hint }: Failed): Failure {
  const stmts: Stmt[] = [];
  for (const body of bodiesOf(file)) eachStatement(body, (stmt) => stmts.push(stmt));
  return { text, message, hint, at, stmts, around: stmts.filter(({ s, e }) => s <= at && at < e) };
}

/** The value of the only statement that sets a variable as a whole; undefined where there are others. */
export function onlyValue({ stmts }: Failure, variable: string): Expr | undefined {
  const sets = (stmt: Stmt): boolean => targetsOf(stmt).some(({ name, steps }) => name.name === variable && steps.length === 0);
  const [first, ...more] = stmts.filter((stmt) => sets(stmt) || (stmt.k === 'for' && loopNames(stmt).includes(variable)));
  return first?.k === 'set' && more.length === 0 ? first.value : undefined;
}

/** The expression that gives a value: that of the only statement that sets its variable, or itself. */
export function originOf(failure: Failure, expr: Expr): Expr | undefined {
  return expr.k === 'name' ? onlyValue(failure, expr.name) : expr;
}

/** The statements of a block, and those in them. */
export function insideOf(block: Stmt | undefined, { stmts }: Failure): readonly Stmt[] {
  return stmts.filter(({ s, e }) => block !== undefined && block.s < s && e <= block.e);
}

export function accessesIn(stmts: readonly Stmt[]): readonly AccessExpr[] {
  return stmts.flatMap(allOf).filter((expr) => expr.k === 'access');
}
