import { decode, PLAIN } from './codec.ts';
import { MAX_DEPTH, wellFormed } from './decoder.ts';
import { ConfigError } from './errors.ts';
import { keyOf } from './mapkeys.ts';
import type { TaggedJson } from './protocol.ts';
import { isList } from './tagged.ts';
import { isRecord, messageOf } from './unknown.ts';
import { type Value, ValueError } from './values.ts';

/**
 * A copy of a value of an application that must be tagged JSON already, such as the answer to a call or a global of a request. Throws
 * {@link ValueError} (`ERR_VALUE`) with the place and the problem for everything that JSON would change or leave out (maps, class
 * instances, functions, `undefined`, NaN, −0), and for what `decode` refuses.
 */
export function taggedFrom(value: unknown): TaggedJson {
  return TAGGED.read(value);
}

/**
 * A copy of a value, which JSON keeps as it is. Each part is read once, so it cannot be another one when it is stored. Throws
 * {@link ValueError} with the place and the problem for every other value.
 */
export function jsonFrom(value: unknown): TaggedJson {
  return JSON_ALONE.read(value);
}

/**
 * Converts tagged JSON of any origin to a value with maps as plain objects, which have the key order of JavaScript. Throws {@link ValueError}
 * (`ERR_VALUE`) with the place and the problem for what is no tagged JSON: see {@link taggedFrom}.
 */
export function decodeTagged(json: unknown): Value {
  return DECODED.read(json);
}

/** As {@link taggedFrom}; throws {@link ConfigError} that names the value. */
export function checkTagged(what: string, value: unknown): TaggedJson {
  return orConfigError(what, () => taggedFrom(value));
}

/** Makes a value of an application's. Throws {@link ConfigError} that names it in place of a {@link ValueError}. */
export function orConfigError<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw cause instanceof ValueError ? new ConfigError(`${what}: ${cause.message}`, { cause }) : cause;
  }
}

type Leaf = null | boolean | number | string;

/** What values of any origin become. */
interface Making<T> {
  readonly deepest: number;
  text(text: string): string;
  list(items: readonly (T | Leaf)[]): T;
  map(names: readonly string[], items: readonly (T | Leaf)[]): T;
  /** Makes the whole of a map that begins with a tag, from a copy of it; as other maps when absent. */
  readonly tagged?: (json: TaggedJson, depth: number) => T | Leaf;
}

/** Reads each part of a value once. What is wrong with a part gets its place on the way out. */
class Reader<T> {
  readonly #making: Making<T>;

  constructor(making: Making<T>) {
    this.#making = making;
  }

  /** Throws {@link ValueError} with the place and the problem. */
  read(value: unknown): T | Leaf {
    try {
      return this.#part(value, 0);
    } catch (thrown) {
      throw placed('', thrown);
    }
  }

  #part(value: unknown, depth: number): T | Leaf {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return this.#making.text(value);
    if (typeof value === 'number') {
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      const shown = Object.is(value, -0) ? '-0' : String(value);
      throw new ValueError(`JSON does not have ${shown}; write {"$num": "${shown}"}`);
    }
    if (typeof value !== 'object') throw new ValueError(`${value === undefined ? 'undefined' : `a ${typeof value}`} is not JSON`);
    if (depth > this.#making.deepest) throw new ValueError(`a value nests deeper than ${MAX_DEPTH} levels`);
    return Array.isArray(value) ? this.#list(value, depth) : this.#map(value, depth);
  }

  #list(list: readonly unknown[], depth: number): T {
    checkList(list);
    const items: (T | Leaf)[] = [];
    try {
      while (items.length < list.length) items.push(this.#part(list[items.length], depth + 1));
    } catch (thrown) {
      throw placed(`[${items.length}]`, thrown);
    }
    return this.#making.list(items);
  }

  #map(value: object, depth: number): T | Leaf {
    const names = namesOf(value);
    const { tagged } = this.#making;
    if (tagged !== undefined && keyOf(names[0] ?? '') === null) return tagged(TAGGED.#map(value, depth), depth);
    const items: (T | Leaf)[] = [];
    try {
      for (const name of names) items.push(this.#part(Reflect.get(value, name), depth + 1));
    } catch (thrown) {
      throw placed(`.${names[items.length]}`, thrown);
    }
    return this.#making.map(names, items);
  }
}

const TAGGED = new Reader<TaggedJson>({
  deepest: MAX_DEPTH,
  text: wellFormed,
  list: (items) => items,
  map: (names, items) => checkedNames(objectOf(names, items), names),
});
const JSON_ALONE = new Reader<TaggedJson>({ deepest: MAX_DEPTH, text: (text) => text, list: (items) => items, map: objectOf });
const DECODED = new Reader<Value>({
  deepest: MAX_DEPTH - 1,
  text: wellFormed,
  list: (items) => items,
  map: (names, items) => PLAIN.map(names, items),
  tagged: (json, depth) => PLAIN.part(json, depth),
});

/** With the usual prototype: without one `JSON.stringify` takes a slow path. */
function objectOf(names: readonly string[], items: readonly TaggedJson[]): JsonMap {
  const map: Record<string, TaggedJson> = {};
  for (let index = 0; index < names.length; index++) {
    const [name = '', value = null] = [names[index], items[index]];
    if (name === '__proto__') Object.defineProperty(map, name, { value, writable: true, enumerable: true, configurable: true });
    else map[name] = value;
  }
  return map;
}

function checkList(list: readonly unknown[]): void {
  const isPlain = Object.getPrototypeOf(list) === Array.prototype && Object.keys(list).length === list.length;
  if (!isPlain || Object.getOwnPropertySymbols(list).length > 0)
    throw new ValueError('a list with gaps, or with more than its items, is not JSON');
}

function namesOf(value: object): readonly string[] {
  if (Object.getOwnPropertySymbols(value).length > 0) throw new ValueError('an object with a symbol as a key is not JSON');
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return Object.keys(value);
  const name = isRecord(prototype) && typeof prototype.constructor === 'function' ? prototype.constructor.name : '';
  throw new ValueError(`${name || 'a class instance'} is not JSON`);
}

type JsonMap = { readonly [name: string]: TaggedJson };

/** The map itself. Throws for one that `decode` refuses because of its keys: a lone surrogate, or a `$` that begins no tag with its content. */
function checkedNames(map: JsonMap, names: readonly string[]): JsonMap {
  if (names.some((name) => name.startsWith('$'))) decode(flat(map, (content) => flat(content, () => null)));
  else for (const name of names) wellFormed(name);
  return map;
}

/** A list or map whose parts that are lists and maps are replaced. The parts were judged before. */
function flat(json: TaggedJson, replaced: (part: TaggedJson) => TaggedJson): TaggedJson {
  if (json === null || typeof json !== 'object') return json;
  const part = (item: TaggedJson): TaggedJson => (item === null || typeof item !== 'object' ? item : replaced(item));
  return isList(json) ? [] : Object.fromEntries(Object.entries(json).map(([name, item]) => [name, part(item)]));
}

/** A value error that names its place. */
class Refused extends ValueError {
  readonly place: string;
  readonly problem: string;

  constructor(place: string, problem: string) {
    super(place === '' ? problem : `at ${place.slice(0, 200)}: ${problem}`);
    this.place = place;
    this.problem = problem;
  }
}

/** What was thrown for a part, as an error of what is around it. */
function placed(step: string, thrown: unknown): Refused {
  if (thrown instanceof Refused) return new Refused(step + thrown.place, thrown.problem);
  return new Refused(step, thrown instanceof ValueError ? thrown.message : `it cannot be read: ${messageOf(thrown)}`);
}
