/** `and` and `or` with a plain value on the right. They return true or false, never one of their operands. */
import type { BinaryExpr, Expr } from '../syntax/astexpressions.ts';
import { eachExpression } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';
import { eachRoot } from './scopes.ts';

/** Reports a right operand that is a plain value: `x or "default"`, `x == "a" or "b"`. */
export function checkLogic(files: readonly CheckedFile[], report: Report): void {
  eachRoot(files, (file, root) =>
    eachExpression(root, (expr) => {
      if (expr.k === 'binary') for (const term of expr.rest) checkTerm(file, term, report);
    }),
  );
}

function checkTerm(file: CheckedFile, { op, right }: BinaryExpr['rest'][number], report: Report): void {
  if ((op !== 'or' && op !== 'and') || !isPlain(right)) return;
  const message = `\`${op}\` returns true or false, never one of its operands`;
  const fix =
    op === 'or'
      ? 'for a default, write `if is_nil(x)`, `set x = …`, `endif`; to compare with several values, repeat the comparison'
      : 'write `if` … `endif`';
  report(file, lint('LINT_LOGIC_VALUE', right, message, fix));
}

const PLAIN: ReadonlySet<Expr['k']> = new Set(['num', 'str', 'nil', 'list', 'map', 'template']);

function isPlain(expr: Expr): boolean {
  return expr.k === 'group' ? isPlain(expr.of) : PLAIN.has(expr.k);
}
