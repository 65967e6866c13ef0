import { WireError } from './errors.ts';
import { checkCounts, checkKeys, KEY_VALUES, NOT_JSON } from './frames.ts';
import { PIECE_UNITS } from './frametext.ts';
import type { TaggedJson } from './protocol.ts';
import { isList } from './tagged.ts';

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

export interface Parsed {
  readonly value: unknown;
  /** What `jsonUnits` counts of the value, or a little more. */
  readonly units: number;
}

/**
 * Parses a text as `parseFrame` does, and yields after each piece, so that an event loop can do other work meanwhile. `texts` make up the
 * text, each about a piece. Only lists, maps and strings that are longer than a piece are put together here; the parser of the engine reads
 * what is within them, in runs of about a piece, and no more of the text is held. Throws {@link WireError}; too many values may be noticed
 * when some of them are built.
 */
export function parseInPieces(texts: Iterator<string>, maxValues: number): Generator<void, Parsed> {
  return new PieceParser(texts, maxValues).parse();
}

class PieceParser {
  readonly #texts: Iterator<string>;
  readonly #maxValues: number;
  readonly #open: Open[] = [];
  /** The part of the text that is held, and the place where it begins. */
  #text = '';
  #base = 0;
  /** Where the first text begins that is not parsed yet. */
  #pending = 0;
  #root: Built | null = null;
  #units = 0;

  constructor(texts: Iterator<string>, maxValues: number) {
    this.#texts = texts;
    this.#maxValues = maxValues;
  }

  *parse(): Generator<void, Parsed> {
    let values = 0;
    let rested = 0;
    for (let at = 0; at < this.#end || this.#more(); at++) {
      const unit = this.#text.charCodeAt(at - this.#base);
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
        if (top !== undefined) checkKeys(++top.keys);
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
    this.#mustBeBlank(this.#pending, this.#end);
    return { value: this.#root, units: this.#units };
  }

  /** Where the text ends that is held. */
  get #end(): number {
    return this.#base + this.#text.length;
  }

  /** Holds more of the text, and less of what is parsed. What must stay long is read on twice as far each time. False at the end. */
  #more(): boolean {
    const from = this.#root === null ? 0 : this.#pending;
    const kept = this.#text.slice(from - this.#base);
    let more = '';
    for (let next = this.#texts.next(); next.done !== true; next = this.#texts.next()) {
      more += next.value;
      if (more.length >= PIECE_UNITS / 2 && more.length >= kept.length - PIECE_UNITS) break;
    }
    this.#text = kept + more;
    this.#base = from;
    return more !== '';
  }

