import { toBase64, utf8Length } from './bytes.ts';
import { Decoder, MAX_DEPTH, wellFormed } from './decoder.ts';
import { KEY_VALUES, MAX_MAP_KEYS } from './frames.ts';
import { moves, nameOf } from './mapkeys.ts';
import { isHeavy, makeInPieces, PIECE_VALUES, type Pieces } from './pieces.ts';
import type { TaggedJson } from './protocol.ts';
import { isList } from './tagged.ts';
import { errorOf } from './unknown.ts';
import {
  ErrorValue,
  Fuzzy,
  Handle,
  isOrderedMap,
  isValueMap,
  type OrderedValue,
  TimeDate,
  TooLargeError,
  type Value,
  ValueError,
} from './values.ts';

/**
 * The host's side of tagged JSON. A value that JSON lacks is an object with one `$` key, and a map key that starts with `$` gets a
 * second `$`, so that no script can forge a tag. `mapkeys.ts` explains how maps keep the order of their keys.
 */

/** Bytes that take as long as a value. */
const PIECE_BYTES = 64;

/**
 * Converts tagged JSON to a value with maps as plain objects, which have the key order of JavaScript. Throws {@link ValueError}
 * (`ERR_VALUE`) for an unknown tag, a tag with a wrong content, a map with the same key twice, a text with a lone surrogate, and
 * nesting beyond {@link MAX_DEPTH}.
 */
export function decode(json: TaggedJson): Value {
  return PLAIN.part(json, 0);
}

/** As {@link decode}, with maps as ES maps, which have the script's order. */
export function decodeOrdered(json: TaggedJson): OrderedValue {
  return ORDERED.part(json, 0);
}

/** As {@link decode}, in pieces. */
export function decodeInPieces(json: TaggedJson): Pieces<Value> {
  return makeInPieces(json, PLAIN);
}

/** As {@link decodeOrdered}, in pieces. */
export function decodeOrderedInPieces(json: TaggedJson): Pieces<OrderedValue> {
  return makeInPieces(json, ORDERED);
}

/** Makes values with maps as plain objects. */
export const PLAIN = new Decoder<Value>({
  single: (value) => value,
  list: (items) => items,
  itemsOf: (list) => (isList(list) ? list : []),
  map(keys, items) {
    const map: Record<string, Value> = Object.create(null);
    for (let index = 0; index < keys.length; index++) map[keys[index] ?? ''] = items[index] ?? null;
    return map;
  },
  fields: (value) => (isValueMap(value) ? value : undefined),
});

const ORDERED = new Decoder<OrderedValue>({
  single: (value) => value,
  list: (items) => items,
  itemsOf: (list) => (isList(list) ? list : []),
  map: (keys, items) => new Map(keys.map((key, index) => [key, items[index] ?? null])),
  fields: (value) => (isOrderedMap(value) ? value : undefined),
});

/**
 * Converts a JavaScript value to tagged JSON. Besides {@link Value} it accepts `undefined` as nil (a map leaves the key out), a
 * `Date` as a timedate, a `bigint` within 2⁵³ as a number, a `Map` with text keys as a map, and a typed array as a list of numbers.
 * Throws {@link ValueError} (`ERR_VALUE`) with the place and the problem for everything else: functions, symbols, other class
 * instances, cycles, nesting beyond {@link MAX_DEPTH}, and more than `maxBytes` bytes of JSON or `maxValues` values (counted as in a
 * frame), which are counted before they are made.
 */
export function encode(
  value: unknown,
  maxBytes: number = Number.POSITIVE_INFINITY,
  maxValues: number = Number.POSITIVE_INFINITY,
): TaggedJson {
  const encoder = new Encoder(maxBytes, maxValues);
  try {
    return encoder.encode(value);
  } catch (thrown) {
    return encoder.unreadable(thrown);
  }
}

/** As {@link encode}, in pieces. What changes in the value meanwhile may be in the result or not. */
export function encodeInPieces(value: unknown, maxBytes: number, maxValues: number): Pieces<TaggedJson> {
  return new Encoder(maxBytes, maxValues).inPieces(value);
}

/** UTF-16 units of a text of which a copy as JSON costs less than looking at each unit. */
const SHORT_TEXT = 4096;

/** Bytes of UTF-8 of a well-formed text as JSON, without making that. */
function jsonLength(text: string): number {
  let bytes = utf8Length(text) + 2;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22 || unit === 0x5c || (unit >= 8 && unit <= 13 && unit !== 11)) bytes += 1;
    else if (unit < 0x20) bytes += 5;
  }
  return bytes;
}

