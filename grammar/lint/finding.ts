/** The input of the linter, and its findings. */
import type { Procedure, SourceFile, Span } from '../syntax/ast.ts';
import type { LintCode, Severity } from './codes.ts';

/** A parsed file with the cleaned text that its offsets refer to. */
export interface CheckedFile {
  readonly file: SourceFile;
  readonly text: string;
}

/** The number of arguments that a tool takes. */
export interface ToolShape {
  /** Canonical: lower case, with exactly one `tool.` in front. */
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** The form of a call, for a tool whose arguments are more than their number says: `({path: string})`. */
  readonly form?: string;
  /** Set if the tool runs inside the isolate: it makes no call to the host and changes no variable. */
  readonly pure?: true;
}

/** What is known of the host that a program will run in. */
export interface Environment {
  /** Globals that the host defines, in addition to `self`. */
  readonly globals?: readonly string[];
  /** Global constants that the host defines. A variable of the same name hides the constant. */
  readonly constants?: readonly string[];
  /** The known tools. */
  readonly tools?: readonly ToolShape[];
  /** Whether `tools` lists all tools. If not, no tool is reported as unknown. */
  readonly complete?: boolean;
  /** Tools that the policy denies, by canonical name, with the reason. */
  readonly denied?: readonly { readonly name: string; readonly reason: string }[];
  /** Procedures, by name, that files outside of this check define. */
  readonly procedures?: ReadonlyMap<string, readonly Procedure[]>;
  /** Set if files outside of this check use `eval`, which may fill in any text. */
  readonly evaluates?: true;
}

/** Replaces a range of the source; an empty range inserts. Lines and columns are 1-based; columns count code points. */
export interface Edit {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly text: string;
}

/** What to write instead. Without edits, a human or a model has to make the change. */
export interface Fix {
  readonly message: string;
  readonly edits: readonly Edit[];
}

/** One mistake, or possible mistake, at one place. */
export interface Finding {
  readonly code: LintCode;
  readonly severity: Severity;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The end is the position after the last character. */
  readonly endLine: number;
  readonly endColumn: number;
  readonly message: string;
  readonly fix: Fix;
  /** Canonical name of the tool of a `LINT_DENIED_TOOL`. */
  readonly tool?: string;
}

/** An edit by offsets into the cleaned text. */
export interface RawEdit extends Span {
  readonly text: string;
}

/** A finding by offsets into the cleaned text. */
export interface RawFinding extends Span {
  readonly code: LintCode;
  readonly message: string;
  readonly fix: string;
  readonly edits: readonly RawEdit[];
  /** As in {@link Finding}. */
  readonly tool?: string;
}

/** Receives findings, each with its file. */
export type Report = (file: CheckedFile, found: RawFinding) => void;

/** Makes a finding about a span. `fix` says what to write instead; `edits` make the change where it is unambiguous. */
export function lint(code: LintCode, span: Span, message: string, fix: string, edits: readonly RawEdit[] = []): RawFinding {
  return { code, s: span.s, e: span.e, message, fix, edits };
}
