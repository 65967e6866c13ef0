/** What is known of a value without running the program: its possible types and its largest sizes. */

/** Possible types, as a set of bits. */
export const NUM = 1;
export const BOOL = 2;
export const NIL = 4;
export const TEXT = 8;
export const LIST = 16;
export const MAP = 32;
/** Bytes, times, fuzzy values, errors, handles. */
export const OTHER = 64;
const ALL = 127;

/** An abstract value, which stands for every value that fits the description. Sizes are upper bounds, in UTF-16 units. */
export interface Abstract {
  readonly types: number;
  /** The value itself, if it is certain. */
  readonly known?: number | boolean | string | null;
  /** The largest number that the value can be. */
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
  readonly item?: Abstract;
  /** The items one by one, while the list is as the source wrote it. */
  readonly items?: readonly Abstract[];
}

const INFINITE = Number.POSITIVE_INFINITY;

/** Any value. */
export const UNKNOWN: Abstract = {
  types: ALL,
  max: INFINITE,
  units: INFINITE,
  size: INFINITE,
  nodes: INFINITE,
  least: 0,
  most: INFINITE,
  plain: false,
};

const scalar = { max: INFINITE, units: 0, nodes: 0, least: 0, most: 0, plain: true };

/** Longest text form of a number: 324 zeros after the point, digits, a sign. */
const NUMBER_SIZE = 345;
/** Length of the JSON of infinities and −0, which is longer than their text. */
const TAGGED_SIZE = 22;

/** Any number. */
export const NUMBER: Abstract = { ...scalar, types: NUM, size: NUMBER_SIZE };
export const BOOLEAN: Abstract = { ...scalar, types: BOOL, size: 5 };
/** The result of `and`, `or` and `not`. */
export const LOGICAL: Abstract = { ...scalar, types: BOOL | OTHER, size: NUMBER_SIZE };
export const NOTHING: Abstract = { ...scalar, types: NIL, size: 3, known: null };

/** A number that is at most `max`. */
export function numberUpTo(max: number): Abstract {
  return { ...NUMBER, max };
}

/** The number `value`. */
export function knownNumber(value: number): Abstract {
  const text = String(value);
  const size = text.includes('e') || !Number.isFinite(value) ? NUMBER_SIZE : Math.max(text.length, TAGGED_SIZE);
  return { ...NUMBER, known: value, max: Number.isNaN(value) ? INFINITE : value, size };
}

/** The boolean `value`. */
export function knownBoolean(value: boolean): Abstract {
  return { ...BOOLEAN, known: value };
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** The text `value`. */
export function knownText(value: string): Abstract {
  let points = 0;
  for (const _ of value) points++;
  return { ...text(value.length, PLAIN.test(value)), known: value, least: points, most: points };
}

/** A text of at most `units` units. Quoted, each takes six at most. */
export function text(units: number, plain: boolean): Abstract {
  const size = (plain ? units : 6 * units) + 2;
  return { types: TEXT, max: INFINITE, units, size, nodes: 0, least: 0, most: units, plain };
}

/** A list or map with the total sizes of its content. */
export function container(types: number, sizes: Pick<Abstract, 'size' | 'nodes' | 'least' | 'most'>): Abstract {
  return { types, max: INFINITE, units: 0, plain: false, ...sizes };
}

/** An element of a value. */
export function elementOf(value: Abstract): Abstract {
  if (value.types === LIST && value.item !== undefined) return value.item;
  if (value.types === TEXT) return { ...text(Math.min(2, value.units), value.plain), most: 1 };
  const { size, nodes } = value;
  return { ...UNKNOWN, units: size, size, nodes, most: Math.max(size, nodes) };
}

/** Whether the value can have one of these types. */
export function may(value: Abstract, types: number): boolean {
  return (value.types & types) !== 0;
}

/** Whether the value can have no other type. */
export function only(value: Abstract, types: number): boolean {
  return (value.types & ~types) === 0;
}

/** The length of the value as text. */
export function textUnits(value: Abstract): number {
  return only(value, TEXT) ? value.units : Math.max(value.units, value.size);
}

/** The truth value, if it is certain. */
export function truthOf(value: Abstract): boolean | undefined {
  const { known } = value;
  if (known !== undefined) return Boolean(known) || Number.isNaN(known);
  if (only(value, LIST | MAP) && value.least > 0) return true;
  return only(value, LIST | MAP) && value.most === 0 ? false : undefined;
}

/** The abstract value that covers both. */
export function join(a: Abstract, b: Abstract): Abstract {
  if (a === b) return a;
  const joined: Abstract = {
    types: a.types | b.types,
    max: Math.max(a.max, b.max),
    units: Math.max(a.units, b.units),
    size: Math.max(a.size, b.size),
    nodes: Math.max(a.nodes, b.nodes),
    least: Math.min(a.least, b.least),
    most: Math.max(a.most, b.most),
    plain: a.plain && b.plain,
  };
  const item = a.item !== undefined && b.item !== undefined ? { item: join(a.item, b.item) } : {};
  const same = a.known !== undefined && Object.is(a.known, b.known) ? { known: a.known } : {};
  return { ...joined, ...item, ...same };
}
