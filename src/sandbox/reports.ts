import type {
  Diagnostic,
  Foreseen,
  ForeseenCall,
  ForeseenCondition,
  ForeseenOrigin,
  ForeseenOrigins,
  ForeseenScalar,
  ForeseenValue,
  FuelEstimate,
  LintFinding,
  ParsedFile,
} from '../wire/sourcereports.ts';
import { isRecord } from '../wire/unknown.ts';
import { boolean, count, listOf, matching, object, oneOf, optional, orNull, type Reader, string, wrong } from './readers.ts';

/** Readers of a worker's reports about sources. */

const range = { line: count, column: count, endLine: count, endColumn: count };

const fix = object<LintFinding['fix']>({
  message: string,
  edits: listOf(object<LintFinding['fix']['edits'][number]>({ ...range, text: string })),
  safe: optional(oneOf(true)),
});

/** A syntax error. */
export const diagnostic: Reader<Diagnostic> = object<Diagnostic>({
  file: string,
  s: count,
  e: count,
  ...range,
  message: string,
  hint: optional(string),
  fix: optional(fix),
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

/** The code of an error. */
export const errorCode = matching(/^(?:NS\d{1,10}|ERR_[A-Z_]{1,40})$/, 'an error code');

const lintCode = matching(/^LINT_[A-Z_]{1,40}$/, 'a lint code');

/** A finding of the linter, or the error of a run that it explains. */
export const finding: Reader<LintFinding> = object<LintFinding>({
  code: (value) => (typeof value === 'string' && value.startsWith('LINT_') ? lintCode : errorCode)(value),
  severity: oneOf('error', 'warning', 'info'),
  file: string,
  ...range,
  message: string,
  fix,
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

const because = orNull(object<NonNullable<Foreseen['because']>>({ message: string, file: string, line: count, column: count }));

const finite: Reader<number> = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : wrong('a number'));

const scalar: Reader<ForeseenScalar> = (value) => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return isRecord(value) ? { $num: string(value['$num']) } : finite(value);
};

/** Foreseen values nest four levels; this allows some more. */
const MOST_LEVELS = 8;

function valueAt(level: number): Reader<ForeseenValue> {
  if (level > MOST_LEVELS) return () => wrong('a value of few levels');
  return (value) => readerAt(level)(value);
}

/** Made once for each level. */
const readers: Reader<ForeseenValue>[] = [];

function readerAt(level: number): Reader<ForeseenValue> {
  const inner = valueAt(level + 1);
  readers[level] ??= object<ForeseenValue>({
    value: optional(scalar),
    oneOf: optional(listOf(scalar)),
    types: optional(listOf(oneOf('nil', 'boolean', 'number', 'string', 'list', 'map', 'other'))),
    least: optional(finite),
    most: optional(finite),
    prefix: optional(string),
    items: optional(listOf(inner)),
    each: optional(inner),
    entries: optional(listOf(entryOf(inner))),
    from: optional(listOf(count)),
    returned: optional(object<NonNullable<ForeseenValue['returned']>>({ call: count, part: optional(oneOf('item')) })),
  });
  return readers[level];
}

function entryOf(read: Reader<ForeseenValue>): Reader<readonly [string, ForeseenValue]> {
  return (value) => {
    const [key, item, ...more] = listOf((part) => part)(value);
    return more.length > 0 ? wrong('a key and a value') : [string(key), read(item)];
  };
}

const origin: Reader<ForeseenOrigin> = object<ForeseenOrigin>({ from: string, file: string, line: count });

/** A call that was foreseen. */
export const foreseenCall: Reader<ForeseenCall> = object<ForeseenCall>({
  name: string,
  file: string,
  line: count,
  column: count,
  elsewhere: boolean,
  args: orNull(listOf(valueAt(0))),
  most: orNull(count),
  least: count,
  when: listOf(
    object<ForeseenCondition>({
      kind: oneOf('if', 'unless', 'while', 'each', 'error', 'event', 'procedure'),
      text: string,
      file: string,
      line: count,
    }),
  ),
  origins: optional(object<ForeseenOrigins>({ args: listOf(listOf(origin)), deciding: listOf(origin) })),
});

/** The maximum effects of a program. */
export const foreseen: Reader<Foreseen> = object<Foreseen>({
  calls: listOf(foreseenCall),
  fuel: orNull(count),
  memoryBytes: orNull(count),
  outputBytes: orNull(count),
  scratchBytes: orNull(count),
  because,
});