  #slice(from: number, to: number): string {
    return this.#text.slice(from - this.#base, to - this.#base);
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
    const end = yield* this.#endOfString(at + 1, at + PIECE_UNITS);
    if (end !== null) return end;
    const top = this.#open.at(-1);
    if (top === undefined || (!top.list && this.#slice(top.item, at).trim() === '')) return yield* this.#endOfString(at + 1);
    const built = this.#build();
    const key = this.#before(top, built, at);
    this.#pending = at + 1;
    add(built, key, yield* this.#longString());
    top.filled = true;
    return this.#pending - 1;
  }

  /** The index of the quote that ends the string whose text begins at `start`; null when it stands beyond `most`. */
  #endOfString(start: number): Generator<void, number>;
  #endOfString(start: number, most: number): Generator<void, number | null>;
  *#endOfString(start: number, most = Number.POSITIVE_INFINITY): Generator<void, number | null> {
    for (let at = start, rested = start; at <= most; ) {
      const found = this.#text.indexOf('"', at - this.#base);
      const end = found < 0 ? this.#end : found + this.#base;
      if (end > most) return null;
      if (found < 0 && !this.#more()) throw new WireError(NOT_JSON);
      let slashes = 0;
      if (found >= 0) while (this.#text.charCodeAt(end - 1 - slashes - this.#base) === BACKSLASH) slashes++;
      if (found >= 0 && slashes % 2 === 0) return end;
      at = found < 0 ? end : end + 1;
      if (at - rested <= PIECE_UNITS) continue;
      rested = at;
      yield;
    }
    return null;
  }

  /** The string whose text is pending, and what follows its last quote is pending then. No piece ends within an escape. */
  *#longString(): Generator<void, string> {
    for (let whole = ''; ; ) {
      while (this.#end - this.#pending < PIECE_UNITS && this.#more());
      const text = this.#text;
      const from = this.#pending - this.#base;
      const { to, ends } = pieceOfString(text, from, Math.min(text.length, from + PIECE_UNITS));
      if (to === from && !ends) throw new WireError(NOT_JSON);
      whole += String(parsed(`"${text.slice(from, to)}"`));
      this.#pending += to - from;
      if (ends) {
        this.#pending++;
        this.#units += whole.length;
        return whole;
      }
      yield;
    }
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
        if (outer !== null && around !== null) {
          add(around, this.#before(outer, around, open.from - 1), inner);
          outer.filled = true;
        } else {
          if (this.#root !== null) throw new WireError(NOT_JSON);
          this.#mustBeBlank(0, open.from - 1);
          this.#root = inner;
        }
      }
      outer = open;
    }
    if (inner === null) throw new WireError(NOT_JSON);
    return inner;
  }

  /** Adds the items before the present one, whose text begins at `at`. Returns its key; null in a list. */
  #before(to: Open, built: Built, at: number): string | null {
    if (to.filled) throw new WireError(NOT_JSON);
    this.#units += at - to.item + BRACKETS;
    if (to.item > to.from) this.#take(to, built, to.item - 1);
    if (to.list) {
      this.#mustBeBlank(to.item, at);
      return null;
    }
    const [key, ...more] = Object.keys(Object(parsed(`{${this.#slice(to.item, at)}[]}`)));
    if (key === undefined || more.length > 0) throw new WireError(NOT_JSON);
    return key;
  }

  /** Adds the items that are not parsed yet. Their text ends at `end`. */
  #take(to: Open, built: Built, end: number): void {
    if (to.filled) {
      this.#mustBeBlank(this.#pending, end);
      to.filled = false;
      return;
    }
    const run = this.#slice(to.from, end);
    const items = parsed(to.list ? `[${run}]` : `{${run}}`);
    const [count, entries] = Array.isArray(items) ? [items.length, []] : [1, Object.entries(Object(items))];
    if (count === 0) throw new WireError(NOT_JSON);
    this.#units += jsonUnits(items);
    if (Array.isArray(built) && Array.isArray(items)) for (const item of items) built.push(item);
    else if (!Array.isArray(built)) for (const [key, item] of entries) set(built, key, item);
  }

  #mustBeBlank(from: number, to: number): void {
    const rest = parsed(`[${this.#slice(from, to)}]`);
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

function add(built: Built, key: string | null, item: unknown): void {
  if (Array.isArray(built)) built.push(item);
  else if (key !== null) set(built, key, item);
}

/** Sets a key as the parser does, to which `__proto__` is a key like others. */
function set(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
  else map[key] = value;
}

/** Where a piece of a string ends that begins at `from`: at its last quote, at `stop`, or before an escape that ends beyond it. */
function pieceOfString(text: string, from: number, stop: number): { readonly to: number; readonly ends: boolean } {
  let quote = text.indexOf('"', from);
  let mark = text.indexOf('\\', from);
  while (mark >= 0 && mark < stop && (quote < 0 || mark < quote)) {
    const after = mark + (text.charCodeAt(mark + 1) === SMALL_U ? 6 : 2);
    if (after > stop) return { to: mark, ends: false };
    if (quote >= 0 && quote < after) quote = text.indexOf('"', after);
    mark = text.indexOf('\\', after);
  }
  const ends = quote >= 0 && quote < stop;
  return { to: ends ? quote : stop, ends };
}

/** UTF-16 units of tagged JSON as text, without its escapes: never more than the text has. */
export function jsonUnits(json: TaggedJson): number {
  if (typeof json === 'string') return json.length + 2;
  if (json === null || typeof json !== 'object') return String(json).length;
  // Brackets, and a comma after each item but the last.
  let units = 1;
  if (isList(json)) {
    for (const item of json) units += jsonUnits(item) + 1;
  } else {
    for (const name of Object.keys(json)) units += name.length + 4 + jsonUnits(json[name] ?? null);
  }
  return Math.max(2, units);
}
