import {
  analyse,
  type CheckedFile,
  type Environment,
  errorsWithFixes,
  type Finding,
  findingsWithFixes,
  MAX_SOURCE_BYTES,
  type Procedure,
} from '../../grammar/index.ts';
import type { Placed, Range, SourceDocument } from './document.ts';

/** A syntax error or a finding at its place in a document. */
export interface Problem {
  readonly range: Range;
  readonly severity: 'error' | 'warning' | 'info';
  /** `SYNTAX` or the code of the lint. */
  readonly code: string;
  readonly message: string;
  /** What to write instead; absent where nothing is known. */
  readonly hint?: string | undefined;
  /** Edits that make the change; empty where a human has to make it. */
  readonly edits: readonly { readonly range: Range; readonly text: string }[];
  /** Whether the edits keep what the program does, so that nobody needs to read them first. */
  readonly safe: boolean;
}

/** What is known outside of a document. */
export interface Surroundings {
  /** Differs whenever any of the rest does. */
  readonly key: string;
  readonly environment: Environment;
  /** Procedures of other files, by name. */
  readonly procedures: ReadonlyMap<string, readonly Procedure[]>;
}

export const SYNTAX = 'SYNTAX';

const TOO_LONG: Problem = {
  ...{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, severity: 'error', code: SYNTAX },
  ...{ message: `the source is larger than ${MAX_SOURCE_BYTES} bytes`, edits: [], safe: false },
};

const MAX_PROBLEMS = 1000;

/**
 * All problems of a document, in textual order. Pieces that did not change since an earlier version, and see the same procedures, are
 * not analysed again.
 */
export function problemsOf(document: SourceDocument, around: Surroundings): readonly Problem[] {
  if (document.tooLong) return [TOO_LONG];
  const { broken } = document;
  const shared = sharedBy(document, around);
  const commands = document.pieces.filter(({ piece }) => piece.result.ok && piece.result.file.commands.length > 0);
  analyseTogether(commands, shared);
  const problems = document.pieces.flatMap((placed): readonly Problem[] => {
    const { piece } = placed;
    const { result } = piece;
    if (!result.ok) return result.errors.map((error) => syntaxProblem(document, placed, error));
    if (result.file.commands.length === 0) analyseTogether([placed], shared);
    return (
      (piece.findings?.found ?? [])
        // A piece that does not parse may define the procedure.
        .filter(({ code }) => !broken || code !== 'LINT_UNKNOWN_PROCEDURE')
        .map((found) => findingProblem(document, placed, found))
    );
  });
  return problems.slice(0, MAX_PROBLEMS);
}

/** What all pieces of a document see: the procedures of all of them, and whether one of them has `eval`. */
function sharedBy(document: SourceDocument, { key, environment, procedures }: Surroundings): Surroundings {
  const own = Map.groupBy(
    document.procedures.map(({ procedure }) => procedure),
    ({ name }) => name.name,
  );
  const evaluates = document.pieces.some(({ piece }) => piece.names.evaluating.size > 0);
  const forms = [...own.values()].flat().map(({ name, needs, optional }) => `${name.name}/${needs.length}/${optional.length}`);
  return {
    key: `${key}\n${evaluates}\n${forms.join(' ')}`,
    environment: { ...environment, ...(evaluates ? { evaluates } : {}) },
    procedures: new Map([...procedures, ...own]),
  };
}

/** Finds the findings of pieces, unless they are known: of one, or of all command blocks of a document, which share their variables. */
function analyseTogether(group: readonly Placed[], shared: Surroundings): void {
  const key = group.length < 2 ? shared.key : [shared.key, ...group.map(({ piece }) => piece.text)].join('\n');
  if (group.every(({ piece }) => piece.findings?.key === key)) return;
  const files = group.flatMap(({ piece: { result } }, index): CheckedFile[] =>
    result.ok ? [{ file: { ...result.file, name: `${index}` }, text: result.text }] : [],
  );
  const environment = { ...shared.environment, procedures: shared.procedures };
  const found = Map.groupBy(findingsWithFixes(files, analyse(files, environment), environment), ({ file }) => file);
  for (const [index, { piece }] of group.entries()) piece.findings = { key, found: found.get(`${index}`) ?? [] };
}

/** The syntax errors of a document that have a fix. Reads all of it, so it is for a request and not for every key. */
export function fixableErrors(document: SourceDocument, environment: Environment): readonly Problem[] {
  if (!document.broken) return [];
  const { whole } = document;
  const { text, result } = whole.piece;
  return (result.ok ? [] : errorsWithFixes(text, result.errors, environment)).flatMap((error) => {
    if (error.fix === undefined) return [];
    const { message, edits } = error.fix;
    const placed = edits.map((edit) => ({ range: document.rangeAt(whole, edit), text: edit.text }));
    return [{ ...syntaxProblem(document, whole, error), hint: message, edits: placed, safe: error.fix.safe === true }];
  });
}

function syntaxProblem(
  document: SourceDocument,
  placed: Placed,
  { s, e, message, hint }: { readonly s: number; readonly e: number; readonly message: string; readonly hint?: string },
): Problem {
  const range = document.rangeOf(placed, { s, e });
  return { range, severity: 'error', code: SYNTAX, message, hint, edits: [], safe: false };
}

function findingProblem(document: SourceDocument, placed: Placed, found: Finding): Problem {
  return {
    range: document.rangeAt(placed, found),
    severity: found.severity,
    code: found.code,
    message: found.message,
    hint: found.fix.message,
    edits: found.fix.edits.map((edit) => ({ range: document.rangeAt(placed, edit), text: edit.text })),
    safe: found.fix.safe === true,
  };
}
