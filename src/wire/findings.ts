import type { CheckReport, Diagnostic, FuelEstimate, LintFinding } from './sourcereports.ts';

/** The code of every finding of the parser: the code 15 of the language, a syntax error. */
export const SYNTAX = 'NS15';

/** A finding of the linter, or a syntax error, which may have no fix. */
export interface JsonFinding extends Omit<LintFinding, 'fix' | 'tool'> {
  readonly fix?: LintFinding['fix'] | undefined;
}

/** The public JSON object of a check (`docs/schemas/check.schema.json`): all findings, and the fuel of each block. */
export interface PublicCheck {
  readonly findings: readonly JsonFinding[];
  readonly cost: readonly FuelEstimate[];
}

/** What `check --json --cost` prints. */
export function toPublicCheck({ diagnostics, findings, estimates }: CheckReport): PublicCheck {
  return {
    findings: [...diagnostics.map(syntaxFinding), ...findings.map(({ tool: _, ...finding }) => finding)],
    cost: estimates,
  };
}

function syntaxFinding(found: Diagnostic): JsonFinding {
  const { file, line, column, endLine, endColumn, message, hint, fix } = found;
  const hinted = hint === undefined ? undefined : { message: hint, edits: [] };
  const known = fix ?? hinted;
  return {
    code: SYNTAX,
    severity: 'error',
    file,
    line,
    column,
    endLine,
    endColumn,
    message,
    fix: known,
  };
}
