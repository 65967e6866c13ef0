/** The linter: finds mistakes in a program without running it. */
import type { Span } from '../syntax/position.ts';
import { positionAt } from '../syntax/position.ts';
import { checkCalls } from './calls.ts';
import { KEEPS_MEANING, LINTS } from './codes.ts';
import type { CheckedFile, Edit, Environment, Finding, RawFinding } from './finding.ts';
import { checkFlow } from './flow.ts';
import { checkHandlers } from './handlers.ts';
import { checkIndices } from './indices.ts';
import { checkKept } from './kept.ts';
import { checkLogic } from './logic.ts';
import { checkPatterns } from './patterns.ts';
import { checkPlaceholders } from './placeholders.ts';
import { checkTraps } from './traps.ts';
import { checkUnseen } from './unseen.ts';
import { checkVariables, globalsOf } from './variables.ts';

/** Most findings for the files of one program. */
export const MAX_FINDINGS = 1000;

/**
 * Checks files that run together, as `run FILE…` would run them: they see each other's procedures, and all their command
 * blocks share their variables. Findings come file by file, in textual order; at most {@link MAX_FINDINGS}.
 */
export function analyse(files: readonly CheckedFile[], environment: Environment = {}): readonly Finding[] {
  const found = new Map<CheckedFile, RawFinding[]>(files.map((file) => [file, []]));
  const report = (file: CheckedFile, one: RawFinding): void => {
    found.get(file)?.push(one);
  };
  const globals = globalsOf(environment);
  checkCalls(files, environment, report);
  checkVariables(files, environment, report);
  checkLogic(files, report);
  checkPatterns(files, report);
  checkPlaceholders(files, environment, report);
  checkUnseen(files, environment, report);
  checkKept(files, checkHandlers(files, environment, report), report);
  for (const file of files) {
    checkFlow(file, globals, report);
    checkTraps(file, report);
    checkIndices(file, report);
  }
  return [...found]
    .flatMap(([file, all]) => all.sort((a, b) => a.s - b.s || a.e - b.e).map((one) => placed(file, one)))
    .slice(0, MAX_FINDINGS);
}

function placed({ file }: CheckedFile, { code, s, e, message, fix, edits, tool }: RawFinding): Finding {
  const at = (span: Span): Omit<Edit, 'text'> => {
    const start = positionAt(file.lines, span.s);
    const end = positionAt(file.lines, span.e);
    return { line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
  };
  return {
    code,
    severity: LINTS[code].severity,
    file: file.name,
    ...at({ s, e }),
    message,
    fix: {
      message: fix,
      edits: edits.map((edit) => ({ ...at(edit), text: edit.text })),
      ...(edits.length > 0 && KEEPS_MEANING.has(code) ? { safe: true } : {}),
    },
    tool,
  };
}
