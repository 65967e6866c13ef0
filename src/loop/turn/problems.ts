import { withEdits } from '../../../grammar/repair/apply.ts';
import type { RunResult } from '../../wire/result.ts';
import type { Diagnostic, LintFinding } from '../../wire/sourcereports.ts';
import type { Problem } from '../record/record.ts';

/** Everything that is wrong with a program that was rejected, with its corrections. */
export function problemsIn({ errors = [], findings = [] }: RunResult, actions: string): readonly Problem[] {
  return [...errors.map((error) => syntaxProblem(error, actions)), ...findings.map((found) => callProblem(found, actions))];
}

function syntaxProblem({ line, column, message, hint, fix }: Diagnostic, actions: string): Problem {
  return { code: 'NS15', line, column, message, hint: hint ?? fix?.message ?? null, fix: corrected(actions, line, fix) };
}

function callProblem({ code, line, column, message, fix }: LintFinding, actions: string): Problem {
  return { code, line, column, message, hint: fix.message === '' ? null : fix.message, fix: corrected(actions, line, fix) };
}

/** The line of a problem after its correction; null without one. */
function corrected(actions: string, line: number, fix: LintFinding['fix'] | undefined): string | null {
  if (fix === undefined || fix.edits.length === 0) return null;
  return withEdits(actions, fix.edits).split('\n')[line - 1] ?? null;
}

/** The program with all corrections that `check --fix` makes by itself; null when there is none. */
export function safelyFixed({ errors = [], findings = [] }: RunResult, actions: string): string | null {
  const safe = [...errors, ...findings].flatMap(({ fix }) => (fix?.safe === true ? fix.edits : []));
  const fixed = safe.length === 0 ? actions : withEdits(actions, safe);
  return fixed === actions ? null : fixed;
}
