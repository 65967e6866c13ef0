/** Syntax errors: by offset in the parser, by line and column for users. */
import { type LineTable, positionAt, type Span } from './position.ts';

/** A syntax error of the lexer or the parser, by offset. */
export interface SyntaxProblem extends Span {
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** The form to write instead, if that is clear. */
  readonly hint?: string;
}

/** A syntax error. Its position is 1-based; columns count code points. */
export interface SyntaxDiagnostic extends SyntaxProblem {
  /** Line of the first character that is wrong. */
  readonly line: number;
  /** Column of the first character that is wrong. */
  readonly column: number;
  /** Line of the last character that is wrong. */
  readonly endLine: number;
  /** Column after the last character that is wrong. */
  readonly endColumn: number;
}

/** Most problems that one source is reported with. Reading stops after them. */
export const MAX_PROBLEMS = 100;

/** Makes a problem. Without a hint the field is absent. */
export function problemAt(s: number, e: number, message: string, hint?: string): SyntaxProblem {
  return hint === undefined ? { s, e, message } : { s, e, message, hint };
}

export function diagnosticOf(lines: LineTable, found: SyntaxProblem): SyntaxDiagnostic {
  const start = positionAt(lines, found.s);
  const end = positionAt(lines, found.e);
  return { ...found, line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}
