/** Patterns in which an escape of the text takes the place of one of the pattern, or in the place of the text that they search. */
import type { Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import { eachExpression } from '../syntax/walk.ts';
import { type CheckedFile, type Environment, lint, type Report } from './finding.ts';
import { eachRoot } from './scopes.ts';

/** The tools whose first argument is a pattern, by canonical name. */
const PATTERNED: ReadonlySet<string> = new Set([
  ...['match', 'find', 'findall', 'groups', 'replace', 'split'].map((name) => `tool.regex.${name}`),
  ...['matchregex', 'findallregex', 'replaceregex'].map((name) => `tool.str.${name}`),
]);

/** Whether an expression seems to hold data, as `line` or `ticket["text"]`, and not a pattern, as its name would say. */
function isData({ text }: CheckedFile, { k, s, e }: Expr): boolean {
  const written = text.slice(s, e).toLowerCase();
  return (k === 'name' || k === 'access') && !written.includes('pattern') && !written.includes('regex');
}

/** Reports `"\b"` in a pattern: the text has a backspace there, and the pattern no word boundary. And a literal after the data it is for. */
export function checkPatterns(files: readonly CheckedFile[], report: Report): void {
  eachRoot(files, (file, root) =>
    eachExpression(root, (expr) => {
      const [pattern, text] = expr.k === 'tool' && PATTERNED.has(expr.name) ? expr.args : [];
      if (pattern === undefined || text === undefined) return;
      checkEscapes(file, pattern, report);
      if (text.k === 'str' && isData(file, pattern)) reportOrder(file, pattern, text, report);
    }),
  );
}

function reportOrder(file: CheckedFile, pattern: Expr, text: Expr, report: Report): void {
  const edits = [
    [pattern, text],
    [text, pattern],
  ] as const;
  const swapped = edits.map(([{ s, e }, by]) => ({ s, e, text: file.text.slice(by.s, by.e) }));
  report(file, lint('LINT_PATTERN', text, 'the pattern comes first, then the text', 'exchange the two arguments', swapped));
}

function checkEscapes(file: CheckedFile, pattern: Expr, report: Report): void {
  if (pattern.k !== 'str' || !pattern.v.includes('\b')) return;
  const edits = [...file.text.slice(pattern.s, pattern.e).matchAll(/\\[\s\S]/g)].flatMap(({ 0: written, index }) =>
    written === '\\b' ? [{ s: pattern.s + index, e: pattern.s + index, text: '\\' }] : [],
  );
  if (edits.length === 0) return;
  const message = 'in a text `\\b` is a backspace, so this pattern has no word boundary';
  report(file, lint('LINT_PATTERN', pattern, message, "write `\\\\b`, or the pattern in `'''…'''`, which has no escapes", edits));
}

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
