/** Knowledge about a value without running the program: its possible types and its largest sizes. */

import type { Expr } from '../syntax/astexpressions.ts';

/** Possible types, as a set of bits. */
export const NUM = 1;
export const BOOL = 2;
export const NIL = 4;
export const TEXT = 8;
export const LIST = 16;
export const MAP = 32;
/** Bytes, times, fuzzy values, errors, handles. */
export const OTHER = 64;
export const ANYTHING = 127;

/** An abstract value, which stands for every value that fits the description. Sizes are upper bounds, in UTF-16 units. */
export interface Abstract {
  readonly types: number;
  /** The value itself, if it is certain. */
  readonly known?: Scalar;
  /** The smallest and the largest number that the value can be. Where one of them is finite, the number is not NaN. */
  readonly min: number;
  readonly max: number;
  /** The length of the longest text that the value can be. */
  readonly units: number;
  /** The length of the longest form in which the value is printed: as text, quoted, or as JSON. */
  readonly size: number;
  /** Items and entries at all levels, each counted in every list or map that contains it. */
  readonly nodes: number;
  /** Passes of a `for each` over the value, at least and at most. */
  readonly least: number;
  readonly most: number;
  /** Whether the printed value has no character that JSON must escape. */
  readonly plain: boolean;
  /** Describes every item of a list, if that is known. */
  readonly item?: Abstract | undefined;
  /** The items one by one, if their number is certain. */
  readonly items?: readonly Abstract[];
  /** The values by key, if the keys of a map are certain. */
  readonly fields?: ReadonlyMap<string, Abstract>;
  /** All scalars that the value can be, if they are few and it is not certain which. */
  readonly options?: readonly Scalar[];
  readonly prefix?: string;
  /** Calls whose results are known to be in the value, by the number of their place. */
  readonly from?: readonly number[] | undefined;
  /** The answer of a call that the value certainly is, or of which it is an element. */
  readonly answer?: Answer | undefined;
}

/** A whole answer to a call at a place, or an element of one. */
export interface Answer {
  readonly place: number;
  readonly part?: 'item';
}

/** A value that a literal can write. */
export type Scalar = number | boolean | string | null;

const INFINITE = Number.POSITIVE_INFINITY;

export const UNKNOWN: Abstract = {
  types: ANYTHING,
  min: -INFINITE,
  max: INFINITE,
  units: INFINITE,
  size: INFINITE,
  nodes: INFINITE,
  least: 0,
  most: INFINITE,
  plain: false,
};

const scalar = { min: -INFINITE, max: INFINITE, units: 0, nodes: 0, least: 0, most: 0, plain: true };

/** Longest text form of a number: 324 zeros after the point, digits, a sign. */
const NUMBER_SIZE = 345;
/** Length of the JSON of infinities and −0, which is longer than their text. */
const TAGGED_SIZE = 22;

export const NUMBER: Abstract = { ...scalar, types: NUM, size: NUMBER_SIZE };
export const BOOLEAN: Abstract = { ...scalar, types: BOOL, size: 5 };
/** The result of `and`, `or` and `not`. */
export const LOGICAL: Abstract = { ...scalar, types: BOOL | OTHER, size: NUMBER_SIZE };
export const NOTHING: Abstract = { ...scalar, types: NIL, size: 3, known: null };

/** A number from `min` to `max`. A bound that is NaN does not count. */
export function numberWithin(min: number, max: number): Abstract {
  return Number.isNaN(min) || Number.isNaN(max) ? NUMBER : { ...NUMBER, min, max };
}

export function knownNumber(value: number): Abstract {
  const text = String(value);
  const size = text.includes('e') || !Number.isFinite(value) ? NUMBER_SIZE : Math.max(text.length, TAGGED_SIZE);
  return Number.isNaN(value) ? { ...NUMBER, known: value } : { ...NUMBER, known: value, min: value, max: value, size };
}

export function knownBoolean(value: boolean): Abstract {
  return { ...BOOLEAN, known: value };
}

