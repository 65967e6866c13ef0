/** Fixes for programs with forms of other languages. */
import type { LintCode } from '../lint/codes.ts';
import type { CheckedFile, Edit, Environment, Finding, Fix } from '../lint/finding.ts';
import { proceduresOf } from '../lint/scopes.ts';
import { clean } from '../syntax/clean.ts';
import { MAX_SOURCE_BYTES, parse } from '../syntax/parse.ts';
import { type LineTable, lastAtMost, lineTable, type Position, positionAt } from '../syntax/position.ts';
import type { SyntaxDiagnostic } from '../syntax/problem.ts';
import { applied, type Change } from './apply.ts';
import { harmless, mostTried } from './harmless.ts';
import { changesOf } from './program.ts';
import { withoutProse } from './prose.ts';

export { withEdits } from './apply.ts';
export { type Cause, causesOf } from './causes.ts';
export { oneBlock } from './oneblock.ts';

/** A syntax error with its fix, if one is evident. */
export interface FixedDiagnostic extends SyntaxDiagnostic {
  /** The fix; absent if none is evident. */
  readonly fix?: Fix;
}

/** Most units of a program that gets fixes, because a person waits for them. */
const MAX_LENGTH = 200_000;

/**
 * The syntax errors of a source, each with its fix if one is evident. The text is translated from other languages; NeuroScript parts are
 * unchanged. A change belongs to the first error in its lines, or else to the nearest one. No error gets a fix unless all fixes together
 * leave fewer errors, and no fix leaves more errors than there were, alone or with others. `environment` is what is known of the host: a fix
 * may call a tool. Takes time about linear in the length of the text.
 */
export function errorsWithFixes(
  source: string,
  errors: readonly SyntaxDiagnostic[],
  environment: Environment = {},
): readonly FixedDiagnostic[] {
  const { text } = clean(source, MAX_SOURCE_BYTES);
  const fixes = harmless(text, fixesFor(text, errors, false, environment), environment);
  return errors.map((error) => {
    const fix = fixes.get(error);
    return fix === undefined ? error : { ...error, fix: { ...fix, message: error.hint ?? fix.message } };
  });
}

/**
 * The findings of files that parse. A finding gets the fix for a form of another language in its lines, such as a call of `str`; other
 * findings keep their fixes. No fix leaves more errors than there were; `environment` is that of the check.
 */
export function findingsWithFixes(
  files: readonly CheckedFile[],
  findings: readonly Finding[],
  environment: Environment = {},
): readonly Finding[] {
  const procedures = new Map([...(environment.procedures ?? []), ...proceduresOf(files)]);
  const fixes = new Map<Finding, Fix>();
  for (const { file, text } of files) {
    const own = findings.filter((found) => found.file === file.name);
    const wrong = own.filter(({ code, severity, fix }) => fix.edits.length === 0 && (severity === 'error' || VALID.has(code)));
    const given = own.flatMap((found): [Finding, Fix][] => (found.fix.edits.length === 0 ? [] : [[found, found.fix]]));
    // The others can be made after these.
    const written = [...fixesFor(text, wrong, true, environment)];
    const all = new Map([...given, ...written.map(asProposed)].slice(0, mostTried(text)));
    for (const [found, fix] of harmless(text, all, { ...environment, procedures })) fixes.set(found, fix);
  }
  return findings.map((found) => ({ ...found, fix: fixes.get(found) ?? { message: found.fix.message, edits: [] } }));
}

/** Findings about what is valid, and has another meaning elsewhere. */
const VALID: ReadonlySet<string> = new Set<LintCode>([
  'LINT_OPERAND',
  'LINT_LOGIC_VALUE',
  'LINT_NEGATIVE_INDEX',
  'LINT_PLAIN_TEMPLATE',
]);

function asProposed([found, { safe, ...fix }]: readonly [Finding, Fix]): [Finding, Fix] {
  return [found, found.severity !== 'error' || safe !== true ? fix : { ...fix, safe }];
}

