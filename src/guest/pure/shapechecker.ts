import { textBytes } from '../../wire/costs.ts';
import { Dict, describe, List, payRound, shortQuote, tooDeep, typeName, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { entryOf } from './path.ts';
import { TextMap } from './results.ts';

export interface CheckOptions {
  /** True to allow keys that the shape does not name. */
  readonly allowExtra: boolean;
  /** The number of problems after which the check stops. */
  readonly most: number;
  /** Tells whether two different keys count as the same. */
  readonly sameKey?: (a: string, b: string) => boolean;
}

const MAX_DEPTH = 64;

/**
 * Checks a value against a shape: a map from keys to type names or nested shapes. A key that ends in `?` is optional; the value
 * of a key that ends in `[]` is a list. Nil has no type except `any`.
 */
export class ShapeChecker {
  readonly #meter: Meter;
  readonly #options: CheckOptions;
  readonly #found: string[] = [];

  constructor(meter: Meter, options: CheckOptions) {
    this.#meter = meter;
    this.#options = options;
  }

  /** The problems of a value, each with its path. Fails with code 15 for an invalid shape. */
  problems(value: Dict, shape: Dict): readonly string[] {
    this.#checkShape(shape, 1);
    this.#map(value, shape, '');
    return this.#found;
  }

  /** Checks the whole shape, so that a mistake in it does not depend on the data. */
  #checkShape(shape: Dict, depth: number): void {
    if (depth > MAX_DEPTH) tooDeep(this.#meter, 'used as a shape');
    this.#meter.pay(WORK.visit, shape.entries.size);
    for (const [key, type] of shape.entries) {
      if (fieldOf(this.#meter, key).name === '')
        this.#meter.fail('Syntax', `the key ${shortQuote(key)} of the shape has no name`);
      if (type instanceof Dict) this.#checkShape(type, depth + 1);
      else if (typeof type !== 'string' || !Object.hasOwn(TYPES, type))
        this.#meter.fail(
          'Syntax',
          `${describe(type)} is not a type of a shape; known are ${Object.keys(TYPES).join(', ')}, and maps`,
        );
    }
  }

  #map(map: Dict, shape: Dict, path: string): void {
    const known = new TextMap<true>(this.#meter);
    for (const [key, type] of shape.entries) {
      if (this.#done) return;
      this.#meter.pay(WORK.compared);
      const { name, optional, list } = fieldOf(this.#meter, key);
      const { sameKey } = this.#options;
      if (sameKey !== undefined) this.#meter.pay(WORK.visit, map.entries.size);
      const actual =
        sameKey === undefined ? name : ([...map.entries.keys()].find((each) => each === name || sameKey(each, name)) ?? name);
      if (known.get(actual) === undefined) known.add(actual, true);
      const value = entryOf(this.#meter, map, actual);
      const at = path === '' ? name : `${path}.${name}`;
      if (value === undefined) {
        if (!optional) this.#report(at, 'is missing');
      } else if (list) this.#list(value, type, at);
      else this.#one(value, type, at);
    }
    if (this.#options.allowExtra) return;
    for (const key of map.entries.keys()) {
      if (this.#done) return;
      if (known.get(key) === undefined) this.#report(path === '' ? key : `${path}.${key}`, 'is not expected');
    }
  }

  #list(value: Value, type: Value | undefined, path: string): void {
    if (!(value instanceof List)) {
      this.#report(path, `must be a list, got ${describe(value)}`);
      return;
    }
    this.#meter.pay(WORK.visit, value.items.length);
    for (const [index, item] of value.items.entries()) {
      if (this.#done) return;
      this.#one(item, type, `${path}[${index}]`);
    }
  }

  #one(value: Value, type: Value | undefined, path: string): void {
    if (type instanceof Dict) {
      if (value instanceof Dict) this.#map(value, type, path);
      else this.#report(path, `must be a map, got ${describe(value)}`);
      return;
    }
    if (typeof value === 'string') this.#meter.pay(WORK.scan, value.length);
    const wanted = typeof type === 'string' ? TYPES[type] : undefined;
    if (wanted?.is(value) === false) this.#report(path, `must be ${wanted.words}, got ${describe(value)}`);
  }

  get #done(): boolean {
    return this.#found.length >= this.#options.most;
  }

  #report(path: string, problem: string): void {
    // V8 flattens the whole path, even to show its beginning.
    this.#meter.pay(WORK.problemPath, path.length);
    const text = `${shortQuote(path)} ${problem}`;
    this.#meter.allocate(textBytes(text.length));
    this.#found.push(text);
  }
}

interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly list: boolean;
}

const QUESTION = 0x3f;
const OPENING = 0x5b;
const CLOSING = 0x5d;

/** Splits a key of a shape into its name and its marks, which may come in any order. */
function fieldOf(meter: Meter, key: string): Field {
  let end = key.length;
  let optional = false;
  let list = false;
  // Offsets, because slicing the key for every mark would take quadratic time.
  for (let marks = 1; ; marks++) {
    payRound(meter, marks);
    if (end >= 1 && key.charCodeAt(end - 1) === QUESTION) {
      optional = true;
      end -= 1;
    } else if (end >= 2 && key.charCodeAt(end - 1) === CLOSING && key.charCodeAt(end - 2) === OPENING) {
      list = true;
      end -= 2;
    } else {
      meter.pay(WORK.mark, 1 + (marks >> 3));
      return { name: key.slice(0, end), optional, list };
    }
  }
}

interface Type {
  readonly words: string;
  readonly is: (value: Value) => boolean;
}

const text = (words: string, pattern: RegExp, most: number): Type => ({
  words,
  is: (value) => typeof value === 'string' && value.length <= most && pattern.test(value),
});

/** Maximum length of an e-mail address, more than RFC 5321 allows. It bounds the time that a pattern takes. */
const MAX_ADDRESS = 320;
const MAX_URL = 8192;

const TYPES: Readonly<Record<string, Type>> = {
  any: { words: 'anything', is: () => true },
  string: { words: 'a string', is: (value) => typeof value === 'string' },
  int: { words: 'a whole number', is: (value) => typeof value === 'number' && Number.isInteger(value) },
  float: { words: 'a number', is: (value) => typeof value === 'number' },
  number: { words: 'a number', is: (value) => typeof value === 'number' },
  bool: { words: 'a boolean', is: (value) => typeof value === 'boolean' },
  list: { words: 'a list', is: (value) => value instanceof List },
  map: { words: 'a map', is: (value) => typeName(value) === 'map' },
  email: text('an e-mail address', /^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,}$/, MAX_ADDRESS),
  url: text('a web address', /^https?:\/\/[a-zA-Z0-9][-a-zA-Z0-9()@:%_+.~#?&/=]*$/, MAX_URL),
  isoDatetime: text(
    'a time such as 2025-10-15T08:00:00Z',
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/,
    40,
  ),
};
