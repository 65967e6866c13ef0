import { WireError } from '../wire/errors.ts';
import { plainMaps } from '../wire/maporder.ts';
import type { TaggedJson } from '../wire/protocol.ts';

/** Returns a value of the expected form as a new object, or throws {@link WireError} with the path of the field. */
export type Reader<T> = (value: unknown, path: string) => T;

export function wrong(path: string, expected: string): never {
  throw new WireError(`the worker's ${path} is not ${expected}`);
}

/**
 * An object with these fields. Other fields are left out of the result, and so is an optional field that is absent. The path of
 * the whole frame is empty.
 */
export function object<T extends object>(fields: { readonly [Name in keyof T]-?: Reader<T[Name]> }): Reader<T> {
  const readers: readonly (readonly [string, Reader<unknown>])[] = Object.entries(fields);
  return (value, path) => {
    if (!isRecord(value)) wrong(path, 'an object');
    const prefix = path === '' ? '' : `${path}.`;
    const result: Record<string, unknown> = {};
    for (const [name, read] of readers) {
      const field = read(value[name], prefix + name);
      if (field !== undefined) result[name] = field;
    }
    return result as T;
  };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) wrong(path, 'a list');
    return value.map((item: unknown, index) => read(item, `${path}[${index}]`));
  };
}

/** A list that is refused, unread, when it has more items. */
export function atMost<T>(items: number, read: Reader<readonly T[]>): Reader<readonly T[]> {
  return (value, path) =>
    Array.isArray(value) && value.length > items ? wrong(path, `at most ${items} items`) : read(value, path);
}

export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value, path) => (value === null ? null : read(value, path));
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, path) => (value === undefined ? undefined : read(value, path));
}

export function oneOf<const T extends string>(...values: readonly T[]): Reader<T> {
  return (value, path) => values.find((known) => known === value) ?? wrong(path, `one of ${values.join(', ')}`);
}

export function matching(pattern: RegExp, what: string): Reader<string> {
  return (value, path) => {
    const text = string(value, path);
    return pattern.test(text) ? text : wrong(path, what);
  };
}

export const string: Reader<string> = (value, path) => (typeof value === 'string' ? value : wrong(path, 'a string'));

export const boolean: Reader<boolean> = (value, path) => (typeof value === 'boolean' ? value : wrong(path, 'a boolean'));

export const integer: Reader<number> = (value, path) =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : wrong(path, 'a whole number');

export const count: Reader<number> = (value, path) => {
  const number = integer(value, path);
  return number >= 0 ? number : wrong(path, 'a count');
};

/** A line or column, from 1. */
export const position: Reader<number> = (value, path) => {
  const number = integer(value, path);
  return number >= 1 ? number : wrong(path, 'a position');
};

/** JSON has no NaN and no infinities, but the literal of a number may overflow to infinity. */
export const amount: Reader<number> = (value, path) =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : wrong(path, 'an amount');

/** Every value of JSON has the shape of tagged JSON; the codec checks the tags. */
export const tagged: Reader<TaggedJson> = (value, path) => (value === undefined ? wrong(path, 'there') : (value as TaggedJson));

/** Tagged JSON in the form in which a result shows it. */
export const shown: Reader<TaggedJson> = (value, path) => plainMaps(tagged(value, path));
