/** What the linter knows and what it says. */
import type { SourceFile, Span } from '../syntax/ast.ts';
import { LINTS, type LintCode, type Severity } from './codes.ts';

/** A parsed file with the cleaned text that its offsets refer to. */
export interface CheckedFile {
  readonly file: SourceFile;
  readonly text: string;
}

/** How many arguments a tool takes. */
export interface ToolShape {
  /** Canonical: lower case, `tool.` once in front. */
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Runs inside the isolate: no call to the host, and no variable changes. */
  readonly pure?: true;
}

/** What surrounds a program when it runs, as far as it is known. */
export interface Environment {
  /** Globals that the host defines, besides `self`. */
  readonly globals?: readonly string[];
  /** Global constants that the host defines: a variable may take such a name, and then hides the constant. */
  readonly constants?: readonly string[];
  /** The tools that are known. */
  readonly tools?: readonly ToolShape[];
  /** Whether there are no tools but `tools`; otherwise no tool is reported as unknown. */
  readonly complete?: boolean;
  /** Tools that the policy would refuse, by canonical name, and why. */
  readonly denied?: readonly { readonly name: string; readonly reason: string }[];
}

/** Replaces a range of the source; an empty range inserts. Lines and columns are 1-based, columns count code points. */
export interface Edit {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly text: string;
}

/** What to write instead. Without edits the change needs a human, or a model, to choose. */
export interface Fix {
  readonly message: string;
  readonly edits: readonly Edit[];
}

/** One thing that the linter has to say about a place. */
export interface Finding {
  readonly code: LintCode;
  readonly severity: Severity;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Behind the last character. */
  readonly endLine: number;
  readonly endColumn: number;
  readonly message: string;
  readonly fix: Fix;
  /** Canonical name of the tool of a `LINT_DENIED_TOOL`. */
  readonly tool?: string;
}

/** An edit as the checks make it: offsets into the cleaned text. */
export interface RawEdit extends Span {
  readonly text: string;
}

/** A finding as the checks make it. */
export interface RawFinding extends Span {
  readonly code: LintCode;
  readonly message: string;
  readonly fix: string;
  readonly edits: readonly RawEdit[];
  /** As in {@link Finding}. */
  readonly tool?: string;
}

/** Takes findings, each with the file it is in. */
export type Report = (file: CheckedFile, found: RawFinding) => void;

/** Makes a finding about a span. `fix` says what to write instead; `edits` do so, where that can be told. */
export function lint(code: LintCode, span: Span, message: string, fix: string, edits: readonly RawEdit[] = []): RawFinding {
  return { code, s: span.s, e: span.e, message, fix, edits };
}

/** How bad a code is. */
export function severityOf(code: LintCode): Severity {
  return LINTS[code].severity;
}