const PLAIN = /^[ !#-[\]-~]*$/;

export function knownText(value: string): Abstract {
  let points = 0;
  for (const _ of value) points++;
  return { ...text(value.length, PLAIN.test(value)), known: value, least: points, most: points };
}

/** The value of a literal; any value for another expression. */
export function literal(expr: Expr): Abstract {
  switch (expr.k) {
    case 'num':
      return knownNumber(expr.v);
    case 'str':
      return knownText(expr.v);
    case 'bool':
      return knownBoolean(expr.v);
    case 'nil':
      return NOTHING;
    default:
      return UNKNOWN;
  }
}

/** A text of at most `units` units. Quoted, each takes six at most. */
export function text(units: number, plain: boolean): Abstract {
  const size = (plain ? units : 6 * units) + 2;
  return { types: TEXT, min: -INFINITE, max: INFINITE, units, size, nodes: 0, least: 0, most: units, plain };
}

/** A list or map with the total sizes of its content. */
export function container(types: number, sizes: Pick<Abstract, 'size' | 'nodes' | 'least' | 'most'>): Abstract {
  return { types, min: -INFINITE, max: INFINITE, units: 0, plain: false, ...sizes };
}

/** Whether the value can have one of these types. */
export function may(value: Abstract, types: number): boolean {
  return (value.types & types) !== 0;
}

/** Whether the value can have no other type. */
export function only(value: Abstract, types: number): boolean {
  return (value.types & ~types) === 0;
}

export function textUnits(value: Abstract): number {
  return only(value, TEXT) ? value.units : Math.max(value.units, value.size);
}

/** The truth value, if it is certain. */
export function truthOf(value: Abstract): boolean | undefined {
  const [first, ...others] = scalarsOf(value) ?? [];
  if (first !== undefined) {
    const truth = Boolean(first) || Number.isNaN(first);
    return others.every((other) => (Boolean(other) || Number.isNaN(other)) === truth) ? truth : undefined;
  }
  if (only(value, LIST | MAP) && value.least > 0) return true;
  return only(value, LIST | MAP) && value.most === 0 ? false : undefined;
}

/** Most scalars that a description lists as possible values. */
const MOST_OPTIONS = 8;

/** Most items and entries of a value whose parts are joined one by one. */
const MOST_PARTS = 64;

/** The abstract value that covers both. */
export function join(a: Abstract, b: Abstract): Abstract {
  if (a === b || addsNothing(b, a)) return a;
  const joined: Abstract = {
    types: a.types | b.types,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    units: Math.max(a.units, b.units),
    size: Math.max(a.size, b.size),
    nodes: Math.max(a.nodes, b.nodes),
    least: Math.min(a.least, b.least),
    most: Math.max(a.most, b.most),
    plain: a.plain && b.plain,
  };
  const item = a.item !== undefined && b.item !== undefined ? { item: join(a.item, b.item) } : {};
  return { ...joined, ...item, ...joinedScalars(a, b), ...joinedParts(a, b), ...origins(a, b), ...joinedAnswer(a, b) };
}

function joinedAnswer({ answer }: Abstract, other: Abstract): Pick<Abstract, 'answer'> {
  return answer !== undefined && isAnswer(other, answer) ? { answer } : {};
}

/** Whether the value certainly is this answer. */
function isAnswer({ answer }: Abstract, { place, part }: Answer): boolean {
  return answer !== undefined && answer.place === place && answer.part === part;
}

/** Whether the other value covers this one, and all of its origins: the same values meet again and again. */
function addsNothing(value: Abstract, other: Abstract): boolean {
  return (value.from === undefined || value.from === other.from) && isWithin(value, other);
}

/** The calls whose results are in any of the values. */
export function origins(...values: readonly Abstract[]): Pick<Abstract, 'from'> {
  let from: readonly number[] | undefined;
  for (const value of values) {
    if (value.from === undefined || value.from === from) continue;
    from = from === undefined ? value.from : [...new Set([...from, ...value.from])].sort((a, b) => a - b).slice(0, MOST_OPTIONS);
  }
  return { from };
}

function joinedScalars(a: Abstract, b: Abstract): Pick<Abstract, 'known' | 'options' | 'prefix'> {
  const prefix = commonPrefix(prefixOf(a), prefixOf(b));
  const begins = prefix === '' ? {} : { prefix };
  if (a.known !== undefined && Object.is(a.known, b.known)) return { known: a.known };
  const [ones, others] = [scalarsOf(a), scalarsOf(b)];
  if (ones === undefined || others === undefined) return begins;
  const options = [...ones, ...others.filter((value) => !ones.some((one) => Object.is(one, value)))];
  return options.length > MOST_OPTIONS ? begins : { options, ...begins };
}

function scalarsOf({ known, options }: Abstract): readonly Scalar[] | undefined {
  return known === undefined ? options : [known];
}

/** The prefix of the value, if it can only be a text. */
export function prefixOf({ known, prefix, types }: Abstract): string {
  if (types !== TEXT) return '';
  return typeof known === 'string' ? known : (prefix ?? '');
}

/** The text form of a value, where it is certain and simple. */
export function shownAs({ known }: Abstract): string | undefined {
  if (typeof known === 'string') return known;
  return typeof known === 'boolean' || (Number.isSafeInteger(known) && !Object.is(known, -0)) ? String(known) : undefined;
}

export function asText(value: Abstract): Abstract {
  const shown = shownAs(value);
  if (shown !== undefined) return knownText(shown);
  return only(value, TEXT) ? value : { ...text(textUnits(value), value.plain), ...origins(value) };
}

const MOST_PREFIX = 200;

function commonPrefix(a: string, b: string): string {
  let units = 0;
  while (units < a.length && units < MOST_PREFIX && a.charCodeAt(units) === b.charCodeAt(units)) units++;
  return a.slice(0, units);
}

function joinedParts(a: Abstract, b: Abstract): Pick<Abstract, 'items' | 'fields'> {
  if (a.nodes > MOST_PARTS || b.nodes > MOST_PARTS || a.types !== b.types) return {};
  const { items, fields } = b;
  if (a.items !== undefined && items !== undefined && a.items.length === items.length)
    return { items: a.items.map((one, index) => join(one, items[index] ?? one)) };
  if (a.fields === undefined || fields === undefined || a.fields.size !== fields.size) return {};
  const joined = new Map<string, Abstract>();
  for (const [key, one] of a.fields) {
    const other = fields.get(key);
    if (other === undefined) return {};
    joined.set(key, join(one, other));
  }
  return { fields: joined };
}

/** A description that covers both. It drops each bound that moved, so that repeated joins come to an end (widening). */
export function widened(before: Abstract, after: Abstract): Abstract {
  const { items: _, fields: __, options, ...joined } = join(before, after);
  const few = options === undefined || joined.types === NUM ? {} : { options };
  const grown = (a: number, b: number): number => (b > a ? INFINITE : a);
  return {
    ...joined,
    ...few,
    min: after.min < before.min ? -INFINITE : before.min,
    max: grown(before.max, after.max),
    units: grown(before.units, after.units),
    size: joined.types === NUM && joined.known === undefined ? NUMBER_SIZE : grown(before.size, after.size),
    nodes: grown(before.nodes, after.nodes),
    least: after.least < before.least ? 0 : before.least,
    most: grown(before.most, after.most),
  };
}

/** Whether every value that fits the first description fits the second. May return false although they do. */
export function isWithin(value: Abstract, cover: Abstract): boolean {
  if (value === cover) return true;
  const { known, options, prefix, item } = cover;
  if (known !== undefined && !Object.is(value.known, known)) return false;
  if (cover.answer !== undefined && !isAnswer(value, cover.answer)) return false;
  if (options !== undefined && scalarsOf(value)?.every((one) => options.some((other) => Object.is(one, other))) !== true)
    return false;
  if (prefix !== undefined && !prefixOf(value).startsWith(prefix)) return false;
  if (item !== undefined && (value.item === undefined || !isWithin(value.item, item))) return false;
  if (cover.items !== undefined || cover.fields !== undefined || (cover.plain && !value.plain)) return false;
  const within = value.min >= cover.min && value.max <= cover.max && value.least >= cover.least && value.most <= cover.most;
  return (
    within && only(value, cover.types) && value.units <= cover.units && value.size <= cover.size && value.nodes <= cover.nodes
  );
}

export function elementOf(value: Abstract): Abstract {
  if (value.types === LIST && value.item !== undefined) return value.item;
  if (value.types === TEXT) return { ...text(Math.min(2, value.units), value.plain), most: 1 };
  const { size, nodes, answer } = value;
  const element = { ...UNKNOWN, units: size, size, nodes, most: Math.max(size, nodes) };
  return answer === undefined || answer.part !== undefined ? element : { ...element, answer: { ...answer, part: 'item' } };
}

export function elementAt(value: Abstract, key: Abstract): Abstract {
  const { known } = key;
  if (value.types === MAP && typeof known === 'string') {
    const field = value.fields?.get(known);
    if (field !== undefined) return field;
  }
  if (value.types === LIST && typeof known === 'number') {
    const item = value.items?.[known];
    if (item !== undefined) return item;
  }
  return elementOf(value);
}

/** Most items and entries of a value whose parts are followed while it changes. */
const MOST_FIELDS = 64;

/** The description of a list or map after one of its elements was set. */
export function replaced({ types, items, item, fields, least }: Abstract, key: Abstract, value: Abstract): Partial<Abstract> {
  const { known } = key;
  if (types === MAP && fields !== undefined && typeof known === 'string') {
    const made = new Map(fields).set(known, value);
    return made.size > MOST_FIELDS ? {} : { fields: made, least: made.size, most: made.size };
  }
  if (types !== LIST || items === undefined || typeof known !== 'number' || items.length >= MOST_FIELDS) return {};
  if (!Number.isInteger(known) || known < 0 || known > items.length) return {};
  const made = items.toSpliced(known, 1, value);
  return {
    items: made,
    item: item === undefined ? value : join(item, value),
    least: Math.max(least, made.length),
    most: made.length,
  };
}
