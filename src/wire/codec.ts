import { fromBase64, toBase64, utf8Length } from './bytes.ts';
import { KEY_VALUES, MAX_MAP_KEYS } from './frames.ts';
import { isPlaced, keyOf, moves, nameOf } from './mapkeys.ts';
import { isList, mapEntries, mapFrom } from './maporder.ts';
import { isHeavy, type Maker, makeInPieces, PIECE_VALUES, type Pieces } from './pieces.ts';
import type { TaggedJson } from './protocol.ts';
import { ErrorValue, Fuzzy, Handle, TimeDate, TooLargeError, type Value, ValueError, type ValueMap } from './values.ts';

/**
 * The host's side of tagged JSON. A value that JSON lacks is an object with one `$` key, and a map key that starts with `$` gets a
 * second `$`, so that no script can forge a tag. `mapkeys.ts` explains how maps keep the order of their keys.
 */

/** Deepest nesting of lists and maps that crosses the boundary. A deeper value is refused, so that no stack overflows. */
export const MAX_DEPTH = 500;

/** Bytes that take as long as a value. */
const PIECE_BYTES = 64;

const NUMBERS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

/**
 * Converts tagged JSON to a value, whose maps remember the order of their keys (`mapEntries`). Throws {@link ValueError}
 * (`ERR_VALUE`) for an unknown tag, a tag with a wrong content, a map with the same key twice, a text with a lone surrogate, and
 * nesting beyond {@link MAX_DEPTH}.
 */
export function decode(json: TaggedJson): Value {
  return decodeAt(json, 0);
}

/** As {@link decode}, in pieces. */
export function decodeInPieces(json: TaggedJson): Pieces<Value> {
  return makeInPieces(json, DECODED);
}

const DECODED: Maker<Value> = {
  part: decodeAt,
  list: (item) => [item],
  join: (lists) => ([] as readonly Value[]).concat(...lists.filter((list): list is readonly Value[] => Array.isArray(list))),
  map(names, items) {
    const [first] = items;
    if (names.length === 1 && names[0] === '$error' && isValueMap(first)) return new ErrorValue(first);
    const map: Record<string, Value> = Object.create(null);
    for (const [index, name] of names.entries()) {
      const key = keyOf(name);
      if (key === null) return unknownTag(name);
      map[wellFormed(key)] = items[index] ?? null;
    }
    return names.some(isPlaced) ? inPlaces(names, map) : map;
  },
};

function decodeAt(json: TaggedJson, depth: number): Value {
  if (typeof json === 'string') return wellFormed(json);
  if (json === null || typeof json !== 'object') return json;
  if (depth >= MAX_DEPTH) throw new ValueError(`a value nests deeper than ${MAX_DEPTH} levels`);
  if (isList(json)) return json.map((item) => decodeAt(item, depth + 1));
  const keys = Object.keys(json);
  const map: Record<string, Value> = Object.create(null);
  let places = false;
  for (const name of keys) {
    const key = keyOf(name);
    if (key === null) return decodeTag(name, keys, json, depth);
    map[wellFormed(key)] = decodeAt(json[name] ?? null, depth + 1);
    places ||= isPlaced(name);
  }
  return places ? inPlaces(keys, map) : map;
}

/** The map with its keys in the order of the names in the JSON object. */
function inPlaces(names: readonly string[], map: ValueMap): ValueMap {
  if (Object.keys(map).length !== names.length)
    throw new ValueError("a whole number is the key of a map twice, with and without the '$' that keeps its place");
  const keys = names.map((name) => keyOf(name) ?? name);
  return mapFrom(keys.map((key) => [key, map[key] ?? null]));
}

/** Refuses a lone surrogate: UTF-8 would silently turn it into another character. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new ValueError('a text holds a lone surrogate, half of a character; pass whole characters');
}

function decodeTag(tag: string, keys: readonly string[], json: { readonly [key: string]: TaggedJson }, depth: number): Value {
  const content = json[tag] ?? null;
  if (keys.length === 1) {
    const value = decodeContent(tag, content, depth);
    if (value !== undefined) return value;
  }
  return unknownTag(tag);
}

function unknownTag(tag: string): never {
  const hint = `a map's own key is written '$${tag}'`;
  throw new ValueError(`'${tag.slice(0, 40)}' is not a known tag with its content, alone in its object; ${hint}`);
}

/** Undefined when the tag is unknown or its content is not of the right form. */
function decodeContent(tag: string, content: TaggedJson, depth: number): Value | undefined {
  if (tag === '$error') {
    const fields = content !== null && typeof content === 'object' ? decodeAt(content, depth) : undefined;
    return isValueMap(fields) ? new ErrorValue(fields) : undefined;
  }
  if (tag === '$fuzzy') return typeof content === 'number' ? new Fuzzy(content) : undefined;
  if (tag === '$handle' && isHandleContent(content)) return new Handle(content.kind, content.id);
  if (typeof content !== 'string') return undefined;
  if (tag === '$num') return NUMBERS.get(content);
  if (tag === '$bytes') return bytesFrom(content);
  if (tag === '$time') return new TimeDate(content);
  if (tag === '$handle') return new Handle(content);
  return undefined;
}

/** Undefined unless the text is canonical base64. */
function bytesFrom(base64: string): Uint8Array | undefined {
  const bytes = fromBase64(base64);
  return bytes === null ? undefined : new Uint8Array(bytes);
}

function isHandleContent(content: TaggedJson): content is { readonly kind: string; readonly id: string } {
  if (content === null || typeof content !== 'object' || isList(content)) return false;
  return typeof content['kind'] === 'string' && typeof content['id'] === 'string' && Object.keys(content).length === 2;
}

/** Whether a value is a script's map, and no list, bytes or instance of a class of `values.ts`. */
export function isValueMap(value: unknown): value is ValueMap {
  if (value === null || typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

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
  return new Encoder(maxBytes, maxValues).encode(value);
}

/** As {@link encode}, in pieces. What changes in the value meanwhile may be in the result or not. */
export function encodeInPieces(value: unknown, maxBytes: number, maxValues: number): Pieces<TaggedJson> {
  return new Encoder(maxBytes, maxValues).inPieces(value);
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
    if (value instanceof ErrorValue) return mapEntries(value.fields);
    if (value instanceof Map) return [...value];
    if (!isValueMap(value)) return this.#refuse(`${describe(value)} is a class instance; return a plain object or list`);
    const symbol = Object.getOwnPropertySymbols(value)[0];
    if (symbol !== undefined) this.#refuse(`the key ${String(symbol)} is a symbol; keys are text`);
    return mapEntries(value);
  }

  *inPieces(value: unknown): Pieces<TaggedJson> {
    return isHeavy(value) ? yield* this.#heavy(value) : this.encode(value);
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
    this.#spend(utf8Length(JSON.stringify(text)), null);
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
