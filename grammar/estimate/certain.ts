/** The calls without which no run of a program ends well. */
import type { SourceFile, Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { blocksOf, childrenOf, eachStatement, expressionsOf } from '../syntax/walk.ts';

/**
 * The calls of tools that every run makes at least once if it ends without an error: those of the statements of command blocks that have no
 * handler, up to the first that may return. Where no handler goes on after an error, each of these statements runs to its end.
 */
export function certainCalls(files: readonly SourceFile[]): ReadonlySet<Expr> {
  const found = new Set<Expr>();
  for (const { body } of files.flatMap(({ commands }) => commands)) {
    if (body.onError !== undefined) continue;
    for (const stmt of body.stmts) {
      if (mayReturn(stmt)) break;
      for (const expr of expressionsOf(stmt)) addCertain(expr, found);
    }
  }
  return found;
}

function mayReturn(stmt: Stmt): boolean {
  let found = stmt.k === 'return';
  for (const block of blocksOf(stmt))
    eachStatement(block, ({ k }) => {
      found ||= k === 'return';
    });
  return found;
}

function addCertain(expr: Expr, found: Set<Expr>): void {
  if (expr.k === 'tool') found.add(expr);
  // The right side of `and` and `or` may be skipped.
  const children =
    expr.k === 'binary' && expr.rest.some(({ op }) => op === 'and' || op === 'or') ? [expr.first] : childrenOf(expr);
  for (const child of children) addCertain(child, found);
}
