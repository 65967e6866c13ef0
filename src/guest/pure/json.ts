import { MAX_NESTING, textBytes, VALUE_BYTES } from '../../wire/costs.ts';
import { checkValue, type Dict, type List, newList, putEntry, tooDeep, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import type { Group } from './define.ts';
import { jsonText, plainIndent } from './jsontext.ts';
import { newMap, paidSlice } from './results.ts';

/** Conversion from and to JSON (RFC 8259). Keys keep their order. */
export const JSON_TOOLS: Group<'json'> = {
  'tool.json.Parse': parseJson,
  'tool.json.Stringify': (meter, value, indent) => {
    if (indent < 0 || indent > MAX_INDENT) meter.fail('Bounds', `indent must be 0 to ${MAX_INDENT}, got ${indent}`);
    return jsonText(meter, value, indent === 0 ? plainIndent : { first: '\n', step: ' '.repeat(indent) });
  },
  'tool.json.Canonical': (meter, value) => jsonText(meter, value, plainIndent, true),
  'tool.json.IsValid': (meter, text) => {
    try {
      new Reader(meter, text).whole();
      return true;
    } catch (thrown) {
      if (thrown instanceof NotJson) return false;
      throw thrown;
    }
  },
};

const MAX_INDENT = 16;

/** Parses JSON. Fails with code 41 and the position for invalid JSON, and with code 37 if it nests too deep. */
export function parseJson(meter: Meter, text: string): Value {
  try {
    return new Reader(meter, text).whole();
  } catch (thrown) {
    if (thrown instanceof NotJson) meter.fail('InvalidValue', `the text is not JSON: ${thrown.problem}`);
    throw thrown;
  }
}

/** Thrown for invalid JSON, with the reason. */
class NotJson {
  readonly problem: string;
  constructor(problem: string) {
    this.problem = problem;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
/** Characters of a string without escapes. */
const PLAIN = /[^"\\\0-\x1f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Pays for each value before it makes it. V8's own parser would make all values at once. */
class Reader {
  readonly #meter: Meter;
  readonly #text: string;
  #at = 0;

  constructor(meter: Meter, text: string) {
    this.#meter = meter;
    this.#text = text;
  }

  whole(): Value {
    const text = this.#text;
    this.#meter.pay(WORK.json, text.length);
    this.#blank();
    const value = this.#value(1);
    this.#blank();
    if (this.#at < text.length) this.#expected('the end');
    return value;
  }

  #value(depth: number): Value {
    const text = this.#text;
    switch (text.charAt(this.#at)) {
      case '"':
        return this.#string();
      case '[':
        return this.#list(depth);
      case '{':
        return this.#map(depth);
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #list(depth: number): List {
    const meter = this.#meter;
    if (depth > MAX_NESTING) tooDeep(meter, 'read from JSON');
    meter.allocate(VALUE_BYTES.list.amount);
    const items: Value[] = [];
    if (this.#opened(']')) return newList(meter, items);
    for (;;) {
      meter.pay(WORK.written);
      meter.allocate(VALUE_BYTES.item.amount);
      meter.checkItems(items.length + 1);
      items.push(this.#value(depth + 1));
      if (this.#closed(']')) return newList(meter, items);
    }
  }

  #map(depth: number): Dict {
    const meter = this.#meter;
    if (depth > MAX_NESTING) tooDeep(meter, 'read from JSON');
    const map = newMap(meter);
    if (this.#opened('}')) return map;
    for (;;) {
      meter.pay(WORK.written);
      if (this.#text.charAt(this.#at) !== '"') this.#expected('a key in double quotes');
      const key = this.#string();
      this.#blank();
      if (this.#text.charAt(this.#at) !== ':') this.#expected("':'");
      this.#at++;
      this.#blank();
      putEntry(meter, map, key, this.#value(depth + 1));
      if (!this.#closed('}')) continue;
      checkValue(meter, map);
      return map;
    }
  }

  /** Skips an opening bracket. Returns true, and skips the closing one, if it follows at once. */
  #opened(close: string): boolean {
    this.#at++;
    this.#blank();
    if (this.#text.charAt(this.#at) !== close) return false;
    this.#at++;
    return true;
  }

  /** Skips what follows an element: returns true for the closing bracket, false for a comma. */
  #closed(close: string): boolean {
    this.#blank();
    const next = this.#text.charAt(this.#at);
    if (next !== close && next !== ',') this.#expected(`',' or '${close}'`);
    this.#at++;
    if (next === close) return true;
    this.#blank();
    return false;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at + 1;
    this.#at = start;
    let escaped = false;
    for (;;) {
      this.#skip(PLAIN);
      const next = text.charAt(this.#at);
      if (next === '"') break;
      if (next !== '\\') this.#expected(next === '' ? "'\"' at the end of the text" : 'no raw control character in a text');
      this.#meter.pay(WORK.jsonEscape);
      if (!this.#skip(ESCAPE)) this.#expected('an escape such as \\n or \\u00e9');
      escaped = true;
    }
    const end = this.#at++;
    if (!escaped) return paidSlice(this.#meter, text, start, end);
    this.#meter.allocate(textBytes(end - start));
    const made: string = JSON.parse(text.slice(start - 1, end + 1));
    if (made.isWellFormed()) return made;
    this.#at = start;
    return this.#expected('whole characters in the text: an escape stands for half of one');
  }

  #number(): number {
    const start = this.#at;
    if (!this.#skip(NUMBER)) this.#expected('a value');
    const number = Number(this.#text.slice(start, this.#at));
    if (Number.isFinite(number)) return number;
    this.#at = start;
    return this.#expected('a number within the range of numbers');
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#expected('a value');
    this.#at += word.length;
    return value;
  }

  #blank(): void {
    const code = this.#text.charCodeAt(this.#at);
    if (code <= 0x20) this.#skip(BLANK);
  }

  /** Skips what a pattern matches here. Returns false if that is nothing. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.test(this.#text) && pattern.lastIndex > this.#at;
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #expected(what: string): never {
    const text = this.#text;
    let line = 1;
    let start = 0;
    for (let feed = text.indexOf('\n'); feed >= 0 && feed < this.#at; feed = text.indexOf('\n', start)) {
      this.#meter.pay(WORK.item);
      line++;
      start = feed + 1;
    }
    const column = this.#meter.codePoints.count(text.slice(start, this.#at)) + 1;
    const got =
      this.#at < this.#text.length ? JSON.stringify(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)) : 'the end';
    throw new NotJson(`line ${line}, column ${column}: expected ${what}, got ${got}`);
  }
}
