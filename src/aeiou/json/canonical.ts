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
  const text = serialize(copyOf(value, { numbers, finish: kept, path: [] }));
  if (text === undefined) throw new JsonError('type', 'the value has no JSON form');
  return text;
}

/** A frozen copy of a value as plain JSON. Every getter is read once, so it cannot give two different answers. */
export function plainJson(value: unknown, numbers: NumberProfile): JsonValue {
  return copyOf(value, { numbers, finish: Object.freeze, path: [] });
}

/** A copy that is being made. */
interface Copying {
  readonly numbers: NumberProfile;
  /** What becomes of each container of the copy. */
  readonly finish: <T extends object>(container: T) => T;
  /** The names and indexes that lead to the part being copied. */
  readonly path: (string | number)[];
}

/** For a copy that nobody else gets, because to freeze one takes as long as to make it. */
const kept: Copying['finish'] = (container) => container;

/** Throws {@link JsonError} with the place of the part, also for what a getter or a proxy throws. */
function copyOf(value: unknown, copying: Copying): JsonValue {
  try {
    return copy(value, copying);
  } catch (thrown) {
    const { detail, message } = thrown instanceof JsonError ? thrown : UNREADABLE;
    const place = copying.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    throw new JsonError(detail, place === '' ? message : `at ${place.slice(0, MAX_PLACE)}: ${message}`);
  }
}

const UNREADABLE = { detail: 'type', message: 'the value has a part that cannot be read' } as const;
/** Most characters of a place in a message. */
const MAX_PLACE = 200;

function copy(value: unknown, copying: Copying): JsonValue {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return checkText(value);
    case 'number':
      return checkNumber(value, copying.numbers);
    case 'object':
      if (value === null) return null;
      if (copying.path.length === MAX_JSON_DEPTH)
        throw new JsonError('depth', `containers are nested deeper than ${MAX_JSON_DEPTH}`);
      return Array.isArray(value) ? copyArray(value, copying) : copyObject(value, copying);
    default:
      throw new JsonError('type', `a value of type ${typeof value} has no JSON form`);
  }
}

function copyArray(value: readonly unknown[], copying: Copying): JsonValue {
  if (Object.keys(value).length > value.length) throw new JsonError('type', 'a list with more than its items has no JSON form');
  const items: JsonValue[] = [];
  for (let i = 0; i < value.length; i++) items.push(copyPart(i, value[i], copying));
  return copying.finish(items);
}

function copyObject(value: object, copying: Copying): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype)
    throw new JsonError('type', 'only plain objects have a JSON form; dates, maps, sets and class instances do not');
  if (Object.getOwnPropertySymbols(value).length > 0) throw new JsonError('type', 'an object has a symbol as a name');
  const object: Record<string, JsonValue> = Object.create(null);
  for (const [name, member] of Object.entries(value)) object[checkText(name)] = copyPart(name, member, copying);
  return copying.finish(object);
}

function copyPart(step: string | number, part: unknown, copying: Copying): JsonValue {
  copying.path.push(step);
  const copied = copy(part, copying);
  copying.path.pop();
  return copied;
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
