/** What a worker reports of sources that it parses, checks or formats without running them. */

import type {
  Estimate,
  Finding,
  Fix,
  Foreseen,
  ForeseenCall,
  ForeseenCondition,
  ForeseenOrigin,
  ForeseenOrigins,
  ForeseenScalar,
  ForeseenValue,
  SourceFile,
  SyntaxDiagnostic,
  ToolShape,
} from '../../grammar/index.ts';

/** The known environment of a program for a check. */
export type { Environment as CheckEnvironment } from '../../grammar/index.ts';

/** A syntax error and its file. */
export interface Diagnostic extends SyntaxDiagnostic {
  /** Name of the file. */
  readonly file: string;
  /** What to write instead, with edits. Only a check has it, and only where one fix is the evident one. */
  readonly fix?: Fix;
}

/** What sources must be before their program starts. Otherwise they are rejected, and nothing runs. */
export interface Admission {
  /** For a turn: the last source must be exactly one command block, and the sources before it must have none. */
  readonly oneBlock: boolean;
  /** Canonical names of tools that no call may name: in a turn no call of the last source, otherwise no call at all. */
  readonly denied: readonly string[];
  /** For a turn whose program may be corrected: what its calls must agree with. */
  readonly strict?: StrictAdmission | undefined;
}

/** Further conditions for the program of a turn: every call has a callee that takes its arguments, and a control token can be emitted. */
export interface StrictAdmission {
  /** The tools whose names stand in the text of the program. A tool that is not among them is unknown. */
  readonly tools: readonly CallShape[];
}

/** The number of arguments that a callee takes. */
export interface CallShape {
  readonly name: string;
  readonly least: number;
  readonly most: number;
}

/** What a program was judged by that was rejected for the names in it, as far as they matter. */
export interface JudgedNames {
  /** The sources before the program. */
  readonly definitions: readonly { readonly name: string; readonly text: string }[];
  /** The tools that the program or a hint names. */
  readonly tools: readonly ToolShape[];
  /** The tools of the program that were denied, by canonical names. */
  readonly denied: readonly { readonly name: string; readonly reason: string }[];
  /** The globals and constants, beside USERDATA, whose names stand in the program; absent for none. */
  readonly globals?: readonly string[] | undefined;
  /** The calls of the program that rules refused; absent for none. */
  readonly broken?: readonly BrokenCall[] | undefined;
}

/** A call that a rule about arguments or order refuses whenever the program reaches it. */
export interface BrokenCall {
  /** Canonical name of the tool. */
  readonly name: string;
  /** Name of the source. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The rule, in words. */
  readonly reason: string;
}

/** A finding of the linter. Its code is one of the table in `docs/lints.md`. */
export interface LintFinding extends Omit<Finding, 'code'> {
  /** Code of the rule. */
  readonly code: string;
}

/** The least and the most fuel of a block, as advice: it comes from the untrusted worker. */
export type FuelEstimate = Estimate;

/** The report about files that were checked without running. */
export interface CheckReport {
  /** Syntax errors; with any of them there are no findings and estimates. */
  readonly diagnostics: readonly Diagnostic[];
  /** The files that parse. */
  readonly files: readonly ParsedFile[];
  /** What the linter found, in the order of the text. */
  readonly findings: readonly LintFinding[];
  /** The fuel of each block; empty for files with syntax errors. */
  readonly estimates: readonly FuelEstimate[];
}

/** A formatted source; null when it has syntax errors. */
export interface FormatReport {
  /** The formatted text; null for a text with syntax errors. */
  readonly text: string | null;
  /** Every syntax error. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The summary of a parsed file. The host never sees its tree. */
export interface ParsedFile {
  /** Name of the file. */
  readonly name: string;
  /** Whether it holds command blocks, definitions, or neither. */
  readonly kind: SourceFile['kind'];
  /** How many command blocks it has. */
  readonly commandBlocks: number;
  /** Names of its procedures, in order. */
  readonly procedures: readonly string[];
  /** The signature of each of {@link procedures}: `name(a, [b])`. */
  readonly signatures: readonly string[];
  /** The `::` lines at its top. */
  readonly metadata: SourceFile['metadata'];
  /** How many event handlers it has. */
  readonly events: number;
  /** Canonical names of the tools that it calls, sorted and unique. */
  readonly tools: readonly string[];
  /** The kind of an input at a prompt that has no `command` around it. */
  readonly typed?: NonNullable<SourceFile['typed']> | undefined;
}

export type {
  Foreseen,
  ForeseenCall,
  ForeseenCondition,
  ForeseenOrigin,
  ForeseenOrigins,
  ForeseenScalar,
  ForeseenValue,
  ToolShape,
};

/** What files that run together do at most, as advice: it comes from the untrusted worker. */
export interface ForeseenReport {
  /** Syntax errors; with any of them nothing is foreseen. */
  readonly diagnostics: readonly Diagnostic[];
  readonly foreseen: Foreseen | null;
}
