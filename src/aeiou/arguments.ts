import { ConfigError } from '../wire/errors.ts';

/**
 * Checks of the arguments that plain JavaScript may pass. `what` names the argument. Every check throws {@link ConfigError}. The
 * protocol has its own checks, because it uses nothing but the errors of the wire format.
 */

/** An object that is no list. */
export function checkObject(what: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(what, 'an object', value);
}

/** An object or a class that has these methods, such as `Date` for a clock. */
export function checkMethods(what: string, value: unknown, ...names: readonly string[]): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) refuse(what, 'an object', value);
  for (const name of names) {
    const method: unknown = Reflect.get(value, name);
    if (typeof method !== 'function') refuse(`${what}: ${name}`, 'a function', method);
  }
}

export function checkObjects(what: string, value: unknown): void {
  if (!Array.isArray(value)) refuse(what, 'a list', value);
  for (const [index, each] of value.entries()) checkObject(`${what}[${index}]`, each);
}

export function checkText(what: string, value: unknown): void {
  if (typeof value !== 'string') refuse(what, 'a text', value);
}

function refuse(what: string, wanted: string, value: unknown): never {
  throw new ConfigError(`${what} must be ${wanted}, got ${typeName(value)}`);
}

/** The type of a value, as messages name it. */
export function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}
