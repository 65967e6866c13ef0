import { checkObject, typeName } from '../arguments.ts';
import { JsonError } from '../errors.ts';
import { fromUtf8 } from '../utf8.ts';

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object; no name occurs twice. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * The allowed numbers. `integers`, for signed data: literals without fraction and exponent, at most 2^53−1 in size. `doubles`, for
 * USERDATA: also fractions and exponents of finite numbers, and whole literals above 2^53−1 that a double represents exactly. Other whole
 * literals are refused, because they would silently become another number.
 */
export type NumberProfile = 'integers' | 'doubles';

/** What {@link parseStrict} accepts. The defaults are those of USERDATA. */
export interface StrictJsonOptions {
  /** Which numbers are accepted; `doubles` when absent. */
  readonly numbers?: NumberProfile;
  /** Whether white space may surround the document; true when absent. */
  readonly padding?: boolean;
}

/** Most containers nested in each other, the outermost included. */
export const MAX_JSON_DEPTH = 32;

/**
 * Reads JSON that all parsers read alike (I-JSON): UTF-8, no duplicate names, no lone surrogates, no numbers that lose precision, bounded
 * depth. Objects have no prototype, so `__proto__` is a name like any other. The result is frozen. Takes time linear in the size of the
 * input. Throws {@link JsonError}.
 */
export function parseStrict(input: Uint8Array | string, options: StrictJsonOptions = {}): JsonValue {
  checkObject('the options of parseStrict', options);
  const { numbers = 'doubles', padding = true } = options;
  if (typeof input !== 'string' && !(input instanceof Uint8Array))
    throw new JsonError('type', `expected a text or a Uint8Array, got ${typeName(input)}`);
  const text = typeof input === 'string' ? input : fromUtf8(input);
  if (text === null) throw new JsonError('encoding', 'the text is not valid UTF-8');
  if (!text.isWellFormed()) throw new JsonError('surrogate', 'the text has a lone surrogate');
  return new Reader(text, { numbers, padding }).document();
}

/** Whether a value of strict JSON is an object. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

class Reader {
  readonly #text: string;
  readonly #options: Required<StrictJsonOptions>;
  #at = 0;

  constructor(text: string, options: Required<StrictJsonOptions>) {
    this.#text = text;
    this.#options = options;
  }

  document(): JsonValue {
    if (this.#options.padding) this.#space();
    const value = this.#value(0);
    if (this.#options.padding) this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('nothing more');
    return value;
  }

  #value(depth: number): JsonValue {
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return this.#object(depth + 1);
      case '[':
        return this.#array(depth + 1);
      case '"':
        return this.#string();
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

  #object(depth: number): JsonObject {
    this.#enter(depth);
    const object: Record<string, JsonValue> = Object.create(null);
    this.#space();
    if (this.#take('}')) return Object.freeze(object);
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#unexpected('a name in double quotes');
      const start = this.#at;
      const name = this.#string();
      if (name in object) throw new JsonError('duplicate', `the name ${JSON.stringify(name)} occurs twice in one object`, start);
      this.#space();
      if (!this.#take(':')) throw this.#unexpected("':'");
      this.#space();
      object[name] = this.#value(depth);
      this.#space();
      if (this.#take('}')) return Object.freeze(object);
      if (!this.#take(',')) throw this.#unexpected("',' or '}'");
      this.#space();
    }
  }

  #array(depth: number): readonly JsonValue[] {
    this.#enter(depth);
    const array: JsonValue[] = [];
    this.#space();
    if (this.#take(']')) return Object.freeze(array);
    for (;;) {
      array.push(this.#value(depth));
      this.#space();
      if (this.#take(']')) return Object.freeze(array);
      if (!this.#take(',')) throw this.#unexpected("',' or ']'");
      this.#space();
    }
  }

  #enter(depth: number): void {
    if (depth > MAX_JSON_DEPTH) throw new JsonError('depth', `containers are nested deeper than ${MAX_JSON_DEPTH}`, this.#at);
    this.#at += 1;
  }

  #string(): string {
    const text = this.#text;
    const open = this.#at;
    let from = open + 1;
    let at = from;
    let value = '';
    let escaped = false;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) break;
      if (Number.isNaN(unit)) throw new JsonError('syntax', 'a string is not closed', open);
      if (unit < 0x20) throw new JsonError('syntax', 'a control character in a string is not escaped', at);
      if (unit !== BACKSLASH) {
        at += 1;
        continue;
      }
      escaped = true;
      const [piece, next] = this.#escape(at);
      value += text.slice(from, at) + piece;
      at = next;
      from = next;
    }
    value += text.slice(from, at);
    if (escaped && !value.isWellFormed()) throw new JsonError('surrogate', 'a string has an escaped lone surrogate', open);
    this.#at = at + 1;
    return value;
  }

  #escape(at: number): readonly [piece: string, next: number] {
    const letter = this.#text.charAt(at + 1);
    if (letter === 'u') {
      const digits = this.#text.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new JsonError('syntax', "'\\u' needs four hexadecimal digits", at);
      return [String.fromCharCode(Number.parseInt(digits, 16)), at + 6];
    }
    const piece = ESCAPES.get(letter);
    if (piece === undefined) throw new JsonError('syntax', 'JSON has no such escape', at);
    return [piece, at + 2];
  }

  #number(): number {
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) throw this.#unexpected('a value');
    const literal = this.#text.slice(this.#at, NUMBER.lastIndex);
    const value = Number(literal);
    const whole = !/[.eE]/.test(literal);
    if (whole && !Number.isSafeInteger(value) && (this.#options.numbers === 'integers' || String(value) !== literal))
      throw this.#badNumber(literal, 'is larger than 2^53-1');
    if (!whole && this.#options.numbers === 'integers') throw this.#badNumber(literal, 'is not a plain integer');
    if (!Number.isFinite(value)) throw this.#badNumber(literal, 'is too large');
    this.#at += literal.length;
    return value;
  }

  #badNumber(literal: string, why: string): JsonError {
    return new JsonError('number', `the number ${literal.slice(0, 40)} ${why}`, this.#at);
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected('a value');
    this.#at += word.length;
    return value;
  }

  #space(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  #take(sign: string): boolean {
    if (this.#text.charAt(this.#at) !== sign) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(wanted: string): JsonError {
    const found = this.#at < this.#text.length ? JSON.stringify(this.#text.charAt(this.#at)) : 'the end';
    return new JsonError('syntax', `expected ${wanted}, found ${found}`, this.#at);
  }
}