class Encoder {
  readonly #maxBytes: number;
  readonly #maxValues: number;
  readonly #maxKeys: number;
  #bytes = 0;
  #values = 0;
  /** What was done before the last rest. */
  #rested = 0;
  /** The containers around the current value, to detect cycles; their keys are the path in an error. */
  readonly #open: object[] = [];
  readonly #path: (string | number)[] = [];

  constructor(maxBytes: number, maxValues: number) {
    this.#maxBytes = maxBytes;
    this.#maxValues = maxValues;
    // What has no limit crosses no boundary.
    this.#maxKeys = maxValues === Number.POSITIVE_INFINITY ? maxValues : MAX_MAP_KEYS;
  }

  encode(value: unknown): TaggedJson {
    switch (typeof value) {
      case 'undefined':
        return this.#spend(4, null);
      case 'boolean':
        return this.#spend(value ? 4 : 5, value);
      case 'number':
        return this.#number(value);
      case 'string':
        this.#text(value);
        return value;
      case 'bigint':
        if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) return this.#number(Number(value));
        return this.#refuse(`the bigint ${String(value).slice(0, 40)} does not fit a number; pass it as text`);
      case 'object':
        return value === null ? this.#spend(4, null) : this.#object(value);
      default:
        return this.#refuse(`a ${typeof value} has no counterpart in a script`);
    }
  }

  #number(value: number): TaggedJson {
    if (Number.isFinite(value) && !Object.is(value, -0)) return this.#spend(String(value).length, value);
    return this.#tag('$num', Object.is(value, -0) ? '-0' : String(value));
  }

  #object(value: object): TaggedJson {
    if (value instanceof Uint8Array) return this.#bytesOf(value);
    if (value instanceof TimeDate) return this.#tag('$time', value.text);
    if (value instanceof Date)
      return this.#tag(
        '$time',
        this.#guard(() => TimeDate.from(value).text),
      );
    if (value instanceof Fuzzy) return this.#tag('$fuzzy', value.degree);
    if (value instanceof Handle) return this.#tag('$handle', value.id === '' ? value.kind : { kind: value.kind, id: value.id });
    this.#enter(value);
    const json = Array.isArray(value) || isNumbers(value) ? this.#list(value) : this.#map(this.#entriesOf(value));
    this.#open.pop();
    return value instanceof ErrorValue ? this.#spend(11, { $error: json }) : json;
  }

  #enter(value: object): void {
    if (this.#open.includes(value)) this.#refuse('the value contains itself');
    if (this.#open.length >= MAX_DEPTH) this.#refuse(`the value nests deeper than ${MAX_DEPTH} levels`);
    this.#open.push(value);
    this.#count(1);
    this.#spend(2, null);
  }

  /** The entries of a map, or of the fields of an error. */
  #entriesOf(value: object): readonly (readonly [unknown, unknown])[] {
    if (value instanceof ErrorValue) return value.entries();
    if (value instanceof Map) return [...value];
    if (!isValueMap(value)) return this.#refuse(`${describe(value)} is a class instance; return a plain object or list`);
    const symbol = Object.getOwnPropertySymbols(value)[0];
    if (symbol !== undefined) this.#refuse(`the key ${String(symbol)} is a symbol; keys are text`);
    const entries: [string, unknown][] = [];
    for (const key of Object.keys(value)) {
      const item: unknown = Reflect.get(value, key);
      // The values of a map that is refused for its number of keys are not read.
      if (item !== undefined && entries.push([key, item]) > this.#maxKeys) break;
    }
    return entries;
  }

  *inPieces(value: unknown): Pieces<TaggedJson> {
    try {
      return isHeavy(value) ? yield* this.#heavy(value) : this.encode(value);
    } catch (thrown) {
      return this.unreadable(thrown);
    }
  }

  /** Throws {@link ValueError} for what a getter or a proxy of the value threw. */
  unreadable(thrown: unknown): never {
    const error = errorOf(thrown);
    if (error instanceof ValueError) throw error;
    return this.#refuse(`it cannot be read: ${error.message}`);
  }

  *#heavy(value: unknown): Pieces<TaggedJson> {
    if (typeof value !== 'object' || value === null) return this.encode(value);
    yield;
    this.#enter(value);
    const json = yield* Array.isArray(value) || isNumbers(value) ? this.#listInPieces(value) : this.#mapInPieces(value);
    this.#open.pop();
    return value instanceof ErrorValue ? this.#spend(11, { $error: json }) : json;
  }

  *#listInPieces(items: ArrayLike<unknown>): Pieces<TaggedJson> {
    const list: TaggedJson[] = [];
    for (let index = 0; index < items.length; index++) {
      this.#item(index);
      list.push(isHeavy(items[index]) ? yield* this.#heavy(items[index]) : this.encode(items[index]));
      this.#path.pop();
      if (this.#isTired()) yield;
    }
    return list;
  }

  *#mapInPieces(value: object): Pieces<TaggedJson> {
    const { present, placed } = this.#fields(this.#entriesOf(value));
    yield;
    const map: Record<string, TaggedJson> = Object.create(null);
    let count = 0;
    for (const [key, item] of present) {
      const name = this.#name(key, placed, count++);
      map[name] = isHeavy(item) ? yield* this.#heavy(item) : this.encode(item);
      this.#path.pop();
      if (this.#isTired()) yield;
    }
    return map;
  }

  /** Whether a piece of work was done since the last rest. */
  #isTired(): boolean {
    const done = this.#values + this.#bytes / PIECE_BYTES;
    if (done - this.#rested < PIECE_VALUES) return false;
    this.#rested = done;
    return true;
  }

  #list(items: ArrayLike<unknown>): TaggedJson {
    const list: TaggedJson[] = [];
    for (let index = 0; index < items.length; index++) {
      this.#item(index);
      list.push(this.encode(items[index]));
      this.#path.pop();
    }
    return list;
  }

  /** Begins an item of a list. */
  #item(index: number): void {
    this.#path.push(index);
    this.#count(1);
    this.#spend(index === 0 ? 0 : 1, null);
  }

  #map(entries: readonly (readonly [unknown, unknown])[]): TaggedJson {
    const { present, placed } = this.#fields(entries);
    const map: Record<string, TaggedJson> = Object.create(null);
    let count = 0;
    for (const [key, item] of present) {
      const name = this.#name(key, placed, count++);
      map[name] = this.encode(item);
      this.#path.pop();
    }
    return map;
  }

  /** The entries that a script sees, and whether an object of JavaScript would change their order. */
  #fields(entries: readonly (readonly [unknown, unknown])[]) {
    const present = entries.filter(([, item]) => item !== undefined);
    if (present.length > this.#maxKeys) throw new TooLargeError(`a map has more than ${this.#maxKeys} keys`);
    return { present, placed: moves(present.map(([key]) => (typeof key === 'string' ? key : ''))) };
  }

  /** Begins an entry of a map. Returns the name of its key. */
  #name(key: unknown, placed: boolean, before: number): string {
    if (typeof key !== 'string') return this.#refuse(`the key ${String(key).slice(0, 40)} is a ${typeof key}; keys are text`);
    this.#path.push(key);
    this.#count(1 + KEY_VALUES);
    const name = nameOf(key, placed);
    this.#text(name);
    this.#spend(before === 0 ? 1 : 2, null);
    return name;
  }

  #bytesOf(bytes: Uint8Array): TaggedJson {
    this.#spend(Math.ceil(bytes.length / 3) * 4 + 13, null);
    return { $bytes: toBase64(bytes) };
  }

  #tag(tag: string, content: TaggedJson): TaggedJson {
    return this.#spend(utf8Length(JSON.stringify(content)) + tag.length + 5, { [tag]: content });
  }

  /** Refuses a long text by its length, before its bytes are counted. */
  #text(text: string): void {
    if (this.#bytes + text.length > this.#maxBytes) this.#tooLarge();
    this.#guard(() => wellFormed(text));
    this.#spend(text.length > SHORT_TEXT ? jsonLength(text) : utf8Length(JSON.stringify(text)), null);
  }

  #spend<T>(bytes: number, value: T): T {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#tooLarge();
    return value;
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > this.#maxValues) throw new TooLargeError(`the value has more than ${this.#maxValues} values`);
  }

  #guard<T>(make: () => T): T {
    try {
      return make();
    } catch (cause) {
      if (cause instanceof ValueError) return this.#refuse(cause.message);
      throw cause;
    }
  }

  #tooLarge(): never {
    throw new TooLargeError(`the value is larger than ${this.#maxBytes} bytes of JSON`);
  }

  #refuse(problem: string): never {
    const place = this.#path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    throw new ValueError(place === '' ? problem : `at ${place.slice(0, 200)}: ${problem}`);
  }
}

/** A typed array, such as the `Float32Array` of an embedding. */
function isNumbers(value: object): value is ArrayLike<unknown> & object {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function describe(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'the value';
}
