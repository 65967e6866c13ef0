import type { Diagnostic, FuelEstimate, LintFinding, ParsedFile } from '../wire/protocol.ts';
import { count, type Fields, list, oneOf, orNull, type Reader, record, string, wrong } from './fields.ts';

/** What a worker says about sources, read field by field. */

const TYPED: ReadonlySet<unknown> = new Set<ParsedFile['typed']>(['statements', 'expression']);
const FILE_KINDS: ReadonlySet<unknown> = new Set<ParsedFile['kind']>(['library', 'commands', 'empty']);

/** A syntax error. */
export const diagnostic: Reader<Diagnostic> = (value, path) => {
  const fields = record(value, path);
  const { hint } = fields;
  return {
    file: string(fields['file'], `${path}.file`),
    s: count(fields['s'], `${path}.s`),
    e: count(fields['e'], `${path}.e`),
    ...range(fields, path),
    message: string(fields['message'], `${path}.message`),
    ...(hint === undefined ? {} : { hint: string(hint, `${path}.hint`) }),
  };
};

const pair: Reader<readonly [string, string]> = (value, path) => {
  const [key, text, ...more] = list(value, path, string);
  return key === undefined || text === undefined || more.length > 0 ? wrong(path, 'a key and a text') : [key, text];
};

/** The summary of a file. */
export const parsedFile: Reader<ParsedFile> = (value, path) => {
  const fields = record(value, path);
  return {
    name: string(fields['name'], `${path}.name`),
    kind: oneOf<ParsedFile['kind']>(FILE_KINDS, fields['kind'], `${path}.kind`),
    commandBlocks: count(fields['commandBlocks'], `${path}.commandBlocks`),
    procedures: list(fields['procedures'], `${path}.procedures`, string),
    signatures: list(fields['signatures'], `${path}.signatures`, string),
    metadata: list(fields['metadata'], `${path}.metadata`, pair),
    events: count(fields['events'], `${path}.events`),
    tools: list(fields['tools'], `${path}.tools`, string),
    ...(fields['typed'] === undefined
      ? {}
      : { typed: oneOf<NonNullable<ParsedFile['typed']>>(TYPED, fields['typed'], `${path}.typed`) }),
  };
};

const SEVERITIES: ReadonlySet<unknown> = new Set<LintFinding['severity']>(['error', 'warning', 'info']);
const LINT = /^LINT_[A-Z_]{1,40}$/;
const BLOCKS: ReadonlySet<unknown> = new Set<FuelEstimate['kind']>(['command', 'procedure', 'event']);

/** What the linter says. */
export const finding: Reader<LintFinding> = (value, path) => {
  const fields = record(value, path);
  const code = string(fields['code'], `${path}.code`);
  const fix = record(fields['fix'], `${path}.fix`);
  return {
    code: LINT.test(code) ? code : wrong(`${path}.code`, 'a lint code'),
    severity: oneOf<LintFinding['severity']>(SEVERITIES, fields['severity'], `${path}.severity`),
    file: string(fields['file'], `${path}.file`),
    ...range(fields, path),
    message: string(fields['message'], `${path}.message`),
    fix: {
      message: string(fix['message'], `${path}.fix.message`),
      edits: list(fix['edits'], `${path}.fix.edits`, edit),
    },
  };
};

const edit: Reader<LintFinding['fix']['edits'][number]> = (value, path) => {
  const fields = record(value, path);
  return { ...range(fields, path), text: string(fields['text'], `${path}.text`) };
};

function range(fields: Fields, path: string) {
  return {
    line: count(fields['line'], `${path}.line`),
    column: count(fields['column'], `${path}.column`),
    endLine: count(fields['endLine'], `${path}.endLine`),
    endColumn: count(fields['endColumn'], `${path}.endColumn`),
  };
}

/** The cost of a block. */
export const fuelEstimate: Reader<FuelEstimate> = (value, path) => {
  const fields = record(value, path);
  return {
    kind: oneOf<FuelEstimate['kind']>(BLOCKS, fields['kind'], `${path}.kind`),
    name: string(fields['name'], `${path}.name`),
    file: string(fields['file'], `${path}.file`),
    line: count(fields['line'], `${path}.line`),
    column: count(fields['column'], `${path}.column`),
    least: count(fields['least'], `${path}.least`),
    most: orNull(fields['most'], `${path}.most`, count),
    because: orNull(fields['because'], `${path}.because`, cause),
  };
};

const cause: Reader<NonNullable<FuelEstimate['because']>> = (value, path) => {
  const fields = record(value, path);
  return {
    message: string(fields['message'], `${path}.message`),
    file: string(fields['file'], `${path}.file`),
    line: count(fields['line'], `${path}.line`),
    column: count(fields['column'], `${path}.column`),
  };
};
