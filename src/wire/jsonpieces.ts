import { WireError } from './errors.ts';
import { checkCounts, checkKeys, KEY_VALUES, MAX_MAP_KEYS, NOT_JSON } from './frames.ts';
import { jsonUnits } from './jsonunits.ts';
import type { TaggedJson } from './protocol.ts';

/** UTF-16 units of a piece, about. */
export const PIECE_UNITS = 64 * 1024;

const [QUOTE, BACKSLASH, COMMA, COLON, SMALL_U] = [0x22, 0x5c, 0x2c, 0x3a, 0x75];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Units of brackets or quotes, and of a comma. */
const BRACKETS = 3;

type Built = unknown[] | Record<string, unknown>;

/** A list or map around the present place in the text. */
interface Open {
  readonly list: boolean;
  /** Where its text begins that is not parsed yet. */
  from: number;
  /** Where its present item begins. */
  item: number;
  /** Its keys so far. */
  keys: number;
  /** Its items so far; null as long as it is shorter than a piece. */
  built: Built | null;
  /** Whether its present item was put together already, and is in `built`. */
  filled: boolean;
}

/** A value that was parsed in pieces. */
export interface Parsed {
  readonly value: unknown;
  /** What `jsonUnits` counts of the value, or a little more. */
  readonly units: number;
}

/**
 * Parses a text as `parseFrame` does, and yields after each piece, so that an event loop can do other work meanwhile. Only lists, maps
 * and strings that are longer than a piece are put together here; the parser of the engine reads what is within them, in runs of about a
 * piece. Throws {@link WireError}; too many values may be noticed when some of them are built.
 */
export function parseInPieces(text: string, maxValues: number, maxKeys = MAX_MAP_KEYS): Generator<void, Parsed> {
  return new PieceParser(text, maxValues, maxKeys).parse();
}

class PieceParser {
  readonly #text: string;
  readonly #maxValues: number;
  readonly #maxKeys: number;
  readonly #open: Open[] = [];
  /** Where the first text begins that is not parsed yet. */
  #pending = 0;
  #root: Built | null = null;
  #units = 0;

  constructor(text: string, maxValues: number, maxKeys: number) {
    this.#text = text;
    this.#maxValues = maxValues;
    this.#maxKeys = maxKeys;
  }

