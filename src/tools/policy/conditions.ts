import type { ForeseenScalar, ForeseenType, ForeseenValue } from '../../../grammar/index.ts';
import { characterCount } from '../../wire/clip.ts';
import { isMadeOf } from '../../wire/wildcard.ts';
import type { Condition, ConditionParts, ConditionScalar, ConditionType } from './options.ts';

/** Whether something holds; null when what is known does not say. */
export type Truth = boolean | null;

/** Whether a value meets a condition. For a value of which all is known, the answer is never null. */
export function meetsCondition(condition: Condition, known: ForeseenValue): Truth {
  if (typeof condition !== 'object' || condition === null) return equals(condition, known);
  const { type, in: choices, min, max, each, items, entries } = condition;
  return every([
    type === undefined ? true : alternatives(known, (one) => hasType([type].flat(), one)),
    choices === undefined ? true : some(choices.map((choice) => equals(choice, known))),
    min === undefined && max === undefined ? true : alternatives(known, (one) => inRange(condition, one)),
    alternatives(known, (one) => hasLength(condition, one)),
    each === undefined ? true : meetsEach(each, known),
    items === undefined ? true : meetsItems(items, known),
    entries === undefined ? true : meetsEntries(Object.entries(entries), known),
  ]);
}

export function every(truths: readonly Truth[]): Truth {
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
}

export function some(truths: readonly Truth[]): Truth {
  return truths.includes(true) ? true : truths.includes(null) ? null : false;
}

/** The answer for a value that is one of several. */
function alternatives(known: ForeseenValue, ask: (one: ForeseenValue) => Truth): Truth {
  if (known.oneOf === undefined) return ask(known);
  const answers = known.oneOf.map((value) => ask({ value }));
  return answers.every((answer) => answer === answers[0]) ? (answers[0] ?? null) : null;
}

function equals(wanted: ConditionScalar, known: ForeseenValue): Truth {
  return alternatives(known, (one) => {
    if (one.value !== undefined) return isScalar(wanted, one.value);
    if (!mayBe(one, wanted === null ? 'nil' : (typeof wanted as ForeseenType))) return false;
    if (typeof wanted === 'string') return textMatches(wanted, one);
    const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = one;
    return typeof wanted === 'number' && (wanted < least || wanted > most) ? false : null;
  });
}

function isScalar(wanted: ConditionScalar, value: ForeseenScalar): boolean {
  if (typeof wanted === 'number') return numberIn({ value }) === wanted;
  return typeof wanted === 'string' ? typeof value === 'string' && isMadeOf(pieces(wanted), value) : wanted === value;
}

/** The texts between the stars of a pattern: `*` stands for any characters, `\*` for a star. */
export function pieces(pattern: string): string[] {
  const [first = '', ...rest] = pattern.split('*');
  const found = [first];
  for (const part of rest) {
    const last = found.at(-1) ?? '';
    if (last.endsWith('\\')) found[found.length - 1] = `${last.slice(0, -1)}*${part}`;
    else found.push(part);
  }
  return found;
}

/** The pattern that only this text matches. */
export function literalPattern(text: string): string {
  return text.replaceAll('*', String.raw`\*`);
}

/** Whether a text of which only the beginning is known matches. */
function textMatches(pattern: string, { types, prefix = '' }: ForeseenValue): Truth {
  const [first = '', ...rest] = pieces(pattern);
  if (!first.startsWith(prefix) && !(rest.length > 0 && prefix.startsWith(first))) return false;
  const isText = prefix !== '' || (types?.length === 1 && types[0] === 'string');
  return isText && rest.length === 1 && rest[0] === '' && prefix.startsWith(first) ? true : null;
}

function inRange(
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: ConditionParts,
  known: ForeseenValue,
): Truth {
  if (known.value !== undefined) {
    const number = numberIn(known);
    return number !== null && number >= min && number <= max;
  }
  if (!mayBe(known, 'number')) return false;
  const { least, most } = known;
  if ((least ?? Number.NEGATIVE_INFINITY) > max || (most ?? Number.POSITIVE_INFINITY) < min) return false;
  // A number without any known bound may be no number at all.
  if (least === undefined && most === undefined) return null;
  return (least ?? Number.NEGATIVE_INFINITY) >= min && (most ?? Number.POSITIVE_INFINITY) <= max ? true : null;
}

/** The number that a value is; null for any other value. */
function numberIn({ value }: ForeseenValue): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'object' && value !== null ? Number(value.$num) : null;
}

