import { badItem, expected as expectedText, WANTED } from '../../wire/arguments.ts';
import { readNumber } from '../../wire/numbers.ts';
import { isList } from '../../wire/tagged.ts';
import {
  ErrorValue,
  Fuzzy,
  Handle,
  isOrderedMap,
  isValueMap,
  type OrderedMap,
  type OrderedValue,
  TimeDate,
  type Value,
  ValueError,
  type ValueMap,
} from '../../wire/values.ts';
import { trimSpace } from '../../wire/whitespace.ts';

/** The JavaScript type that a tool receives for each ArgType. */
export interface ArgTypes {
  /** Every value of the language. */
  any: Value;
  /** A text. No other value is converted. */
  string: string;
  /** A whole number of 64 bits. A text with a number is converted. */
  int: number;
  /** A number. A text with a number is converted. */
  float: number;
  /** The same as `float`. */
  number: number;
  /** A boolean. A number and the texts `true`, `false`, `1` and `0` are converted. */
  bool: boolean;
  /** The same as `bool`. */
  boolean: boolean;
  /** A map. An error becomes the map of its fields. */
  map: ValueMap;
  /** A list. */
  list: readonly Value[];
  /** The same as `list`. */
  slice: readonly Value[];
  /** The same as `list`. */
  slice_any: readonly Value[];
  /** A list whose items fit `string`; nil becomes an empty text. */
  slice_string: readonly string[];
  /** A list of numbers, cut to whole numbers. Texts and booleans are converted. */
  slice_int: readonly number[];
  /** A list whose items fit `float`. */
  slice_float: readonly number[];
  /** A list whose items fit `bool`; nil becomes false. */
  slice_bool: readonly boolean[];
  /** A list whose items fit `map`. */
  slice_map: readonly ValueMap[];
  /** A map whose values fit `string`; nil becomes an empty text. */
  map_string_string: Readonly<Record<string, string>>;
  /** A map whose values fit `int`. */
  map_string_int: Readonly<Record<string, number>>;
  /** The same as `map`. */
  map_string_any: ValueMap;
  /** The same as `map`. */
  map_any_any: ValueMap;
  /** Bytes. */
  blob: Uint8Array;
  /** Nil, for any value. */
  nil: null;
  /** The same as `nil`. */
  void: null;
  /** A handle, or the text of one. */
  handle: Handle | string;
  /** The id of a node, as text. */
  nodeid: string;
  /** The id of an entity, as text or as a map. */
  entityid: string | ValueMap;
  /** A list whose items fit `float`, as 32-bit floats. */
  embedding: Float32Array;
  /** A point in time. */
  timedate: TimeDate;
}

/** The name of an argument type. */
export type ArgType = keyof ArgTypes;

/** The type of an argument whose maps are ES maps. */
export type Ordered<T> = [Value] extends [T]
  ? OrderedValue
  : T extends readonly (infer Item)[]
    ? readonly Ordered<Item>[]
    : T extends Readonly<Record<string, infer Item>>
      ? string extends keyof T
        ? ReadonlyMap<string, Ordered<Item>>
        : T
      : T;

/** A value in either form of its maps. */
type AnyValue = Value | OrderedValue;

/** Why a value does not fit. */
class Mismatch {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

export type Coerced<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Converts a value that is not nil to an ArgType. The problem reads `expected string, got number`. */
export function coerce(type: ArgType, value: AnyValue): Coerced<unknown> {
  const result = COERCIONS[type](value);
  return result instanceof Mismatch ? { ok: false, problem: result.problem } : { ok: true, value: result };
}

export function isArgType(name: unknown): name is ArgType {
  return typeof name === 'string' && Object.hasOwn(COERCIONS, name);
}

export function argTypeNames(): readonly string[] {
  return Object.keys(COERCIONS);
}

/** The language's name of a value's type, as `typeof` gives it. */
export function typeName(value: AnyValue): string {
  if (value === null) return 'nil';
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return 'list';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof TimeDate) return 'timedate';
  if (value instanceof Fuzzy) return 'fuzzy';
  if (value instanceof Handle) return 'handle';
  return value instanceof ErrorValue ? 'error' : 'map';
}

type Coercion<T> = (value: AnyValue) => T | Mismatch;

const expected = (what: string, value: AnyValue): Mismatch => new Mismatch(expectedText(what, typeName(value)));

const text: Coercion<string> = (value) => (typeof value === 'string' ? value : expected(WANTED.string, value));

function numeric(value: AnyValue, trim: boolean): number | null {
  if (typeof value === 'number') return value;
  if (value instanceof Fuzzy) return value.degree;
  return typeof value === 'string' ? (readNumber(trim ? trimSpace(value) : value) ?? null) : null;
}

const float: Coercion<number> = (value) => numeric(value, true) ?? expected(WANTED.float, value);

const isInt64 = (value: number): boolean => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;

const int: Coercion<number> = (value) => {
  const found = numeric(value, true);
  if (found === null) return expected(WANTED.int, value);
  return isInt64(found) ? found : new Mismatch(expectedText(WANTED.int, String(found)));
};

