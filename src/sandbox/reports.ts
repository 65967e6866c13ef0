import type { Diagnostic, FuelEstimate, LintFinding, ParsedFile } from '../wire/sourcereports.ts';
import { count, listOf, matching, object, oneOf, optional, orNull, type Reader, string, wrong } from './readers.ts';

/** Readers of what a worker reports about sources. */

const range = { line: count, column: count, endLine: count, endColumn: count };

/** A syntax error. */
export const diagnostic: Reader<Diagnostic> = object<Diagnostic>({
  file: string,
  s: count,
  e: count,
  ...range,
  message: string,
  hint: optional(string),
});

const strings = listOf(string);

const metadata: Reader<readonly [string, string]> = (value) => {
  const [key, text, ...more] = strings(value);
  return key === undefined || text === undefined || more.length > 0 ? wrong('a key and a text') : [key, text];
};

/** The summary of a file. */
export const parsedFile: Reader<ParsedFile> = object<ParsedFile>({
  name: string,
  kind: oneOf('library', 'commands', 'empty'),
  commandBlocks: count,
  procedures: strings,
  signatures: strings,
  metadata: listOf(metadata),
  events: count,
  tools: strings,
  typed: optional(oneOf('statements', 'expression')),
});

/** A finding of the linter. */
export const finding: Reader<LintFinding> = object<LintFinding>({
  code: matching(/^LINT_[A-Z_]{1,40}$/, 'a lint code'),
  severity: oneOf('error', 'warning', 'info'),
  file: string,
  ...range,
  message: string,
  fix: object<LintFinding['fix']>({
    message: string,
    edits: listOf(object<LintFinding['fix']['edits'][number]>({ ...range, text: string })),
  }),
  tool: optional(string),
});

/** The estimated fuel of a block. */
export const fuelEstimate: Reader<FuelEstimate> = object<FuelEstimate>({
  kind: oneOf('command', 'procedure', 'event'),
  name: string,
  file: string,
  line: count,
  column: count,
  least: count,
  most: orNull(count),
  because: orNull(object<NonNullable<FuelEstimate['because']>>({ message: string, file: string, line: count, column: count })),
});
