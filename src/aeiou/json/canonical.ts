import serialize from 'canonicalize';
import { JsonError } from '../errors.ts';
import { type JsonObject, type JsonValue, MAX_JSON_DEPTH, type NumberProfile } from './strict.ts';

/**
 * Writes a value as canonical JSON (RFC 8785). Accepts null, booleans, well-formed strings, numbers, arrays without holes and
 * plain objects, at most {@link MAX_JSON_DEPTH} containers deep; −0 becomes 0. Everything else is refused, because a
 * signature must never cover a value that was changed on the way: a dropped function, a date turned into text.
 * Throws {@link JsonError}.
 */
export function canonicalize(value: unknown, numbers: NumberProfile = 'integers'): string {
  const text = serialize(copy(value, numbers, 0, kept));
  if (text === undefined) throw new JsonError('type', 'the value has no JSON form');
  return text;
}

/** A frozen copy of a value as plain JSON. Every getter is read once, so it cannot give two different answers. */
export function plainJson(value: unknown, numbers: NumberProfile): JsonValue {
  return copy(value, numbers, 0, Object.freeze);
}

/** What becomes of each container of a copy. */
type Finish = <T extends object>(container: T) => T;

/** For a copy that nobody else gets, because to freeze one takes as long as to make it. */
const kept: Finish = (container) => container;

function copy(value: unknown, numbers: NumberProfile, depth: number, finish: Finish): JsonValue {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return checkText(value);
    case 'number':
      return checkNumber(value, numbers);
    case 'object':
      if (value === null) return null;
      if (depth === MAX_JSON_DEPTH) throw new JsonError('depth', `containers are nested deeper than ${MAX_JSON_DEPTH}`);
      return Array.isArray(value) ? copyArray(value, numbers, depth + 1, finish) : copyObject(value, numbers, depth + 1, finish);
    default:
      throw new JsonError('type', `a value of type ${typeof value} has no JSON form`);
  }
}

function copyArray(value: readonly unknown[], numbers: NumberProfile, depth: number, finish: Finish): JsonValue {
  const items: JsonValue[] = [];
  for (let i = 0; i < value.length; i++) items.push(copy(value[i], numbers, depth, finish));
  return finish(items);
}

function copyObject(value: object, numbers: NumberProfile, depth: number, finish: Finish): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw new JsonError('type', 'only plain objects have a JSON form; dates, maps, sets and class instances do not');
  if (Object.getOwnPropertySymbols(value).length > 0) throw new JsonError('type', 'an object has a symbol as a name');
  const object: Record<string, JsonValue> = Object.create(null);
  for (const [name, member] of Object.entries(value)) object[checkText(name)] = copy(member, numbers, depth, finish);
  return finish(object);
}

function checkText(text: string): string {
  if (!text.isWellFormed()) throw new JsonError('surrogate', 'a text has a lone surrogate');
  return text;
}

function checkNumber(value: number, numbers: NumberProfile): number {
  if (numbers === 'integers' && !Number.isSafeInteger(value))
    throw new JsonError('number', `the number ${value} is not an integer between -(2^53-1) and 2^53-1`);
  if (!Number.isFinite(value)) throw new JsonError('number', `the number ${value} has no JSON form`);
  return value;
}
