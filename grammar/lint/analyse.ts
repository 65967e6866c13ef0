/** The linter: finds mistakes in a program without running it. */
import { positionAt, type Span } from '../syntax/position.ts';
import { Comparisons } from '../vocabulary/names.ts';
import { checkCalls } from './calls.ts';
import { KEEPS_MEANING, LINTS } from './codes.ts';
import type { CheckedFile, Edit, Environment, Finding, RawFinding, Report } from './finding.ts';
import { checkFlow } from './flow.ts';
import { checkHandlers } from './handlers.ts';
import { checkKept } from './kept.ts';
import { checkLogic } from './logic.ts';
import { checkPatterns, checkPlaceholders } from './patterns.ts';
import { checkIndices, checkTraps } from './traps.ts';
import { checkUnseen } from './unseen.ts';
import { checkGlobals, checkVariables, type Facts, factsOf, globalsOf } from './variables.ts';

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
  const comparisons = new Comparisons();
  const facts = checkErrors(files, environment, comparisons, report);
  checkVariables(files, facts, environment, comparisons, report);
  checkPatterns(files, report);
  checkPlaceholders(files, environment, report);
  checkUnseen(files, environment, report);
  checkKept(files, checkHandlers(files, environment, report), report);
  for (const file of files) {
    checkTraps(file, report);
    checkIndices(file, report);
  }
  return [...found]
    .flatMap(([file, all]) => all.sort((a, b) => a.s - b.s || a.e - b.e).map((one) => ({ file, one })))
    .slice(0, MAX_FINDINGS)
    .map(({ file, one }) => placed(file, one));
}

/** The errors of a file, in no order, without a limit, and without the names that are probably meant. */
export function errorsOf(file: CheckedFile, environment: Environment): readonly RawFinding[] {
  const found: RawFinding[] = [];
  checkErrors([file], environment, new Comparisons(0), (_, one) => found.push(one));
  return found.filter(({ code }) => LINTS[code].severity === 'error');
}

function checkErrors(
  files: readonly CheckedFile[],
  environment: Environment,
  comparisons: Comparisons,
  report: Report,
): readonly Facts[] {
  const globals = globalsOf(environment);
  const facts = factsOf(files);
  checkCalls(files, environment, comparisons, report);
  checkGlobals(facts, globals, report);
  checkLogic(files, report);
  for (const file of files) checkFlow(file, globals, report);
  return facts;
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
