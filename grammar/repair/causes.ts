/** What may have caused the error of a program that failed. */
import type { LintCode } from '../lint/codes.ts';
import type { CheckedFile, Edit, Environment, Failed, Finding, Fix } from '../lint/finding.ts';
import { offsetAt, positionAt, type Span } from '../syntax/position.ts';
import { correctionOf, originsOf } from './failed.ts';
import { failureAt } from './failedplace.ts';
import { harmless } from './harmless.ts';

/** A finding, or the error itself, whose code is that of the language. */
export interface Cause extends Omit<Finding, 'code'> {
  /** Code of the rule or of the error. */
  readonly code: string;
}

/** Rules about values that are not what they look like. They explain an error that such a value raises later. */
const VALUES: ReadonlySet<LintCode> = new Set([
  'LINT_NEVER_SET',
  'LINT_MAP_KEY',
  'LINT_LOGIC_VALUE',
  'LINT_DOUBLE_BRACKET',
  'LINT_PLAIN_TEMPLATE',
  'LINT_PATTERN',
]);

/**
 * The error of a program that failed, and the findings that may have caused it: those at the statement that failed and at those that set its
 * variables, and what is the same elsewhere. Each has its fix. None where nothing beyond the error is known.
 */
export function causesOf(
  checked: CheckedFile,
  failed: Failed,
  findings: readonly Finding[],
  environment: Environment,
): readonly Cause[] {
  const { file, text } = checked;
  const failure = failureAt(checked, offsetAt(file.lines, failed), failed);
  const { here, before, calls } = originsOf(failure);
  const isIn = (found: Finding, spans: readonly Span[]): boolean => {
    const at = offsetAt(file.lines, found);
    return found.file === file.name && spans.some(({ s, e }) => s <= at && at < e);
  };
  const causes = findings.filter(
    (found) =>
      (found.code === 'LINT_NEGATIVE_INDEX' && isIn(found, here)) ||
      (found.code === 'LINT_UNSEEN_RESULT' && isIn(found, calls)) ||
      (VALUES.has(found.code) && (isIn(found, here) || isIn(found, before))),
  );
  // The same slip elsewhere would fail next.
  const related = findings.filter((found) =>
    causes.some(({ code, message }) => code === found.code && message === found.message),
  );
  const at = (offset: number): Pick<Edit, 'line' | 'column'> => positionAt(file.lines, offset);
  const edits = correctionOf(failure).map(({ s, e, text: written }): Edit => {
    return { ...at(s), endLine: at(e).line, endColumn: at(e).column, text: written };
  });
  const fix: Fix = { message: failed.hint ?? '', edits };
  // A fix may call a tool: no tool is known but those of the environment and the program.
  const kept =
    edits.length === 0 ? undefined : harmless(text, new Map([[failed, fix]]), { ...environment, complete: true }).get(failed);
  if (kept === undefined && related.length === 0) return [];
  const { code, line, column, message } = failed;
  const place = { file: file.name, line, column, endLine: line, endColumn: column };
  return [{ code, severity: 'error', ...place, message, fix: kept ?? { ...fix, edits: [] } }, ...related];
}
