import { ConfigError } from './errors.ts';

/**
 * Checks of what an application hands in. Types do not reach applications in plain JavaScript, where a misspelt key would
 * quietly leave out a limit, a grant or a signal. Each throws {@link ConfigError} (`ERR_CONFIG`) that names what it looked at.
 */

/** Every key of the options `T`, so that none can be forgotten. */
export type KeysOf<T> = Readonly<Record<keyof T, true>>;

/** An object that has no other keys than these. */
export function checkOptions(what: string, options: unknown, keys: Readonly<Record<string, true>>): void {
  checkObject(what, options);
  for (const key of Object.keys(options))
    if (!Object.hasOwn(keys, key))
      throw new ConfigError(`unknown key '${key}' in ${what}; known are ${Object.keys(keys).join(', ')}`);
}

/** An object that is no list. */
export function checkObject(what: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(what, 'an object', value);
}

/** A list. */
export function checkList(what: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) refuse(what, 'a list', value);
}

/** A text. */
export function checkText(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') refuse(what, 'a text', value);
}

/** True or false. */
export function checkFlag(what: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') refuse(what, 'true or false', value);
}

/** A function, or nothing. */
export function checkCallback(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') refuse(what, 'a function', value);
}

/** An AbortSignal, or nothing. */
export function checkSignal(what: string, value: unknown): void {
  if (value !== undefined && !(value instanceof AbortSignal)) refuse(what, 'an AbortSignal', value);
}

function refuse(what: string, wanted: string, value: unknown): never {
  const got = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
  throw new ConfigError(`${what} must be ${wanted}, got ${got}`);
}
