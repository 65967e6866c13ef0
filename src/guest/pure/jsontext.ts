import { MAX_NESTING } from '../../wire/costs.ts';
import { Bytes, boundary, Dict, describe, Fault, Fuzzy, List, TextBuilder, Time, tooDeep, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

/** The layout of JSON: the text before each line, including the line feed, and what each level adds. */
export interface Indent {
  readonly first: string;
  readonly step: string;
}

/** One line without spaces. */
export const plainIndent: Indent = { first: '', step: '' };

/**
 * Converts a value to JSON and pays while the text grows. A timedate becomes its text, bytes become base64, a fuzzy becomes a
 * number, and an error becomes the map of its fields. Fails with code 41 for values that JSON cannot represent: handles, NaN and
 * infinities. `sorted` orders keys by UTF-16 units.
 */
export function jsonText(meter: Meter, value: Value, indent: Indent, sorted = false): string {
  const writer = new Writer(meter, indent, sorted);
  writer.value(value, 1);
  return writer.finish();
}

/** The number of units that are escaped at once. */
const CHUNK = 4096;

class Writer {
  readonly #meter: Meter;
  readonly #indent: Indent;
  readonly #sorted: boolean;
  readonly #text: TextBuilder;
  /** The start of a line, by level. */
  readonly #lines: string[] = [];

  constructor(meter: Meter, indent: Indent, sorted: boolean) {
    this.#meter = meter;
    this.#indent = indent;
    this.#sorted = sorted;
    this.#text = new TextBuilder(meter, WORK.json, 'text');
  }

  finish(): string {
    return this.#text.finish();
  }

  value(value: Value, depth: number): void {
    if (typeof value === 'string') this.#string(value);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value !== 'object' || value === null) this.#text.add(String(value));
    else if (value instanceof List) this.#list(value, depth);
    else if (value instanceof Dict) this.#map(value, depth);
    else if (value instanceof Fault) this.#map(value.fields, depth);
    else if (value instanceof Fuzzy) this.#number(value.degree);
    else if (value instanceof Time) this.#text.add(`"${value.text}"`);
    else if (value instanceof Bytes) this.#string(value.base64);
    else this.#refuse(value);
  }

  #number(value: number): void {
    if (!Number.isFinite(value)) this.#refuse(value);
    this.#text.add(Object.is(value, -0) && !this.#sorted ? '-0' : String(value));
  }

  #refuse(value: Value): never {
    return this.#meter.fail('InvalidValue', `${describe(value)} has no JSON`, 'replace it by a string or nil first');
  }

  #list(list: List, depth: number): void {
    this.#open(list.items.length, depth, '[');
    for (const [index, item] of list.items.entries()) {
      this.#next(index, depth);
      this.value(item, depth + 1);
    }
    this.#close(list.items.length, depth, ']');
  }

  #map(map: Dict, depth: number): void {
    const { size } = map.entries;
    this.#open(size, depth, '{');
    let index = 0;
    for (const [key, item] of this.#sorted ? this.#inOrder(map) : map.entries) {
      this.#next(index++, depth);
      this.#string(key);
      this.#text.add(this.#indent.first === '' ? ':' : ': ');
      this.value(item, depth + 1);
    }
    this.#close(size, depth, '}');
  }

  #inOrder(map: Dict): (readonly [string, Value])[] {
    const { size } = map.entries;
    this.#meter.pay(WORK.sort, size * Math.ceil(Math.log2(size + 1)));
    return [...map.entries].sort(([a], [b]) => {
      this.#meter.pay(WORK.item);
      this.#meter.pay(WORK.textOrder, Math.min(a.length, b.length));
      return a < b ? -1 : a > b ? 1 : 0;
    });
  }

  #open(items: number, depth: number, bracket: string): void {
    this.#meter.pay(WORK.written, items);
    if (depth > MAX_NESTING) tooDeep(this.#meter, 'turned into JSON');
    this.#text.add(bracket);
  }

  #next(index: number, depth: number): void {
    if (index > 0) this.#text.add(',');
    this.#line(depth);
  }

  #close(items: number, depth: number, bracket: string): void {
    if (items > 0) this.#line(depth - 1);
    this.#text.add(bracket);
  }

  #line(level: number): void {
    const { first, step } = this.#indent;
    if (first === '') return;
    // Caching long indents would use memory that is not paid for.
    if (step.length > CHUNK || first.length > CHUNK) {
      this.#text.add(first);
      for (let each = 0; each < level; each++) this.#text.add(step);
      return;
    }
    this.#lines[level] ??= first + step.repeat(level);
    this.#text.add(this.#lines[level] ?? '');
  }

  #string(text: string): void {
    this.#text.add('"');
    for (let start = 0; start < text.length; ) {
      const end = boundary(text, start + CHUNK);
      this.#text.add(JSON.stringify(text.slice(start, end)).slice(1, -1));
      start = end;
    }
    this.#text.add('"');
  }
}