const bool: Coercion<boolean> = (value) => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (value instanceof Fuzzy) return value.degree !== 0;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word === 'true' || word === '1') return true;
  return word === 'false' || word === '0' ? false : expected(WANTED.bool, value);
};

const map: Coercion<ValueMap | OrderedMap> = (value) => {
  if (value instanceof ErrorValue) return value.fields;
  return isOrderedMap(value) || isValueMap(value) ? value : expected(WANTED.map, value);
};

/** An element of a map; null when it has none of that name. */
function element(map: ValueMap | OrderedMap, key: string): AnyValue {
  return (isOrderedMap(map) ? map.get(key) : map[key]) ?? null;
}

const list: Coercion<readonly AnyValue[]> = (value) => (isList(value) ? value : expected(WANTED.list, value));

function listOf<T>(what: string, item: Coercion<T>): Coercion<T[]> {
  return (value) => {
    if (!isList(value)) return expected(WANTED.list, value);
    const items: T[] = [];
    for (const [index, each] of value.entries()) {
      const fitted = item(each);
      if (fitted instanceof Mismatch) return new Mismatch(badItem(what, index, fitted.problem));
      items.push(fitted);
    }
    return items;
  };
}

function mapOf<T>(what: string, item: Coercion<T>): Coercion<Readonly<Record<string, T>> | ReadonlyMap<string, T>> {
  return (value) => {
    const fitting = map(value);
    if (fitting instanceof Mismatch) return fitting;
    const isOrdered = isOrderedMap(fitting);
    const items = new Map<string, T>();
    for (const [key, each] of isOrdered ? fitting : Object.entries(fitting)) {
      const fitted = item(each);
      if (fitted instanceof Mismatch) return new Mismatch(`expected map of ${what}, but '${key}': ${fitted.problem}`);
      items.set(key, fitted);
    }
    return isOrdered ? items : Object.assign(Object.create(null), Object.fromEntries(items));
  };
}

const textOrEmpty: Coercion<string> = (value) => (value === null ? '' : text(value));

const truncated: Coercion<number> = (value) => {
  const found = typeof value === 'boolean' ? Number(value) : numeric(value, true);
  if (found === null) return expected(WANTED.number, value);
  const whole = Math.trunc(found);
  return isInt64(whole) ? whole : new Mismatch(`expected integer, got ${found}`);
};

const blob: Coercion<Uint8Array> = (value) => {
  if (value instanceof Uint8Array) return value;
  return typeof value === 'string' ? new TextEncoder().encode(value) : expected('bytes or string', value);
};

const handle: Coercion<Handle | string> = (value) => {
  if (value instanceof Handle) return value;
  return typeof value === 'string' && /^[A-Za-z0-9._:-]+$/.test(value) ? value : expected('handle', value);
};

const hasPrefix = (prefix: string, value: AnyValue): value is string =>
  typeof value === 'string' && value.startsWith(prefix) && value.length > 2;

const nodeid: Coercion<string> = (value) => {
  const version = isOrderedMap(value) || isValueMap(value) ? element(value, '_version') : value;
  return hasPrefix('N_', version) ? version : expected('node id (N_…)', value);
};

const entityid: Coercion<string | ValueMap | OrderedMap> = (value) => {
  if (hasPrefix('E_', value)) return value;
  return (isOrderedMap(value) || isValueMap(value)) && hasPrefix('E_', element(value, 'id'))
    ? value
    : expected('entity id (E_…)', value);
};

const numbers = listOf('numbers', (value) => numeric(value, false) ?? expected(WANTED.number, value));

const embedding: Coercion<Float32Array> = (value) => {
  const items = numbers(value);
  return items instanceof Mismatch ? items : Float32Array.from(items);
};

const timedate: Coercion<TimeDate> = (value) => {
  if (value instanceof TimeDate) return value;
  if (typeof value !== 'string') return expected('timedate', value);
  try {
    return TimeDate.parse(value);
  } catch (error) {
    if (error instanceof ValueError) return new Mismatch(`expected timedate, but ${error.message}`);
    throw error;
  }
};

const COERCIONS: Readonly<Record<ArgType, Coercion<unknown>>> = {
  any: (value) => value,
  string: text,
  int,
  float,
  number: float,
  bool,
  boolean: bool,
  map,
  list,
  slice: list,
  slice_any: list,
  slice_string: listOf('strings', textOrEmpty),
  slice_int: listOf('integers', truncated),
  slice_float: numbers,
  slice_bool: listOf('booleans', (value) => (value === null ? false : bool(value))),
  slice_map: listOf('maps', map),
  map_string_string: mapOf('strings', textOrEmpty),
  map_string_int: mapOf('integers', int),
  map_string_any: map,
  map_any_any: map,
  blob,
  nil: () => null,
  void: () => null,
  handle,
  nodeid,
  entityid,
  embedding,
  timedate,
};
