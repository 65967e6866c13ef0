/** The input of the linter, and its findings. */
import type { Procedure, SourceFile } from '../syntax/ast.ts';
import type { Span } from '../syntax/position.ts';
import type { LintCode, Severity } from './codes.ts';

/** A parsed file with the cleaned text that its offsets refer to. */
export interface CheckedFile {
  /** The tree. */
  readonly file: SourceFile;
  /** The text without byte order mark and with `\n` as its only line end. */
  readonly text: string;
}

/** The number of arguments that a tool takes. */
export interface ToolShape {
  /** Canonical: lower case, with exactly one `tool.` in front. */
  readonly name: string;
  /** Fewest arguments of a call. */
  readonly least: number;
  /** Most arguments of a call. */
  readonly most: number;
  /** For a tool that is called: the form of a call, such as `(path: string)`. */
  readonly form?: string;
  /** For a tool that is called: the names of its arguments. */
  readonly names?: readonly string[];
  /** For a tool that is called: what each argument has to be; null for any value, and for a conversion that depends on it. */
  readonly takes?: readonly ('string' | 'number' | 'list' | 'map' | null)[];
  /** Set if the tool runs inside the isolate: it makes no call to the host and changes no variable. */
  readonly pure?: true;
  /** Set if its declared result is a boolean that says what a program has to know, as that of a host's own tool does. */
  readonly answers?: true;
}

/** Knowledge about the host of a program. */
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
  /** Set if the last file is the program of a turn, which is one command block. */
  readonly oneBlock?: boolean;
  /** Set if files outside of this check use `eval`, which may fill in any text. */
  readonly evaluates?: true;
  /** Set if the program ran and failed: then only what may have caused that is reported. */
  readonly failed?: Failed;
}

/** The error that ended a program, at a place in its last file. */
export interface Failed {
  /** `NS7` and the like. */
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What to write instead; absent when nothing is known. */
  readonly hint?: string | undefined;
}

/** Replaces a range of the source; an empty range inserts. Lines and columns are 1-based; columns count code points. */
export interface Edit {
  /** First line of the range. */
  readonly line: number;
  /** Column of the first character that is replaced. */
  readonly column: number;
  /** Last line of the range. */
  readonly endLine: number;
  /** Column after the last character that is replaced. */
  readonly endColumn: number;
  /** The new text of the range. */
  readonly text: string;
}

/** What to write instead. Without edits, a human or a model has to make the change. */
export interface Fix {
  /** What to do, as a sentence. */
  readonly message: string;
  /** The changes; empty when a person has to decide. */
  readonly edits: readonly Edit[];
  /** Set if `check --fix` makes the changes: they keep what the program does, or the place cannot run and has one evident meaning. */
  readonly safe?: true;
}

/** One mistake, or possible mistake, at one place. */
export interface Finding {
  /** Code of the rule, with an entry in `docs/lints.md`. */
  readonly code: LintCode;
  /** How serious the finding is. */
  readonly severity: Severity;
  /** Name of the file. */
  readonly file: string;
  /** 1-based line of the first character. */
  readonly line: number;
  /** 1-based column of the first character, in code points. */
  readonly column: number;
  /** The end is the position after the last character. */
  readonly endLine: number;
  /** Column after the last character. */
  readonly endColumn: number;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** What to write instead. */
  readonly fix: Fix;
  /** Canonical name of the tool of a `LINT_DENIED_TOOL`. */
  readonly tool?: string | undefined;
}

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