  *parse(): Generator<void, Parsed> {
    const text = this.#text;
    let values = 0;
    let rested = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) at = yield* this.#string(at);
      else if (unit === OPEN_LIST || unit === OPEN_MAP) {
        values++;
        this.#open.push({ list: unit === OPEN_LIST, from: at + 1, item: at + 1, keys: 0, built: null, filled: false });
        checkCounts(this.#open.length, values, this.#maxValues);
      } else if (unit === CLOSE_LIST || unit === CLOSE_MAP) this.#close(at, unit === CLOSE_LIST);
      else if (unit === COMMA) {
        checkCounts(0, ++values, this.#maxValues);
        this.#next(at);
      } else if (unit === COLON) {
        const top = this.#open.at(-1);
        if (top !== undefined) checkKeys(++top.keys, this.#maxKeys);
        values += KEY_VALUES;
      }
      if (at - rested <= PIECE_UNITS) continue;
      rested = at;
      checkCounts(0, values, this.#maxValues);
      yield;
    }
    checkCounts(0, values, this.#maxValues);
    if (this.#root === null) return this.#whole();
    if (this.#open.length > 0) throw new WireError(NOT_JSON);
    this.#mustBeBlank(this.#pending, text.length);
    return { value: this.#root, units: this.#units };
  }

  /** The value of a text of which nothing needed to be put together. */
  #whole(): Parsed {
    const value = parsed(this.#text);
    return { value, units: jsonUnits(value) };
  }

  #close(at: number, list: boolean): void {
    const closed = this.#open.pop();
    if (closed?.list !== list) throw new WireError(NOT_JSON);
    if (closed.built === null) return;
    this.#take(closed, closed.built, at);
    this.#pending = at + 1;
  }

  #next(at: number): void {
    const top = this.#open.at(-1);
    if (top === undefined) throw new WireError(NOT_JSON);
    if (top.filled || at - this.#pending > PIECE_UNITS) {
      this.#take(top, this.#build(), at);
      top.from = at + 1;
      this.#pending = at + 1;
    }
    top.item = at + 1;
  }

  /** Reads over a string, and puts it together if it is a value longer than a piece. Returns the index of its last quote. */
  *#string(at: number): Generator<void, number> {
    const text = this.#text;
    const end = yield* endOfString(text, at + 1);
    const top = this.#open.at(-1);
    if (end - at <= PIECE_UNITS || top === undefined || (!top.list && text.slice(top.item, at).trim() === '')) return end;
    this.#put(top, this.#build(), yield* longString(text, at + 1, end), at);
    this.#pending = end + 1;
    return end;
  }

  /** The list or map at the present place. What is around it is put together up to here. */
  #build(): Built {
    let outer: Open | null = null;
    let inner: Built | null = null;
    for (const open of this.#open) {
      const around = inner;
      inner = open.built ?? (open.list ? [] : {});
      if (open.built === null) {
        open.built = inner;
        if (outer !== null && around !== null) this.#put(outer, around, inner, open.from - 1);
        else {
          this.#mustBeBlank(0, open.from - 1);
          this.#root = inner;
        }
      }
      outer = open;
    }
    if (inner === null) throw new WireError(NOT_JSON);
    return inner;
  }

  /** Adds the items before the present one, and this as the present one, whose text begins at `at`. */
  #put(to: Open, built: Built, item: unknown, at: number): void {
    if (to.filled) throw new WireError(NOT_JSON);
    this.#units += at - to.item + (typeof item === 'string' ? item.length : 0) + BRACKETS;
    if (to.item > to.from) this.#take(to, built, to.item - 1);
    if (Array.isArray(built)) {
      this.#mustBeBlank(to.item, at);
      built.push(item);
    } else {
      const [key, ...more] = Object.keys(Object(parsed(`{${this.#text.slice(to.item, at)}[]}`)));
      if (key === undefined || more.length > 0) throw new WireError(NOT_JSON);
      set(built, key, item);
    }
    to.filled = true;
  }

  /** Adds the items that are not parsed yet. Their text ends at `end`. */
  #take(to: Open, built: Built, end: number): void {
    if (to.filled) {
      this.#mustBeBlank(this.#pending, end);
      to.filled = false;
      return;
    }
    const run = this.#text.slice(to.from, end);
    const items = parsed(to.list ? `[${run}]` : `{${run}}`);
    const [count, entries] = Array.isArray(items) ? [items.length, []] : [1, Object.entries(Object(items))];
    if (count === 0) throw new WireError(NOT_JSON);
    this.#units += jsonUnits(items);
    if (Array.isArray(built) && Array.isArray(items)) for (const item of items) built.push(item);
    else if (!Array.isArray(built)) for (const [key, item] of entries) set(built, key, item);
  }

  #mustBeBlank(from: number, to: number): void {
    const rest = parsed(`[${this.#text.slice(from, to)}]`);
    if (!Array.isArray(rest) || rest.length > 0) throw new WireError(NOT_JSON);
  }
}

/** Every value of JSON has the shape of tagged JSON. */
function parsed(text: string): TaggedJson {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WireError(NOT_JSON, { cause });
  }
}

/** Sets a key as the parser does, to which `__proto__` is a key like others. */
function set(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
  else map[key] = value;
}

/** The index of the quote that ends the string whose text begins at `start`. */
function* endOfString(text: string, start: number): Generator<void, number> {
  for (let at = start, rested = start; ; ) {
    const end = text.indexOf('"', at);
    if (end < 0) throw new WireError(NOT_JSON);
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    at = end + 1;
    if (at - rested <= PIECE_UNITS) continue;
    rested = at;
    yield;
  }
}

/** The string whose text stands between these places. No piece ends within an escape. */
function* longString(text: string, from: number, to: number): Generator<void, string> {
  let whole = '';
  for (let start = from, mark = text.indexOf('\\', from); start < to; ) {
    let end = Math.min(to, start + PIECE_UNITS);
    while (mark >= 0 && mark < end) {
      const after = mark + (text.charCodeAt(mark + 1) === SMALL_U ? 6 : 2);
      end = Math.max(end, after);
      mark = text.indexOf('\\', after);
    }
    whole += String(parsed(`"${text.slice(start, end)}"`));
    start = end;
    yield;
  }
  return whole;
}
