import type { ForeseenScalar, ForeseenType, ForeseenValue } from '../../../grammar/index.ts';
import { defined } from '../../wire/defined.ts';
import { literalPattern, meetsCondition, pieces, typeOf } from '../policy/conditions.ts';
import type { Condition, ConditionParts, ConditionRow, ConditionScalar } from '../policy/options.ts';

/**
 * The narrowest condition that every value of the description meets; undefined where it says nothing. A condition does not tell -0 from 0,
 * has no NaN and no infinities, and cannot end with a backslash what a pattern begins with: there it is wider than the description.
 */
export function conditionFor(known: ForeseenValue): Condition | undefined {
  const { value, oneOf, types, least, most, prefix, items, each, entries } = known;
  if (value !== undefined) {
    const scalar = scalarFor(value);
    return scalar === undefined ? { type: 'number' } : scalar;
  }
  if (oneOf !== undefined) {
    const choices = oneOf.map(scalarFor);
    if (choices.every((one) => one !== undefined)) return { in: choices };
    return { type: [...new Set(oneOf.map(typeOf))] };
  }
  if (prefix !== undefined && prefix !== '') return `${literalPattern(beforeBackslashes(prefix))}*`;
  if (items !== undefined) return { items: items.map(partFor) };
  if (entries !== undefined) {
    // A key that objects of JavaScript give a meaning cannot be written.
    if (entries.some(([key]) => key === '__proto__')) return { type: 'map' };
    return { entries: Object.fromEntries(entries.map(([key, entry]) => [key, partFor(entry)])) };
  }
  if (each !== undefined) {
    const condition = conditionFor(each);
    return condition === undefined ? { type: 'list' } : { each: condition };
  }
  const range = defined({ min: least, max: most });
  if (Object.keys(range).length > 0) return range;
  if (prefix !== undefined) return { type: 'string' };
  if (types === undefined) return undefined;
  const [only, ...others] = types;
  return only === undefined || others.length > 0 ? { type: types } : only === 'nil' ? null : { type: only };
}

function beforeBackslashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\\') end--;
  return text.slice(0, end);
}

function partFor(known: ForeseenValue): Condition {
  return orAny(conditionFor(known));
}

const ANY: Condition = { type: 'any' };

function scalarFor(value: ForeseenScalar): ConditionScalar | undefined {
  if (typeof value === 'object' && value !== null) return value.$num === '-0' ? 0 : undefined;
  return typeof value === 'string' ? literalPattern(value) : value;
}

/** Whether every value that meets the one condition meets the other. May be false although it does. */
export function implies(one: Condition, other: Condition): boolean {
  if (JSON.stringify(one) === JSON.stringify(other)) return true;
  const parts: ConditionParts = isScalar(one) ? {} : one;
  if (parts.in?.every((choice) => implies(choice, other)) === true) return true;
  const known = describedBy(one);
  if (isScalar(other)) return meetsCondition(other, known) === true;
  const { each, items, entries, minLength, maxLength, ...plain } = other;
  const isLong =
    (minLength === undefined || minLength <= (parts.minLength ?? -1)) &&
    (maxLength === undefined || maxLength >= (parts.maxLength ?? Number.POSITIVE_INFINITY));
  return (
    (isLong || meetsCondition(defined({ minLength, maxLength }), known) === true) &&
    (each === undefined || (parts.items ?? [parts.each]).every((item) => item !== undefined && implies(item, each))) &&
    (items === undefined || (parts.items?.length === items.length && allImply(parts.items, items))) &&
    (entries === undefined || (parts.entries !== undefined && sameKeys(parts.entries, entries))) &&
    (Object.keys(plain).length === 0 || meetsCondition(plain, known) === true)
  );
}

function allImply(ones: readonly Condition[], others: readonly Condition[]): boolean {
  return ones.every((one, index) => implies(one, orAny(others[index])));
}

function sameKeys(one: Readonly<Record<string, Condition>>, other: Readonly<Record<string, Condition>>): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length || !keys.every((key) => Object.hasOwn(other, key))) return false;
  return allImply(
    Object.values(one),
    keys.map((key) => orAny(other[key])),
  );
}

/** The condition, which nil may be. */
function orAny(condition: Condition | undefined): Condition {
  return condition === undefined ? ANY : condition;
}

/** Whether all arguments that meet the one row meet the other. Names of arguments may be in any letter case. */
export function rowImplies(one: ConditionRow, other: ConditionRow): boolean {
  const given = new Map(Object.entries(one).map(([name, condition]) => [name.toLowerCase(), condition]));
  return Object.entries(other).every(([name, condition]) => implies(orAny(given.get(name.toLowerCase())), condition));
}

function isScalar(condition: Condition): condition is ConditionScalar {
  return typeof condition !== 'object' || condition === null;
}

/** A description that holds for every value that meets the condition. */
function describedBy(condition: Condition): ForeseenValue {
  if (isScalar(condition)) return typeof condition === 'string' ? textOf(condition) : { value: condition };
  const { type, in: choices, min, max, each, items, entries } = condition;
  const types = type === undefined || [type].flat().includes('any') ? undefined : ([type].flat() as readonly ForeseenType[]);
  const literal = choices?.map((choice) => describedBy(choice).value).filter((value) => value !== undefined);
  return defined({
    types,
    oneOf: literal?.length === choices?.length ? literal : undefined,
    least: min,
    most: max,
    each: each === undefined ? undefined : describedBy(each),
    items: items?.map(describedBy),
    entries:
      entries === undefined ? undefined : Object.entries(entries).map(([key, entry]) => [key, describedBy(entry)] as const),
  });
}

function textOf(pattern: string): ForeseenValue {
  const [first = '', ...rest] = pieces(pattern);
  return rest.length === 0 ? { value: first } : { types: ['string'], prefix: first };
}
