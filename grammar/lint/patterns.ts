/** Patterns in which an escape of the text takes the place of one of the pattern. */
import type { Expr } from '../syntax/astexpressions.ts';
import { eachExpression } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';
import { eachRoot } from './scopes.ts';

/** The tools whose first argument is a pattern, by canonical name. */
const PATTERNED: ReadonlySet<string> = new Set([
  ...['match', 'find', 'findall', 'groups', 'replace', 'split'].map((name) => `tool.regex.${name}`),
  ...['matchregex', 'findallregex', 'replaceregex'].map((name) => `tool.str.${name}`),
]);

/** Reports `"\b"` in a pattern: the text has a backspace there, and the pattern no word boundary. */
export function checkPatterns(files: readonly CheckedFile[], report: Report): void {
  eachRoot(files, (file, root) =>
    eachExpression(root, (expr) => {
      const [pattern] = expr.k === 'tool' && PATTERNED.has(expr.name) ? expr.args : [];
      if (pattern !== undefined) checkPattern(file, pattern, report);
    }),
  );
}

function checkPattern(file: CheckedFile, pattern: Expr, report: Report): void {
  if (pattern.k !== 'str' || !pattern.v.includes('\b')) return;
  const edits = [...file.text.slice(pattern.s, pattern.e).matchAll(/\\[\s\S]/g)].flatMap(({ 0: written, index }) =>
    written === '\\b' ? [{ s: pattern.s + index, e: pattern.s + index, text: '\\' }] : [],
  );
  if (edits.length === 0) return;
  const message = 'in a text `\\b` is a backspace, so this pattern has no word boundary';
  report(
    file,
    lint('LINT_PATTERN_ESCAPE', pattern, message, "write `\\\\b`, or the pattern in `'''…'''`, which has no escapes", edits),
  );
}
