import { DATA_FUEL, MAX_NESTING } from '../wire/costs.ts';
import { TextBuilder } from './builder.ts';
import type { Meter } from './meter.ts';
import { Bytes, type Container, Dict, type Fault, Fuzzy, Handle, List, Time, type Value } from './values.ts';
import { WORK } from './work.ts';

/** A number as text: the shortest digits that read back as the same number, without an exponent. */
export function numberText(value: number): string {
  if (value === (value | 0) && value !== 0) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const mark = text.indexOf('e');
  return mark < 0 ? text : withoutExponent(text.slice(0, mark), Number(text.slice(mark + 1)));
}

function withoutExponent(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  const point = whole.length + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const PLAIN = /^[ !#-[\]-~]*$/;
/** Texts that need a backslash before quotes and backslashes, and nothing else. */
const ASCII = /^[ -~]*$/;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

/** A text in quotes, as it appears inside lists and maps: like Go's `%q`. */
export function quote(text: string): string {
  return `"${quotedBody(text)}"`;
}

function quotedBody(text: string): string {
  if (PLAIN.test(text)) return text;
  // Ten times faster than one character after the other: a text that is quoted again and again doubles its backslashes.
  if (ASCII.test(text)) return text.split('\\').join('\\\\').split('"').join('\\"');
  let quoted = '';
  for (const character of text) quoted += SHORT_ESCAPES.get(character) ?? escaped(character);
  return quoted;
}

/** Made at its first use: V8 reads a pattern where it is made, and this one takes a quarter of the time of making an isolate's guest. */
let printable: RegExp | undefined;

function escaped(character: string): string {
  printable ??= /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  if (code >= 0xd800 && code < 0xe000) return '\\ufffd';
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** A value as the text that `emit` shows. Nil is `nil`. Paid for before it is made. */
export function display(meter: Meter, value: Value): string {
  if (typeof value === 'string') return value;
  if (isSimple(value)) return charged(meter, simpleText(value));
  const printer = new Printer(meter);
  printer.container(value, 1);
  return printer.finish();
}

/** A value as text: as {@link display}, except that nil is empty. */
export function toText(meter: Meter, value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return charged(meter, numberText(value));
  return value === null ? '' : display(meter, value);
}

type Simple = Exclude<Value, Container>;

/** Whether a value is neither a list nor a map. */
export function isSimple(value: Value): value is Simple {
  return !(value instanceof List || value instanceof Dict);
}

/** The text of a value that is neither a list nor a map, as {@link display} gives it. */
export function simpleText(value: Simple): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'nil';
  if (value instanceof Fuzzy) return numberText(value.degree);
  if (value instanceof Time) return value.text;
  if (value instanceof Bytes) return `bytes(${value.length})`;
  if (value instanceof Handle) return `<handle ${value.kind}>`;
  return faultText(value);
}

function faultText(fault: Fault): string {
  const message = fault.fields.entries.get('message') ?? null;
  const text = message === null || message === '' || !isSimple(message) ? '(unspecified)' : message;
  return `error: ${simpleText(text)}`;
}

function charged(meter: Meter, text: string): string {
  const { length } = text;
  if (length >= DATA_FUEL.text.amount) meter.pay(WORK.text, length);
  meter.allocateText(length);
  return text;
}

/** Units of a text that are quoted at once. */
const CHUNK = 8192;

/** Writes the text of a list or map piece by piece. */
class Printer {
  readonly #meter: Meter;
  readonly #text: TextBuilder;

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#text = new TextBuilder(meter, WORK.text, 'text');
  }

  finish(): string {
    return this.#text.finish();
  }

  container(value: Container, depth: number): void {
    if (depth > MAX_NESTING) tooDeep(this.#meter, 'turned into text');
    if (value instanceof List) this.#list(value, depth);
    else this.#map(value, depth);
  }

  #list(list: List, depth: number): void {
    this.#meter.pay(WORK.written, list.items.length);
    this.#text.add('[');
    let separator = '';
    for (const item of list.items) {
      this.#text.add(separator);
      this.#item(item, depth);
      separator = ', ';
    }
    this.#text.add(']');
  }

  #map(map: Dict, depth: number): void {
    this.#meter.pay(WORK.written, map.entries.size);
    this.#text.add('{');
    let separator = '';
    for (const [key, item] of map.entries) {
      this.#text.add(separator);
      addQuoted(this.#text, key);
      this.#text.add(': ');
      this.#item(item, depth);
      separator = ', ';
    }
    this.#text.add('}');
  }

  #item(item: Value, depth: number): void {
    if (typeof item === 'string') addQuoted(this.#text, item);
    else if (isSimple(item)) this.#text.add(simpleText(item));
    else this.container(item, depth + 1);
  }
}

/** Adds a text in quotes. Quoting may make it much longer, so it is quoted in parts. */
export function addQuoted(builder: TextBuilder, text: string): void {
  builder.add('"');
  for (let start = 0; start < text.length; ) {
    const end = boundary(text, start + CHUNK);
    builder.add(quotedBody(text.slice(start, end)));
    start = end;
  }
  builder.add('"');
}

/** The first index from `index` on that does not split a surrogate pair. */
export function boundary(text: string, index: number): number {
  if (index >= text.length) return text.length;
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit < 0xe000 ? index + 1 : index;
}

/** Raises code 37: a value nests too deep to be processed. */
export function tooDeep(meter: Meter, what: string): never {
  return meter.fail(
    'ResourceExhaustion',
    `a value nested deeper than ${MAX_NESTING} levels cannot be ${what}`,
    'keep lists and maps flatter, or take the inner part out first',
  );
}
