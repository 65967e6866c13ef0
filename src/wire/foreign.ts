import { decode } from './codec.ts';
import { MAX_DEPTH } from './decoder.ts';
import type { TaggedJson } from './protocol.ts';
import { isRecord, messageOf } from './unknown.ts';
import { ValueError } from './values.ts';

/**
 * A value of an application that must be tagged JSON already, such as the answer to a call or a global of a request. Throws
 * {@link ValueError} (`ERR_VALUE`) with the place and the problem for everything that JSON would change or leave out (maps, class
 * instances, functions, `undefined`, NaN, −0), and as `decode` does.
 */
export function taggedFrom(value: unknown): TaggedJson {
  const json = checkJson(value);
  decode(json);
  return json;
}

/** The value, which JSON keeps as it is. Throws {@link ValueError} with the place and the problem for every other one. */
export function checkJson(value: unknown): TaggedJson {
  return partFrom(value, '', 0);
}

/** The value, which is JSON. */
function partFrom(value: unknown, place: string, depth: number): TaggedJson {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value) && !Object.is(value, -0)) return value;
    return refuse(
      place,
      `JSON does not have ${Object.is(value, -0) ? '-0' : value}; write {"$num": "${Object.is(value, -0) ? '-0' : value}"}`,
    );
  }
  if (typeof value !== 'object') return refuse(place, `${value === undefined ? 'undefined' : `a ${typeof value}`} is not JSON`);
  if (depth > MAX_DEPTH) return refuse(place, `a value nests deeper than ${MAX_DEPTH} levels`);
  try {
    const entries = entriesOf(value);
    if (typeof entries === 'string') return refuse(place, entries);
    for (const [key, item] of entries) partFrom(item, `${place}${Array.isArray(value) ? `[${key}]` : `.${key}`}`, depth + 1);
  } catch (thrown) {
    if (thrown instanceof ValueError) throw thrown;
    return refuse(place, `it cannot be read: ${messageOf(thrown)}`);
  }
  return value as TaggedJson;
}

/** The entries of a plain list or object, or why the object is neither. */
function entriesOf(value: object): readonly (readonly [string | number, unknown])[] | string {
  if (Object.getOwnPropertySymbols(value).length > 0) return 'an object with a symbol as a key is not JSON';
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value))
    return prototype === Array.prototype && Object.keys(value).length === value.length
      ? [...value.entries()]
      : 'a list with gaps, or with more than its items, is not JSON';
  const name = isRecord(prototype) ? prototype.constructor.name : '';
  return prototype === null || prototype === Object.prototype
    ? Object.entries(value)
    : `${name || 'a class instance'} is not JSON`;
}

function refuse(place: string, problem: string): never {
  throw new ValueError(place === '' ? problem : `at ${place.slice(0, 200)}: ${problem}`);
}