function hasLength({ minLength, maxLength }: ConditionParts, known: ForeseenValue): Truth {
  if (minLength === undefined && maxLength === undefined) return true;
  const within = (length: number): boolean => length >= (minLength ?? 0) && length <= (maxLength ?? Number.POSITIVE_INFINITY);
  const { value, prefix, items, entries } = known;
  if (typeof value === 'string') return within(characterCount(value));
  const parts = items ?? entries;
  if (parts !== undefined) return within(parts.length);
  if (value !== undefined || !(['string', 'list', 'map'] as const).some((type) => mayBe(known, type))) return false;
  const least = prefix === undefined ? 0 : characterCount(prefix);
  if (least > (maxLength ?? Number.POSITIVE_INFINITY)) return false;
  return maxLength === undefined && prefix !== undefined && within(least) ? true : null;
}

function meetsEach(condition: Condition, known: ForeseenValue): Truth {
  const { value, oneOf, items, each } = known;
  if (items !== undefined) return every(items.map((item) => meetsCondition(condition, item)));
  if (value !== undefined || oneOf !== undefined || !mayBe(known, 'list')) return false;
  return each !== undefined && meetsCondition(condition, each) === true ? true : null;
}

function meetsItems(conditions: readonly Condition[], known: ForeseenValue): Truth {
  const { value, oneOf, items } = known;
  if (items === undefined) return value === undefined && oneOf === undefined && mayBe(known, 'list') ? null : false;
  if (items.length !== conditions.length) return false;
  return every(items.map((item, index) => meetsCondition(conditions[index] ?? null, item)));
}

function meetsEntries(conditions: readonly (readonly [string, Condition])[], known: ForeseenValue): Truth {
  const { value, oneOf, entries } = known;
  if (entries === undefined) return value === undefined && oneOf === undefined && mayBe(known, 'map') ? null : false;
  const given = new Map(entries);
  if (given.size !== conditions.length) return false;
  return every(
    conditions.map(([key, condition]) => {
      const entry = given.get(key);
      return entry === undefined ? false : meetsCondition(condition, entry);
    }),
  );
}

const TYPES = ['nil', 'boolean', 'number', 'string', 'list', 'map', 'other'] as const;

function hasType(wanted: readonly ConditionType[], known: ForeseenValue): Truth {
  if (wanted.includes('any')) return true;
  const possible = TYPES.filter((type) => (known.value === undefined ? mayBe(known, type) : typeOf(known.value) === type));
  const fitting = possible.filter((type) => wanted.includes(type));
  return fitting.length === 0 ? false : fitting.length === possible.length ? true : null;
}

/** The type of a value without parts. */
export function typeOf(value: ForeseenScalar): Exclude<ForeseenType, 'list' | 'map' | 'other'> {
  if (value === null) return 'nil';
  return typeof value === 'object' ? 'number' : (typeof value as 'boolean' | 'number' | 'string');
}

function mayBe({ types, items, each, entries, prefix, least, most }: ForeseenValue, type: ForeseenType): boolean {
  if (types !== undefined) return types.includes(type);
  if (items !== undefined || each !== undefined) return type === 'list';
  if (entries !== undefined) return type === 'map';
  if (prefix !== undefined) return type === 'string';
  return least !== undefined || most !== undefined ? type === 'number' : true;
}

/** A condition in words, as part of a sentence. */
export function conditionText(condition: Condition): string {
  if (typeof condition !== 'object' || condition === null) return scalarText(condition);
  const { type, in: choices, min, max, minLength, maxLength, each, items, entries } = condition;
  return [
    ...(type === undefined ? [] : [[type].flat().map(typeText).join(' or ')]),
    ...(choices === undefined ? [] : [choices.map(scalarText).join(' or ')]),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(minLength === undefined ? [] : [`at least ${minLength} long`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} long`]),
    ...(each === undefined ? [] : [`a list, each item ${conditionText(each)}`]),
    ...(items === undefined ? [] : [`[${items.map(conditionText).join(', ')}]`]),
    ...(entries === undefined ? [] : [`{${Object.entries(entries).map(entryText).join(', ')}}`]),
  ].join(' and ');
}

function scalarText(value: ConditionScalar): string {
  return value === null ? 'nil' : JSON.stringify(value);
}

function typeText(type: ConditionType): string {
  return type === 'any' ? 'anything' : type === 'other' ? 'special value' : type;
}

function entryText([key, condition]: readonly [string, Condition]): string {
  return `${JSON.stringify(key)}: ${conditionText(condition)}`;
}
