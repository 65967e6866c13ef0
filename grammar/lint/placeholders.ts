/** Texts in quotes that look as if something were filled in: only templates do that (language.md 1.8, 1.9). */
import type { Expr } from '../syntax/ast.ts';
import { eachExpression } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';
import { eachRoot } from './scopes.ts';

/** `{{name}}`, `${name}`. */
const FILLED = /\{\{\s*[A-Za-z_]\w*(?:[.[][^{}]*)?\s*\}\}|\$\{\s*[A-Za-z_]\w*[^{}]*\}/;

/** Reports them in programs without `eval`, which may fill in any text. */
export function checkFills(files: readonly CheckedFile[], report: Report): void {
  const texts: (readonly [CheckedFile, Extract<Expr, { k: 'str' }>])[] = [];
  let evaluates = false;
  eachRoot(files, (file, root) =>
    eachExpression(root, (expr) => {
      if (expr.k === 'eval') evaluates = true;
      if (expr.k === 'str') texts.push([file, expr]);
    }),
  );
  if (evaluates) return;
  for (const [file, text] of texts) {
    const found = FILLED.exec(text.v)?.[0];
    if (found === undefined) continue;
    const message = `nothing is filled in here: \`${found.slice(0, 40)}\` is plain text in quotes`;
    report(file, lint('LINT_PLAIN_TEMPLATE', text, message, 'write the text as ```…{{name}}…```, or join with `+`'));
  }
}
