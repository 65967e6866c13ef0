/** Operators that give true or false where a value is meant. */
import type { BinaryExpr, Expr } from '../syntax/astexpressions.ts';
import { failingOperand } from '../syntax/certainty.ts';
import { eachExpression } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';
import { eachRoot } from './scopes.ts';

/** Reports a right operand that is a plain value, `x or "default"`, `x == "a" or "b"`, and `1 < x < 9`. */
export function checkLogic(files: readonly CheckedFile[], report: Report): void {
  eachRoot(files, (file, root) =>
    eachExpression(root, (expr) => {
      if (expr.k !== 'binary') return;
      for (const term of expr.rest) checkTerm(file, term, report);
      checkOperands(file, expr, report);
    }),
  );
}

/** Whether an operator takes a plain value for a truth, as in `x or "default"`. */
export function takesPlain({ rest }: BinaryExpr): boolean {
  return rest.some(({ op, right }) => (op === 'or' || op === 'and') && isPlain(right));
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

/** Reports an operator that fails whatever the values are. */
function checkOperands(file: CheckedFile, expr: BinaryExpr, report: Report): void {
  const fails = failingOperand(expr);
  const [first, second] = expr.rest;
  if (fails === null || first === undefined) return;
  if (fails === 'text') {
    const fix = first.op === '%' ? 'fill values into a template: ```…{{x}}…```' : 'join text with `+`';
    report(file, lint('LINT_OPERAND', expr, `\`${first.op}\` takes numbers, and this is text`, fix));
    return;
  }
  const [from, between] = [expr.first, first.right].map(({ s, e }) => (e - s > 40 ? '…' : file.text.slice(s, e)));
  const message = `\`${first.op}\` gives true or false, which \`${second?.op}\` cannot compare`;
  const fix = `write \`${from} ${first.op} ${between} and ${between} ${second?.op} …\``;
  report(file, lint('LINT_OPERAND', expr, message, fix));
}

const PLAIN: ReadonlySet<Expr['k']> = new Set(['num', 'str', 'nil', 'list', 'map', 'template']);

function isPlain(expr: Expr): boolean {
  return expr.k === 'group' ? isPlain(expr.of) : PLAIN.has(expr.k);
}
