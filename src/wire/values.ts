import { NeuroScriptError } from './errors.ts';
import { isList } from './tagged.ts';

/** A value without parts, or an error. */
export type Single = null | boolean | number | string | Uint8Array | TimeDate | Fuzzy | Handle | ErrorValue;

/**
 * A script's value on the host: a JavaScript value where there is one, else an instance of one of the four classes below. Maps are
 * objects without a prototype, so that no key of a script is mistaken for a member of `Object`.
 */
export type Value = Single | readonly Value[] | ValueMap;

/** A script's map. JavaScript puts keys that are whole numbers first. */
export interface ValueMap {
  readonly [key: string]: Value;
}

/** A {@link Value} whose maps are ES maps, with the keys in the order in which the script set them. */
export type OrderedValue = Single | readonly OrderedValue[] | OrderedMap;

/** A script's map in the order of its keys. */
export type OrderedMap = ReadonlyMap<string, OrderedValue>;

/** A JavaScript value has no counterpart in a script, or does not fit into one. */
export class ValueError extends NeuroScriptError {
  static readonly code = 'ERR_VALUE';
  constructor(message: string, options?: ErrorOptions) {
    super(ValueError.code, message, options);
  }
}

/** A value is too large to cross the boundary. */
export class TooLargeError extends ValueError {}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?([Zz]|[+-](\d\d):(\d\d))$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A point in time with a precision of up to nanoseconds, stored as the RFC 3339 text that a script sees. */
export class TimeDate {
  /** RFC 3339, for instance `2025-10-15T08:00:00.25Z`. */
  readonly text: string;

  /** Throws {@link ValueError} (`ERR_VALUE`) when the text is not RFC 3339. */
  constructor(text: string) {
    if (!isRfc3339(text)) throw new ValueError(`'${text.slice(0, 40)}' is not an RFC 3339 time such as 2025-10-15T08:00:00Z`);
    this.text = text;
    Object.freeze(this);
  }

  /** The time that a text names; a date alone, such as `2025-10-15`, is its midnight in UTC. Throws as the constructor does. */
  static parse(text: string): TimeDate {
    return new TimeDate(DATE.test(text) ? `${text}T00:00:00Z` : text);
  }

  /** Throws {@link ValueError} (`ERR_VALUE`) for an invalid date and for years outside 0–9999. */
  static from(date: Date): TimeDate {
    const millis = date.getTime();
    if (Number.isNaN(millis)) throw new ValueError('an invalid Date has no time');
    return new TimeDate(date.toISOString().replace(/\.?0*Z$/, 'Z'));
  }

  /** The time in milliseconds; smaller fractions are cut off. */
  toDate(): Date {
    return new Date(this.text.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
  }

  /** The RFC 3339 text. */
  toString(): string {
    return this.text;
  }
}

function isRfc3339(text: string): boolean {
  const parts = RFC3339.exec(text);
  if (parts === null) return false;
  const part = (index: number): number => Number(parts[index] ?? 0);
  const year = part(1);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = part(2) === 2 && leap ? 29 : (DAYS[part(2) - 1] ?? 0);
  const offset = part(8) <= 23 && part(9) <= 59;
  return part(3) >= 1 && part(3) <= days && part(4) <= 23 && part(5) <= 59 && part(6) <= 59 && offset;
}

/** A degree of truth from 0 to 1; a number outside is moved to the nearer end. Only tools make one. */
export class Fuzzy {
  /** From 0 (false) to 1 (true). */
  readonly degree: number;

  /** Throws {@link ValueError} (`ERR_VALUE`) for NaN. */
  constructor(degree: number) {
    if (Number.isNaN(degree)) throw new ValueError('NaN is not a degree of truth');
    this.degree = Math.min(1, Math.max(0, degree));
    Object.freeze(this);
  }
}

/** An opaque reference of a tool to an object of the host. Scripts can only pass it on and compare it. */
export class Handle {
  /** What it refers to, in the words of its tool. */
  readonly kind: string;
  /** Distinguishes handles of one kind; empty when the tool needs only one. Scripts never see it. */
  readonly id: string;

  /** Throws {@link ValueError} (`ERR_VALUE`) when the kind is empty. */
  constructor(kind: string, id = '') {
    if (kind === '') throw new ValueError('a handle needs a kind');
    this.kind = kind;
    this.id = id;
    Object.freeze(this);
  }
}

/** An error as a value of a script. To raise an error, throw a {@link NeuroScriptError} instead. */
export class ErrorValue {
  /** Usually `code`, `message` and `details`. */
  readonly fields: ValueMap;
  readonly #ordered: OrderedMap | null;

  /** A map of fields keeps the order of its keys on the way to a script. */
  constructor(fields: ValueMap | OrderedMap) {
    this.#ordered = isOrderedMap(fields) ? new Map(fields) : null;
    this.fields = Object.freeze(isOrderedMap(fields) ? unorderedMap(fields) : Object.assign(Object.create(null), fields));
    Object.freeze(this);
  }

  /** The fields in their order. */
  entries(): readonly (readonly [string, Value | OrderedValue])[] {
    return this.#ordered === null ? Object.entries(this.fields) : [...this.#ordered];
  }

  /** The message, or empty text. */
  get message(): string {
    const message = this.fields['message'];
    return typeof message === 'string' ? message : '';
  }
}

export function isOrderedMap<T>(value: T): value is Extract<T, OrderedMap> {
  return value instanceof Map;
}

/** Whether a value is a script's map, and no list, bytes or instance of a class of `values.ts`. */
export function isValueMap(value: unknown): value is ValueMap {
  if (value === null || typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The value with plain objects in place of ES maps. */
function unordered(value: Value | OrderedValue): Value {
  if (isOrderedMap(value)) return unorderedMap(value);
  return isList(value) ? value.map(unordered) : value;
}

function unorderedMap(map: OrderedMap): ValueMap {
  const plain: Record<string, Value> = Object.create(null);
  for (const [key, item] of map) plain[key] = unordered(item);
  return plain;
}
