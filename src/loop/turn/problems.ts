import { withEdits } from '../../../grammar/repair/apply.ts';
import type { RunResult } from '../../wire/result.ts';
import type { Diagnostic, LintFinding } from '../../wire/sourcereports.ts';
import type { CorrectedLines, Problem } from '../record/record.ts';

type Edits = LintFinding['fix']['edits'];

/** Everything that is wrong with a program that was rejected, or may have caused its failure, with the corrections. */
export function problemsIn(
  { errors = [], findings = [], causes = [] }: Pick<RunResult, 'errors' | 'findings' | 'causes'>,
  actions: string,
): readonly Problem[] {
  const found = [...errors.map(syntaxProblem), ...[...findings, ...causes].map(callProblem)];
  const corrected = correctedLines(
    actions,
    found.flatMap(({ edits }) => edits),
  );
  return found.map(({ edits, ...problem }) => ({
    ...problem,
    fix: corrected.filter(({ line, endLine }) => edits.some((edit) => line <= edit.line && edit.endLine <= endLine)),
  }));
}

type Found = Omit<Problem, 'fix'> & { readonly edits: Edits };

function syntaxProblem({ line, column, message, hint, fix }: Diagnostic): Found {
  return { code: 'NS15', line, column, message, hint: hint ?? fix?.message ?? null, edits: fix?.edits ?? [] };
}

function callProblem({ code, line, column, message, fix }: LintFinding): Found {
  return { code, line, column, message, hint: fix.message === '' ? null : fix.message, edits: fix.edits };
}

/** The lines that the edits change, with all edits made. Edits that share a line are made together. */
function correctedLines(actions: string, edits: Edits): readonly CorrectedLines[] {
  const lines = actions.split('\n');
  const ranges: { line: number; endLine: number; readonly edits: Edits[number][] }[] = [];
  for (const edit of edits.toSorted((a, b) => a.line - b.line)) {
    const last = ranges.at(-1);
    if (last === undefined || last.endLine < edit.line) ranges.push({ line: edit.line, endLine: edit.endLine, edits: [edit] });
    else {
      last.endLine = Math.max(last.endLine, edit.endLine);
      last.edits.push(edit);
    }
  }
  return ranges.map(({ line, endLine, edits: own }) => {
    const moved = own.map((edit) => ({ ...edit, line: edit.line - line + 1, endLine: edit.endLine - line + 1 }));
    return { line, endLine, text: withEdits(lines.slice(line - 1, endLine).join('\n'), moved) };
  });
}

/** The program with all corrections that `check --fix` makes by itself; null when there is none. */
export function safelyFixed({ errors = [], findings = [] }: RunResult, actions: string): string | null {
  const safe = [...errors, ...findings].flatMap(({ fix }) => (fix?.safe === true ? fix.edits : []));
  const fixed = safe.length === 0 ? actions : withEdits(actions, safe);
  return fixed === actions ? null : fixed;
}

/** The lines in short, such as `3` or `5-7`. */
export function rangeOf({ line, endLine }: CorrectedLines): string {
  return line === endLine ? `${line}` : `${line}-${endLine}`;
}
