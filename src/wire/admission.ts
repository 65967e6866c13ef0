import { NS_CODES } from './codes.ts';
import { languageError } from './errorinfo.ts';
import type { ErrorInfo } from './errors.ts';
import type { Phase } from './protocol.ts';
import type { Admission, CheckEnvironment, CheckReport, Diagnostic, LintFinding, ParsedFile } from './sourcereports.ts';

/** Why sources do not run: `error` is the first of all reasons. */
export interface Rejection {
  readonly phase: Phase;
  readonly error: ErrorInfo;
  /** The syntax errors, or that a turn is not one command block. */
  readonly errors?: readonly Diagnostic[] | undefined;
  /** The calls that must not be made; empty when the program cannot emit a control token. */
  readonly findings?: readonly LintFinding[] | undefined;
}

/** Most calls with which a program is rejected. */
const MAX_FINDINGS = 100;

/** Whether sources that parse may run. Their reasons are found by {@link rejectionIn}. */
export function isAdmitted(
  { oneBlock, denied }: Admission,
  files: readonly Pick<ParsedFile, 'kind' | 'commandBlocks' | 'tools'>[],
): boolean {
  if (oneBlock && turnProblem(files) !== null) return false;
  return denied.length === 0 || !files.slice(oneBlock ? -1 : 0).some(({ tools }) => tools.some((tool) => denied.includes(tool)));
}

/** What a check of sources must know to find all reasons for a rejection. */
export function environmentOf({ denied, oneBlock }: Admission): CheckEnvironment {
  const reason = 'the policy denies it';
  return { globals: [], tools: [], complete: false, denied: denied.map((name) => ({ name, reason })), oneBlock };
}

/** Why sources must not run, given their report for {@link environmentOf}; null when they may. */
export function rejectionIn({ diagnostics, files, findings }: CheckReport, { oneBlock }: Admission): Rejection | null {
  const [error] = diagnostics;
  if (error !== undefined) return { phase: 'parse', error: syntaxError(error), errors: diagnostics };
  const program = files.at(-1);
  const problem = oneBlock ? turnProblem(files) : null;
  if (problem !== null) {
    const whole = { file: program?.name ?? '', s: 0, e: 0, line: 1, column: 1, endLine: 1, endColumn: 1, message: problem };
    return { phase: 'parse', error: syntaxError(whole), errors: [whole] };
  }
  const denied = findings.filter(({ code, file }) => code === 'LINT_DENIED_TOOL' && (!oneBlock || file === program?.name));
  return denied.length === 0 ? null : rejectedFor(denied.slice(0, MAX_FINDINGS));
}

/** The code with which a call or an operator fails that a rule of the linter reports. */
const CALL_CODES: Readonly<Record<string, number>> = {
  LINT_UNKNOWN_PROCEDURE: NS_CODES.ProcNotFound,
  LINT_UNKNOWN_TOOL: NS_CODES.ToolNotFound,
  LINT_ARGUMENT_COUNT: NS_CODES.ArgMismatch,
  LINT_DENIED_TOOL: NS_CODES.Policy,
  LINT_OPERAND: NS_CODES.Type,
  LINT_NEVER_SET: NS_CODES.Type,
  LINT_LOGIC_VALUE: NS_CODES.Type,
  LINT_MAP_KEY: NS_CODES.Type,
  LINT_UNSEEN_RESULT: NS_CODES.Type,
};

/** The rejection for calls that must not be made. */
export function rejectedFor(findings: readonly LintFinding[]): Rejection {
  const [first] = findings;
  const site = first === undefined ? undefined : { source: first.file, line: first.line, column: first.column };
  const code = CALL_CODES[first?.code ?? ''] ?? NS_CODES.Policy;
  return { phase: 'request', error: languageError(code, first?.message ?? '', site, hintOf(first)), findings };
}

function hintOf(found: LintFinding | undefined): string | undefined {
  return found === undefined || found.code === 'LINT_DENIED_TOOL' ? undefined : found.fix.message;
}

/** A syntax error as the error of a run. */
export function syntaxError({ message, hint, file, line, column }: Diagnostic): ErrorInfo {
  return languageError(NS_CODES.Syntax, message, { source: file, line, column }, hint);
}

/** Why files are no turn, which is one command block after definitions; null when they are. */
function turnProblem(files: readonly Pick<ParsedFile, 'kind' | 'commandBlocks'>[]): string | null {
  if (files.slice(0, -1).some(({ commandBlocks }) => commandBlocks > 0))
    return 'what is stored of the turn is not what began: its definitions hold a command block';
  return shapeProblem(files.at(-1));
}

/** Why a file cannot be ACTIONS, which is exactly one command block; null when it can. */
export function shapeProblem(file: Pick<ParsedFile, 'kind' | 'commandBlocks'> | undefined): string | null {
  if (file?.kind === 'commands' && file.commandBlocks === 1) return null;
  const has =
    file?.kind === 'library'
      ? 'definitions'
      : file?.kind === 'commands'
        ? `${file.commandBlocks} command blocks`
        : 'no command block';
  return `ACTIONS must be exactly one command block, and it has ${has}; write 'command', the statements, 'endcommand'`;
}
