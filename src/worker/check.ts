import {
  analyse,
  type CheckedFile,
  causesOf,
  type Environment,
  errorsWithFixes,
  estimate,
  type ForeseeOptions,
  findingsWithFixes,
  foresee,
  format,
  oneBlock,
  parse,
  type SourceFile,
} from '../../grammar/index.ts';
import { shapeProblem } from '../wire/admission.ts';
import { BOUNDING_COSTS } from '../wire/costs.ts';
import type { Source } from '../wire/protocol.ts';
import type { CheckReport, Diagnostic, ForeseenReport, FormatReport, ParsedFile } from '../wire/sourcereports.ts';
import { summaryOf } from './parser.ts';

/** Parses files that run together, and looks for mistakes when all of them parse. */
export function checkSources(sources: readonly Source[], maxBytes: number, environment: Environment): CheckReport {
  const diagnostics: Diagnostic[] = [];
  const files: ParsedFile[] = [];
  const checked: CheckedFile[] = [];
  for (const { name, text, interactive = false } of sources) {
    const result = parse(text, { name, maxBytes, interactive });
    if (result.ok) {
      checked.push({ file: result.file, text: result.text });
      files.push(summaryOf(result.file));
    } else {
      const errors = errorsWithFixes(text, result.errors, environment);
      diagnostics.push(...errors.map((error): Diagnostic => ({ ...error, file: name })));
    }
  }
  const program = sources.at(-1);
  if (environment.oneBlock === true && program !== undefined) inOneBlock(program, checked.at(-1)?.file, diagnostics);
  // The definitions of a file that does not parse are unknown, so findings about the other files would often be wrong.
  if (diagnostics.length > 0) return { diagnostics, files, findings: [], estimates: [] };
  const { globals = [], constants = [], tools = [] } = environment;
  const pure = tools.filter((tool) => tool.pure === true).map(({ name }) => name);
  const trees = checked.map(({ file }) => file);
  const found = findingsWithFixes(checked, analyse(checked, environment), environment);
  const [last, { failed }] = [checked.at(-1), environment];
  return {
    diagnostics,
    files,
    findings: failed === undefined || last === undefined ? found : causesOf(last, failed, found, environment),
    estimates: estimate(trees, BOUNDING_COSTS, { globals, constants, pure }),
  };
}

/**
 * Reports that the program of a turn is not one command block. Where it can be written as one, that is the fix, also for the syntax errors of
 * a program that has both definitions and command blocks.
 */
function inOneBlock({ name, text }: Source, file: SourceFile | undefined, diagnostics: Diagnostic[]): void {
  const problem = diagnostics.length > 0 ? null : shapeProblem(file && summaryOf(file));
  if (diagnostics.length === 0 && problem === null) return;
  const written = diagnostics.every((found) => found.file === name) ? oneBlock(text) : null;
  const message = 'write one command block, with the statements of each procedure in place of its calls';
  const lines = text.split('\n');
  const edit = { line: 1, column: 1, endLine: lines.length, endColumn: (lines.at(-1)?.length ?? 0) + 1, text: written ?? '' };
  const fix = written === null ? {} : { fix: { message, edits: [edit] } };
  const whole = { file: name, s: 0, e: 0, line: 1, column: 1, endLine: 1, endColumn: 1 };
  if (problem !== null) diagnostics.push({ ...whole, message: problem, hint: message, ...fix });
  else if (written !== null)
    for (const [index, { fix: _, ...found }] of diagnostics.entries())
      diagnostics[index] = { ...found, hint: message, ...(index === 0 ? fix : {}) };
}

/** Foresees what files that run together do, when all of them parse. */
export function foreseeSources(sources: readonly Source[], maxBytes: number, options: ForeseeOptions): ForeseenReport {
  const diagnostics: Diagnostic[] = [];
  const files: CheckedFile[] = [];
  for (const { name, text } of sources) {
    const result = parse(text, { name, maxBytes });
    if (result.ok) files.push({ file: result.file, text: result.text });
    else diagnostics.push(...result.errors.map((error): Diagnostic => ({ ...error, file: name })));
  }
  return { diagnostics, foreseen: diagnostics.length > 0 ? null : foresee(files, BOUNDING_COSTS, options) };
}

export function formatSource({ name, text }: Source, maxBytes: number): FormatReport {
  const result = format(text, { name, maxBytes });
  if (result.ok) return { text: result.text, diagnostics: [] };
  return { text: null, diagnostics: result.errors.map((error) => ({ ...error, file: name })) };
}
