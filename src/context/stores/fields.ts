import { decode, encode } from '../../wire/codec.ts';
import { ConfigError } from '../../wire/errors.ts';
import { orConfigError } from '../../wire/foreign.ts';
import { readable } from '../../wire/options.ts';
import { isRecord } from '../../wire/unknown.ts';
import { isValueMap, type Value, type ValueMap } from '../../wire/values.ts';

/** Reads one field of an entry from a script, a YAML file or an application. Throws {@link ConfigError}. */
export type FieldReader<T> = (value: unknown, field: string) => T;

export type Readers = Readonly<Record<string, FieldReader<unknown>>>;

/**
 * Reads the given fields and leaves out those that are nil or absent. Throws {@link ConfigError} (`ERR_CONFIG`) that lists
 * every unknown, missing and invalid field. The message never shows a value, which may be a key.
 */
export function readFields(
  what: string,
  given: unknown,
  readers: Readers,
  required: readonly string[],
): Readonly<Record<string, unknown>> {
  return readable(what, () => {
    if (!isRecord(given)) throw new ConfigError(`${what} must be a map of fields`);
    return fieldsOf(what, given, readers, required);
  });
}

function fieldsOf(what: string, given: object, readers: Readers, required: readonly string[]): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [field, value] of Object.entries(given)) {
    const reader = Object.hasOwn(readers, field) ? readers[field] : undefined;
    if (reader === undefined) {
      problems.push(`'${field.slice(0, 60)}' is not one of its fields (${Object.keys(readers).join(', ')})`);
      continue;
    }
    if (value === null || value === undefined) continue;
    try {
      fields[field] = reader(value, field);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(error.message);
    }
  }
  for (const field of required) if (fields[field] === undefined) problems.push(`${field} is missing`);
  if (problems.length > 0) throw new ConfigError(`${what}: ${problems.join('; ')}`);
  return fields;
}

const wrong = (field: string, wanted: string): never => {
  throw new ConfigError(`${field} must be ${wanted}`);
};

/** A text that is not empty. A number becomes its text. */
export const text: FieldReader<string> = (value, field) => {
  const found = typeof value === 'number' ? String(value) : value;
  return typeof found === 'string' && found.trim() !== '' ? found : wrong(field, 'a text that is not empty');
};

/** A boolean, also as a word in any letter case or as 1 or 0. */
export const flag: FieldReader<boolean> = (value, field) => {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if (word === true || word === 'true' || word === '1' || word === 1) return true;
  return word === false || word === 'false' || word === '0' || word === 0 ? false : wrong(field, 'true or false');
};

/** A finite number, also as text. */
export const number: FieldReader<number> = (value, field) => {
  const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof found === 'number' && Number.isFinite(found) ? found : wrong(field, 'a number');
};

/** A finite number from 0, also as text. */
export const amount: FieldReader<number> = (value, field) => {
  const found = number(value, field);
  return found >= 0 ? found : wrong(field, 'a number from 0');
};

/** A whole number, also as text. */
export const integer: FieldReader<number> = (value, field) => {
  const found = number(value, field);
  return Number.isSafeInteger(found) ? found : wrong(field, 'a whole number');
};

/** A whole number from 0, also as text. */
export const count: FieldReader<number> = (value, field) => {
  const found = integer(value, field);
  return found >= 0 ? found : wrong(field, 'a whole number from 0');
};

/** A list of texts. A single text becomes a list. */
export const texts: FieldReader<readonly string[]> = (value, field) => {
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) return wrong(field, 'a list of texts');
  return Object.freeze([...list]);
};

/** A map of script values, deeply copied and frozen. */
export const map: FieldReader<ValueMap> = (value, field) => {
  const copy = frozen(decode(orConfigError(`${field} must be a map of values that a script can hold`, () => encode(value))));
  return isValueMap(copy) ? copy : wrong(field, 'a map');
};

export function oneOf<const T extends string>(...words: readonly T[]): FieldReader<T> {
  return (value, field) => words.find((word) => word === value) ?? wrong(field, `one of ${words.join(', ')}`);
}

/** The http or https address of a service, without a user or password in it. */
export const url: FieldReader<string> = (value, field) => {
  const found = URL.parse(text(value, field));
  if (found === null || !['http:', 'https:'].includes(found.protocol)) return wrong(field, 'an address with http or https');
  if (found.username !== '' || found.password !== '') return wrong(field, 'an address without a user or password in it');
  return found.href;
};

/** Freezes the fresh result of `decode` deeply. Bytes cannot be frozen. */
function frozen(value: Value): Value {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) frozen(item);
  Object.freeze(value);
  return value;
}
