import { type CodeAction, CodeActionKind, type Diagnostic, type TextEdit, type WorkspaceEdit } from 'vscode-languageserver';
import type { Environment } from '../../grammar/index.ts';
import { fixableErrors, type Problem } from './diagnose.ts';
import type { Range, SourceDocument } from './document.ts';

/** The kind of the action that makes all safe fixes of a document, as editors ask for it when a file is saved. */
export const FIX_ALL = `${CodeActionKind.SourceFixAll}.neuroscript`;

/** What a client asks for: places, and kinds of actions; all kinds if it names none. */
export interface Asked {
  readonly range: Range;
  readonly only?: readonly string[] | undefined;
  /** What is known of the host: a fix may call a tool. */
  readonly environment: Environment;
}

/**
 * The fixes of a document, as `neuroscript check --fix` knows them. Each problem that the range touches has a quick fix, which is preferred if it is
 * safe. One action makes all safe fixes at once.
 */
export function actionsOf(
  document: SourceDocument,
  problems: readonly Problem[],
  { range, only, environment }: Asked,
  diagnosticOf: (problem: Problem) => Diagnostic,
): CodeAction[] {
  const wants = (kind: string): boolean => only?.some((one) => kind === one || kind.startsWith(`${one}.`)) ?? true;
  if (!wants(CodeActionKind.QuickFix) && !wants(FIX_ALL)) return [];
  const fixable = [...problems, ...fixableErrors(document, environment)].filter(({ edits }) => edits.length > 0);
  const change = (edits: readonly TextEdit[]): WorkspaceEdit => ({ changes: { [document.uri]: [...edits] } });
  const quick = fixable
    .filter((problem) => wants(CodeActionKind.QuickFix) && touches(problem.range, range))
    .map((problem) => ({
      title: `${problem.hint ?? problem.message}${problem.safe ? '' : ' (proposed: read it before you run it)'}`,
      kind: CodeActionKind.QuickFix,
      diagnostics: [diagnosticOf(problem)],
      isPreferred: problem.safe,
      edit: change(editsOf([problem])),
    }));
  const safe = wants(FIX_ALL) ? editsOf(fixable.filter((problem) => problem.safe)) : [];
  return safe.length === 0 ? quick : [...quick, { title: 'Make all safe fixes', kind: FIX_ALL, edit: change(safe) }];
}

/** The edits of fixes in textual order; one that overlaps an earlier one waits for the next request. */
function editsOf(problems: readonly Problem[]): readonly TextEdit[] {
  const edits = problems.flatMap((problem) => problem.edits.map(({ range, text }) => ({ range, newText: text })));
  const ordered = edits.sort((a, b) => compare(a.range.start, b.range.start) || compare(a.range.end, b.range.end));
  let end = { line: 0, character: 0 };
  return ordered.filter(({ range }) => {
    const follows = compare(range.start, end) >= 0;
    if (follows) end = range.end;
    return follows;
  });
}

function touches(a: Range, b: Range): boolean {
  return compare(a.start, b.end) <= 0 && compare(b.start, a.end) <= 0;
}

function compare(a: Range['start'], b: Range['start']): number {
  return a.line - b.line || a.character - b.character;
}
