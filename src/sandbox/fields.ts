import { WireError } from '../wire/errors.ts';
import { plainMaps } from '../wire/maporder.ts';
import type { TaggedJson } from '../wire/protocol.ts';

/** Readers of single fields: each gives the value, or throws {@link WireError} with the field's path. */

export type Fields = Readonly<Record<string, unknown>>;
export type Reader<T> = (value: unknown, path: string) => T;

export function wrong(path: string, expected: string): never {
  throw new WireError(`the worker's ${path} is not ${expected}`);
}

export function record(value: unknown, path: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(path, 'an object');
  return value as Fields;
}

export function list<T>(value: unknown, path: string, read: Reader<T>): readonly T[] {
  if (!Array.isArray(value)) wrong(path, 'a list');
  return value.map((item: unknown, index) => read(item, `${path}[${index}]`));
}

export function string(value: unknown, path: string): string {
  return typeof value === 'string' ? value : wrong(path, 'a string');
}

export function boolean(value: unknown, path: string): boolean {
  return typeof value === 'boolean' ? value : wrong(path, 'a boolean');
}

export function integer(value: unknown, path: string): number {
  return Number.isSafeInteger(value) ? (value as number) : wrong(path, 'a whole number');
}

export function count(value: unknown, path: string): number {
  const number = integer(value, path);
  return number >= 0 ? number : wrong(path, 'a count');
}

/** JSON knows no NaN and no infinities, but a literal may overflow to one. */
export function amount(value: unknown, path: string): number {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : wrong(path, 'an amount');
}

export function orNull<T>(value: unknown, path: string, read: Reader<T>): T | null {
  return value === null ? null : read(value, path);
}

export function oneOf<T>(set: ReadonlySet<unknown>, value: unknown, path: string): T {
  return set.has(value) ? (value as T) : wrong(path, `one of ${[...set].join(', ')}`);
}

/** What came out of the JSON parser is tagged JSON as far as its shape goes; tags are for the codec to check. */
export function tagged(value: unknown, path: string): TaggedJson {
  return value === undefined ? wrong(path, 'there') : (value as TaggedJson);
}

/** The same, as a result shows it. */
export function shown(value: unknown, path: string): TaggedJson {
  return plainMaps(tagged(value, path));
}
