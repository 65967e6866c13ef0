import { RESERVED } from '../../grammar/vocabulary/keywords.ts';
import { defined } from './defined.ts';
import { ConfigError, NeuroScriptError } from './errors.ts';
import { messageOf, shown } from './unknown.ts';

/**
 * Checks of the values that an application passes in. Applications in plain JavaScript have no types: without a check, a misspelt
 * key would silently leave out a limit, a grant or a signal. Every check throws {@link ConfigError} (`ERR_CONFIG`).
 */

/** Throws {@link ConfigError} unless the value has the form that the check stands for. `what` names the value in the message. */
export type Check = (what: string, value: unknown) => void;

export type RequiredCheck = Check & { readonly required: true };

/** One check for each key of `T`; a key without a `?` needs one made by {@link required}. */
export type Checks<T> = { readonly [K in keyof T]-?: undefined extends T[K] ? Check : RequiredCheck };

/**
 * The check of an options object: it refuses a value that is no object, a key that `checks` does not name, and every value that
 * the check of its key refuses. An option that is `undefined` counts as absent.
 */
export function checker<T extends object>(checks: Checks<T>): Check {
  const rows = rowsOf(checks);
  return (what, value) => readable(what, () => checkEach(what, value, rows));
}

/**
 * The reader of options that are whole numbers from `least`: it refuses what {@link checker} would refuse, and fills in the
 * defaults. The defaults name the keys, and `what` names the options in messages.
 */
export function wholeNumbers<T extends object>(
  what: string,
  least: 0 | 1,
  defaults: Required<T>,
  most?: number,
): (options: T) => Required<T> {
  const check = required(wholeNumber(least, most));
  const rows = rowsOf(Object.fromEntries(Object.keys(defaults).map((key) => [key, check])));
  return (options) => {
    checkObject(what, options);
    const completed = { ...defaults, ...defined(options) };
    checkEach(what, completed, rows);
    return completed;
  };
}

/** Reads a value of the application. Throws {@link ConfigError} also for what its getters and proxies throw. */
export function readable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof NeuroScriptError) throw cause;
    throw new ConfigError(`${what} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

interface Row {
  readonly key: string;
  readonly check: Check;
  readonly required: boolean;
}

function rowsOf(checks: Readonly<Record<string, Check>>): readonly Row[] {
  return Object.entries(checks).map(([key, check]) => ({ key, check, required: 'required' in check }));
}

function checkEach(what: string, value: unknown, rows: readonly Row[]): void {
  checkObject(what, value);
  for (const key of Object.keys(value))
    if (!rows.some((row) => row.key === key))
      throw new ConfigError(`unknown key '${key}' in ${what}; known are ${rows.map((row) => row.key).join(', ')}`);
  for (const { key, check, required } of rows) {
    const option: unknown = Reflect.get(value, key);
    if (option !== undefined || required) check(`${what}${what.includes(': ') ? '.' : ': '}${key}`, option);
  }
}

/** The same check for an option that must be present. */
export function required(check: Check): RequiredCheck {
  return Object.assign((what: string, value: unknown) => check(what, value), { required: true } as const);
}

/** The check of a list whose items all pass `item`. */
export function listOf(item: Check): Check {
  return (what, value) => {
    checkList(what, value);
    for (const [index, each] of value.entries()) item(`${what}[${index}]`, each);
  };
}

/** The check of a value that is one of these texts. */
export function oneOf(...choices: readonly string[]): Check {
  const others = choices.slice(0, -1).join(', ');
  return (what, value) => {
    if (typeof value !== 'string' || !choices.includes(value))
      throw new ConfigError(`${what} must be ${others}${others === '' ? '' : ' or '}${choices.at(-1)}, got '${shown(value)}'`);
  };
}

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Check {
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  return (what, value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
      throw new ConfigError(`${what} must be a whole number ${range}, got ${shown(value)}`);
  };
}

/** Longest delay of a timer: 24 days, in milliseconds. A timer that gets a longer one ends at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The check of milliseconds that a timer can wait for. */
export function timerMs(least: number): Check {
  return wholeNumber(least, MAX_TIMER_MS);
}

/** Accepts every value: of options that are checked where they are used. */
export const anything: Check = () => {};

/** An object that is no list. */
export function checkObject(what: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || readable(what, () => Array.isArray(value))) refuse(what, 'an object', value);
}

export function checkList(what: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) refuse(what, 'a list', value);
}

export function checkText(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') refuse(what, 'a text', value);
}

export function checkTextOrObject(what: string, value: unknown): asserts value is string | object {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) refuse(what, 'a text or an object', value);
}

export function checkFlag(what: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') refuse(what, 'true or false', value);
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') refuse(what, 'a function', value);
}

/** The check of an object of any class that has these methods. */
export function methods(...names: readonly string[]): Check {
  return (what, value) => {
    checkObject(what, value);
    for (const name of names) checkFunction(`${what}.${name}`, Reflect.get(value, name));
  };
}

/** A function, or nothing. */
export function checkCallback(what: string, value: unknown): void {
  if (value !== undefined) checkFunction(what, value);
}

/** An AbortSignal, or nothing. */
export function checkSignal(what: string, value: unknown): void {
  if (value !== undefined && !(value instanceof AbortSignal)) refuse(what, 'an AbortSignal', value);
}

function refuse(what: string, wanted: string, value: unknown): never {
  const got = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
  throw new ConfigError(`${what} must be ${wanted}, got ${got}`);
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why no program can read a variable or constant of this name; null for a valid name. */
export function variableProblem(name: string): string | null {
  const shown = name.slice(0, 100);
  if (!IDENTIFIER.test(name)) return `'${shown}' is not a variable name; use letters, digits and _`;
  return RESERVED.has(name) ? `'${shown}' is a word of the language, not a variable name` : null;
}
