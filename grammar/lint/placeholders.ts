/** Reports text in quotes that looks like a template. Only templates fill placeholders in. */
import type { Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import { eachExpression } from '../syntax/walk.ts';
import { type CheckedFile, type Environment, lint, type Report } from './finding.ts';
import { eachRoot } from './scopes.ts';

/** `{{name}}`, `${name}`. */
const FILLED = /\{\{\s*[A-Za-z_]\w*(?:[.[][^{}]*|\s*)\}\}|\$\{\s*[A-Za-z_][^{}]*\}/;

/** Checks the texts of programs that fill in none themselves, as `eval` does, and a template or a replacement by a tool. */
export function checkPlaceholders(files: readonly CheckedFile[], environment: Environment, report: Report): void {
  const texts: (readonly [CheckedFile, Extract<Expr, { k: 'str' }>])[] = [];
  let evaluates = environment.evaluates === true;
  eachRoot(files, (file, root) =>
    eachExpression(root, (expr) => {
      if (expr.k === 'eval' || (expr.k === 'tool' && fills(expr))) evaluates = true;
      if (expr.k === 'str') texts.push([file, expr]);
    }),
  );
  if (evaluates) return;
  for (const [file, text] of texts) {
    const found = (FILLED.exec(text.v) ?? FILLED.exec(text.v.replaceAll('#{', '${')))?.[0];
    if (found === undefined) continue;
    const message = `text in quotes is not a template: \`${found.slice(0, 40)}\` is not filled in`;
    report(file, lint('LINT_PLAIN_TEMPLATE', text, message, 'write a template, ```…{{name}}…```, or join text with `+`'));
  }
}

/** Whether a call fills placeholders in: `tool.template.Render(text, values)`, `tool.str.Replace(text, "{{name}}", name)`. */
function fills({ name, args }: ToolCallExpr): boolean {
  const [, ...more] = args;
  return name.startsWith('tool.template.') || more.some((arg) => arg.k === 'str' && FILLED.exec(arg.v)?.[0] === arg.v);
}