interface Wrong {
  readonly line: number;
  readonly code?: LintCode;
}

/** The fixes of a cleaned text, by error. `parses`: whether the errors are no syntax errors. */
function fixesFor<Error extends Wrong>(
  text: string,
  errors: readonly Error[],
  parses: boolean,
  { tools = [] }: Environment,
): ReadonlyMap<Error, Fix> {
  if (text.length > MAX_LENGTH || errors.length === 0) return new Map();
  const lines = lineTable(text);
  const { masked, removed } = withoutProse(text);
  const meant = errors.flatMap(({ code, line }) => (code !== undefined && VALID.has(code) ? [line] : []));
  const known = { tools: new Set(tools.map(({ name }) => name)), meant: new Set(meant) };
  const changes = [...changesOf(masked, known), ...removed].sort((a, b) => a.s - b.s || a.e - b.e);
  const owners = ownersOf(changes, errors, parses, lines);
  const used = changes.filter(({ group }) => owners.has(group));
  const result = parse(applied(text, used, 0, text.length), { name: '' });
  if (!result.ok && (parses || result.errors.length >= errors.length)) return new Map();
  const own = Map.groupBy(used, ({ group }) => owners.get(group));
  return new Map(errors.flatMap((error) => (own.has(error) ? [[error, fixOf(own.get(error) ?? [], lines)]] : [])));
}

/** The error that each group of changes belongs to. Changes that touch each other belong to one. */
function ownersOf<Error extends Wrong>(
  changes: readonly Change[],
  errors: readonly Error[],
  parses: boolean,
  lines: LineTable,
): ReadonlyMap<number, Error> {
  const ordered = errors.toSorted((a, b) => a.line - b.line);
  const wrong = ordered.map(({ line }) => line);
  const lineOf = (offset: number): number => positionAt(lines, offset).line;
  /** Index of the first error in the lines of a change; none has it where there is none. */
  const firstIn = ({ s, e }: Change): number => {
    const first = lastAtMost(wrong, lineOf(s) - 1) + 1;
    return (wrong[first] ?? Number.POSITIVE_INFINITY) <= lineOf(e) ? first : wrong.length;
  };
  const joined = new Map<number, number>();
  const rootOf = (group: number): number => {
    const root = joined.get(group);
    return root === undefined ? group : rootOf(root);
  };
  for (const [index, change] of changes.entries()) {
    const before = changes[index - 1];
    if (before === undefined || before.e < change.s) continue;
    const [root, other] = [rootOf(before.group), rootOf(change.group)];
    if (root !== other) joined.set(other, root);
  }
  const owners = new Map<number, Error>();
  for (const [root, own] of Map.groupBy(changes, ({ group }) => rootOf(group))) {
    const touching = ordered[own.reduce((least, change) => Math.min(least, firstIn(change)), wrong.length)];
    const [first] = own;
    const nearest = parses || first === undefined ? undefined : (ordered[lastAtMost(wrong, lineOf(first.s))] ?? ordered[0]);
    const owner = touching ?? nearest;
    if (owner !== undefined) owners.set(root, owner);
  }
  return new Map(
    changes.flatMap(({ group }) => {
      const owner = owners.get(rootOf(group));
      return owner === undefined ? [] : [[group, owner]];
    }),
  );
}

function fixOf(changes: readonly Change[], lines: LineTable): Fix {
  const at = (offset: number): Position => positionAt(lines, offset);
  const edits = changes.map(({ s, e, text }): Edit => {
    const [start, end] = [at(s), at(e)];
    return { line: start.line, column: start.column, endLine: end.line, endColumn: end.column, text };
  });
  const shown = changes.map(({ text }) => text.trim().split('\n')[0] ?? '').find((text) => text !== '');
  const message = shown === undefined ? 'leave it out' : `write \`${shown}\``;
  return changes.some(({ guessed }) => guessed) ? { message, edits } : { message, edits, safe: true };
}
