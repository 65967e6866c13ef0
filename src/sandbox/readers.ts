import { WireError } from '../wire/errors.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { isRecord } from '../wire/unknown.ts';

/** Returns a value of the expected form as a new object, or throws a {@link FormError}. */
export type Reader<T> = (value: unknown) => T;

/** A value has the wrong form. The callers of a reader add the path to the exception, so that valid values cost no path. */
export class FormError extends WireError {
  readonly #expected: string;
  readonly #path: string;

  constructor(expected: string, path = '') {
    super(`the worker's ${path === '' ? 'frame' : path} is not ${expected}`);
    this.#expected = expected;
    this.#path = path;
  }

  /** The same error with `place` before its path. */
  at(place: string): FormError {
    const joint = this.#path === '' || this.#path.startsWith('[') ? '' : '.';
    return new FormError(this.#expected, `${place}${joint}${this.#path}`);
  }
}

export function wrong(expected: string, path?: string): never {
  throw new FormError(expected, path);
}

/** An object with these fields. Other fields are left out of the result, and so is an optional field that is absent. */
export function object<T extends object>(fields: { readonly [Name in keyof T]-?: Reader<T[Name]> }): Reader<T> {
  const readers: readonly (readonly [string, Reader<unknown>])[] = Object.entries(fields);
  return (value) => {
    if (!isRecord(value)) wrong('an object');
    const result: Record<string, unknown> = {};
    let reading = '';
    try {
      for (const [name, read] of readers) {
        reading = name;
        const field = read(value[name]);
        if (field !== undefined) result[name] = field;
      }
    } catch (error) {
      throw error instanceof FormError ? error.at(reading) : error;
    }
    return result as T;
  };
}

export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) wrong('a list');
    let reading = 0;
    try {
      return value.map((item: unknown, index) => {
        reading = index;
        return read(item);
      });
    } catch (error) {
      throw error instanceof FormError ? error.at(`[${reading}]`) : error;
    }
  };
}

/** An object whose fields have any names and one form. */
export function recordOf<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value) => {
    if (!isRecord(value)) wrong('an object');
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, read(field)]));
  };
}

/** A list with at most so many items. A longer one is refused without reading its items. */
export function atMost<T>(items: number, read: Reader<readonly T[]>): Reader<readonly T[]> {
  return (value) => (Array.isArray(value) && value.length > items ? wrong(`at most ${items} items`) : read(value));
}

export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : read(value));
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value));
}

export function oneOf<const T extends string | true>(...values: readonly T[]): Reader<T> {
  return (value) => values.find((known) => known === value) ?? wrong(`one of ${values.join(', ')}`);
}

export function matching(pattern: RegExp, what: string): Reader<string> {
  return (value) => {
    const text = string(value);
    return pattern.test(text) ? text : wrong(what);
  };
}

export const string: Reader<string> = (value) => (typeof value === 'string' ? value : wrong('a string'));

/** A text, cut to this many units. The cut part is copied, because V8 would keep the whole text alive. */
export function cutTo(units: number): Reader<string> {
  return (value) => {
    const text = string(value);
    return text.length <= units ? text : Buffer.from(text.slice(0, units), 'utf16le').toString('utf16le');
  };
}

export const boolean: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : wrong('a boolean'));

export const integer: Reader<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : wrong('a whole number');

export const count: Reader<number> = (value) => {
  const number = integer(value);
  return number >= 0 ? number : wrong('a count');
};

/** A line or column, from 1. */
export const position: Reader<number> = (value) => {
  const number = integer(value);
  return number >= 1 ? number : wrong('a position');
};

/** JSON has no NaN and no infinities, but the literal of a number may overflow to infinity. */
export const amount: Reader<number> = (value) =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : wrong('an amount');

/** Every value of JSON has the shape of tagged JSON; the codec checks the tags. */
export const tagged: Reader<TaggedJson> = (value) => (value === undefined ? wrong('there') : (value as TaggedJson));
