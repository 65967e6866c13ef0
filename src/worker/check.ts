import {
  analyse,
  type CheckedFile,
  type Environment,
  errorsWithFixes,
  estimate,
  type ForeseeOptions,
  findingsWithFixes,
  foresee,
  format,
  parse,
} from '../../grammar/index.ts';
import { BOUNDING_COSTS } from '../wire/boundingcosts.ts';
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
    } else diagnostics.push(...errorsWithFixes(text, result.errors).map((error): Diagnostic => ({ ...error, file: name })));
  }
  // The definitions of a file that does not parse are unknown, so findings about the other files would often be wrong.
  if (diagnostics.length > 0) return { diagnostics, files, findings: [], estimates: [] };
  const { globals = [], constants = [], tools = [] } = environment;
  const pure = tools.filter((tool) => tool.pure === true).map(({ name }) => name);
  const trees = checked.map(({ file }) => file);
  return {
    diagnostics,
    files,
    findings: findingsWithFixes(checked, analyse(checked, environment)),
    estimates: estimate(trees, BOUNDING_COSTS, { globals, constants, pure }),
  };
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

/** Formats one source. */
export function formatSource({ name, text }: Source, maxBytes: number): FormatReport {
  const result = format(text, { name, maxBytes });
  if (result.ok) return { text: result.text, diagnostics: [] };
  return { text: null, diagnostics: result.errors.map((error) => ({ ...error, file: name })) };
}
