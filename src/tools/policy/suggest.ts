import type { ForeseenValue } from '../../../grammar/index.ts';
import { literalPattern, meetsCondition, pieces } from './conditions.ts';
import { argumentsNamed, type CalledTool, takesMap } from './decide.ts';
import type { Condition, ConditionRow, ConditionScalar, ConditionType } from './options.ts';

/** Most values that a condition lists, and most characters of one. */
const MOST_VALUES = 8;
const MOST_CHARACTERS = 100;
/** Most keys of a map with a condition each, and most levels of containers. */
const MOST_KEYS = 16;
const MOST_LEVELS = 4;
const LEAST_LENGTH = 16;
/** Least characters that a pattern has beside its star. */
const LEAST_PATTERN = 3;
/** Where a text may be cut for a pattern: `/data/*`, `*@example.com`. */
const SEPARATORS: ReadonlySet<string | undefined> = new Set(' \t\n/:.@,;#?&=_-');
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The row of conditions that calls of a tool have met: narrow, and short of naming each call. Null when nothing is to be said of any argument.
 * `calls` has the arguments of each, of which all is known.
 */
export function suggestRow(tool: CalledTool, calls: readonly (readonly ForeseenValue[])[]): ConditionRow | null {
  const names = takesMap(tool)
    ? [...new Set(calls.flatMap(([first]) => first?.entries?.map(([key]) => key) ?? []))].slice(0, MOST_KEYS)
    : tool.parameters.map(({ name }) => name);
  const conditions = names.flatMap((name): (readonly [string, Condition])[] => {
    const seen = calls.flatMap((args) => argumentsNamed(tool, name, args));
    const condition = conditionOf(seen, MOST_LEVELS);
    return condition !== undefined && NAME.test(name) ? [[name, condition]] : [];
  });
  return conditions.length === 0 ? null : Object.fromEntries(conditions);
}

/** A condition that all values meet; undefined where none would narrow anything. */
function conditionOf(seen: readonly ForeseenValue[], levels: number): Condition | undefined {
  const types = typesOf(seen);
  const byType = types.length === 0 ? undefined : { type: types.length === 1 && types[0] !== undefined ? types[0] : types };
  const candidates = [listed(seen), likeness(seen), levels > 0 ? partsOf(seen, types, levels) : undefined, byType];
  return candidates.find(
    (candidate) => candidate !== undefined && seen.every((value) => meetsCondition(candidate, value) === true),
  );
}

const TYPES: readonly ConditionType[] = ['nil', 'boolean', 'number', 'string', 'list', 'map', 'other'];

function typesOf(seen: readonly ForeseenValue[]): readonly ConditionType[] {
  return TYPES.filter((type) => seen.some((value) => meetsCondition({ type }, value) === true));
}

/** Exactly these values, if each was seen again, or there is one. */
function listed(seen: readonly ForeseenValue[]): Condition | undefined {
  const counts = new Map<ConditionScalar, number>();
  for (const value of seen) {
    const scalar = scalarOf(value);
    if (scalar === undefined || (typeof scalar === 'string' && scalar.length > MOST_CHARACTERS)) return undefined;
    counts.set(scalar, (counts.get(scalar) ?? 0) + 1);
    if (counts.size > MOST_VALUES) return undefined;
  }
  const choices = [...counts.keys()].map((scalar) => (typeof scalar === 'string' ? literalPattern(scalar) : scalar));
  const [only] = choices;
  if (only !== undefined && choices.length === 1) return only;
  const again = [...counts].every(([scalar, count]) => scalar === null || count > 1);
  return again && !choices.every((choice) => typeof choice === 'boolean') ? { in: choices } : undefined;
}

/** What texts or numbers have in common. */
function likeness(seen: readonly ForeseenValue[]): Condition | undefined {
  const scalars = seen.map(scalarOf);
  const given = scalars.filter((scalar) => scalar !== null);
  const mayBeNil = given.length < scalars.length;
  if (given.length === 0) return undefined;
  if (given.every((scalar) => typeof scalar === 'number') && !mayBeNil)
    return { min: Math.min(...given), max: Math.max(...given) };
  if (!given.every((scalar) => typeof scalar === 'string')) return undefined;
  const pattern = patternOf(given);
  if (pattern !== null) return mayBeNil ? { in: [null, pattern] } : pattern;
  return mayBeNil ? undefined : { type: 'string', maxLength: roomFor(given.map((text) => [...text].length)) };
}

function partsOf(seen: readonly ForeseenValue[], types: readonly ConditionType[], levels: number): Condition | undefined {
  const [type] = types;
  if (types.length > 1) return undefined;
  if (type === 'list') {
    const each = conditionOf(
      seen.flatMap(({ items = [] }) => items),
      levels - 1,
    );
    const maxLength = roomFor(seen.map(({ items = [] }) => items.length));
    return each === undefined ? { type, maxLength } : { each, maxLength };
  }
  const [first] = seen;
  if (type !== 'map' || first?.entries === undefined || first.entries.length > MOST_KEYS) return undefined;
  const entries = first.entries.map(([key]): readonly [string, Condition] => {
    const values = seen.flatMap(({ entries: all = [] }) => all.filter(([other]) => other === key).map(([, value]) => value));
    return [key, conditionOf(values, levels - 1) ?? { type: 'any' }];
  });
  return { entries: Object.fromEntries(entries) };
}

function scalarOf({ value }: ForeseenValue): ConditionScalar | undefined {
  return typeof value === 'object' && value !== null ? undefined : value;
}

/** The next power of two, so that a length a little greater is no breach. */
function roomFor(lengths: readonly number[]): number {
  return Math.max(LEAST_LENGTH, 2 ** Math.ceil(Math.log2(Math.max(1, ...lengths))));
}

/** The beginning and end that all texts have, up to a separator; null when they are too short to say anything. */
function patternOf(texts: readonly string[]): string | null {
  const [first = ''] = texts;
  let start = 0;
  while (start < first.length && texts.every((text) => text[start] === first[start])) start++;
  while (start > 0 && !SEPARATORS.has(first[start - 1])) start--;
  let end = 0;
  const least = Math.min(...texts.map((text) => text.length - start));
  while (end < least && texts.every((text) => text.at(-1 - end) === first.at(-1 - end))) end++;
  while (end > 0 && !SEPARATORS.has(first.at(-end))) end--;
  if (start + end < LEAST_PATTERN || start + end > MOST_CHARACTERS) return null;
  const pattern = `${literalPattern(first.slice(0, start))}*${literalPattern(first.slice(first.length - end))}`;
  return pieces(pattern).length === 2 ? pattern : null;
}
