import serialize from 'canonicalize';
import { JsonError } from './errors.ts';
import { type JsonObject, type JsonValue, MAX_JSON_DEPTH } from './json.ts';

/**
 * RFC 8785 canonical JSON of a value. The package `canonicalize` writes it; this module decides what may be written,
 * because a signature must never cover a value that was changed on the way (functions dropped, dates turned to text,
 * holes to null). Accepted: null, booleans, well-formed strings, numbers, arrays without holes, plain objects; at most
 * {@link MAX_JSON_DEPTH} containers deep. −0 becomes 0, as RFC 8785 demands.
 *
 * `numbers` is `integers` for everything that is signed (A3-6.3-2/3: only whole numbers up to 2^53−1) and `doubles` for
 * USERDATA. Throws {@link JsonError}.
 */
export function canonicalize(value: unknown, numbers: 'integers' | 'doubles' = 'integers'): string {
  const text = serialize(plainJson(value, numbers));
  if (text === undefined) throw new JsonError('type', 'the value has no JSON form');
  return text;
}

/** A frozen copy that is certainly JSON. The copy is what gets written, so a getter cannot answer twice differently. */
export function plainJson(value: unknown, numbers: 'integers' | 'doubles'): JsonValue {
  return copy(value, numbers, 0);
}

function copy(value: unknown, numbers: 'integers' | 'doubles', depth: number): JsonValue {
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
      return Array.isArray(value) ? copyArray(value, numbers, depth + 1) : copyObject(value, numbers, depth + 1);
    default:
      throw new JsonError('type', `a value of type ${typeof value} has no JSON form`);
  }
}

function copyArray(value: readonly unknown[], numbers: 'integers' | 'doubles', depth: number): JsonValue {
  const items: JsonValue[] = [];
  for (let i = 0; i < value.length; i++) items.push(copy(value[i], numbers, depth));
  return Object.freeze(items);
}

function copyObject(value: object, numbers: 'integers' | 'doubles', depth: number): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw new JsonError('type', 'only plain objects have a JSON form; dates, maps, sets and class instances do not');
  if (Object.getOwnPropertySymbols(value).length > 0) throw new JsonError('type', 'an object has a symbol for a name');
  const object: Record<string, JsonValue> = Object.create(null);
  for (const [name, member] of Object.entries(value)) object[checkText(name)] = copy(member, numbers, depth);
  return Object.freeze(object);
}

function checkText(text: string): string {
  if (!text.isWellFormed()) throw new JsonError('surrogate', 'a text has a lone surrogate');
  return text;
}

function checkNumber(value: number, numbers: 'integers' | 'doubles'): number {
  if (numbers === 'integers' && !Number.isSafeInteger(value))
    throw new JsonError('number', `the number ${value} is no integer between -(2^53-1) and 2^53-1`);
  if (!Number.isFinite(value)) throw new JsonError('number', `the number ${value} has no JSON form`);
  return value;
}
