/** What every operation needs: the meter, the stack, errors with their place, and conversions with their price. */
import { positionAt, type SourceFile } from '../../../grammar/index.ts';
import { jsonOf } from './json.ts';
import type { Origin } from './labels.ts';
import { Failure, type Frame, type Meter, NOWHERE, PER, type Place, PRICE, SHORT } from './meter.ts';
import { numberIn } from './numerals.ts';
import { contentOf, Dict, degreeOf, List, Opaque, partsOf, textOf, type Value } from './values.ts';

/** A longer print of a list or map may be counted in parts. */
const LONG_PRINT = 500;
/** The JSON of a list or map that is as long may be counted in parts. */
const LONG_JSON = 1000;
/** Words and long texts that are remembered. */
const REMEMBERED_WORDS = 8;
const REMEMBERED_TEXTS = 4;
/** A text that `+` makes is remembered when it has more UTF-16 units. */
const LONG = 64;
/** Deepest value that is printed, compared or given to a tool. */
const MOST_LEVELS = 500;

/** The state of a run that no statement owns. */
export class Machine {
  readonly meter: Meter;
  readonly frames: Frame[] = [];
  /** False once a long text was looked through: an implementation may remember it and charge less the next time. */
  isExact = true;
  /** Whether the fuel is nevertheless that of the product: which texts it remembers is followed, but for joined ones and those with blanks. */
  isFollowed = true;
  /** Follows the labels of values. */
  readonly origin: Origin;
  /** The words that were read as a number, or made by `+`: the latest of each length modulo 8. Reading one of them again is free. */
  readonly #words: string[] = [];
  /** The long texts that were looked through last. */
  #looked: readonly string[] = [];

  constructor(meter: Meter, origin: Origin) {
    this.meter = meter;
    this.origin = origin;
  }

  /** The error of an operation. Raising it costs fuel. */
  failure(code: number, message: string, at: Place): Failure {
    this.meter.spend(PRICE.raise + this.frames.length, at);
    return new Failure(code, message, at, [...this.frames].reverse());
  }

  /** The text of a value where nil is empty: joining, templates, keys, messages. */
  text(value: Value, at: Place): string {
    return value === null ? '' : this.print(value, at);
  }

  /** The text of a value as it is emitted. */
  print(value: Value, at: Place): string {
    if (typeof value === 'string') return value;
    this.#write(value, 'text', at);
    const text = textOf(value);
    if (text.length > LONG_PRINT) this.#inexact();
    this.meter.bound('textLength', text.length, at);
    this.meter.spendFor(text.length, 'text', at);
    return text;
  }

  /** Charges for writing a value as JSON that leaves the interpreter. */
  export(value: Value, at: Place | null): void {
    this.#write(value, 'json', at);
    const { length } = jsonOf(value);
    if (length >= LONG_JSON && typeof value !== 'string') this.#inexact();
    this.meter.spendFor(length, 'json', at);
  }

  /**
   * Charges for every list and map of a value, the outer ones first. As JSON, the content of an error counts too. A list or map that is too
   * deep is refused before it is charged as text, and afterwards as JSON.
   */
  #write(value: Value, form: 'text' | 'json', at: Place | null, level = 1): void {
    const of = form === 'json' && value instanceof Opaque && value.of.kind === 'error' ? value.of.fields : value;
    if (!(of instanceof List || of instanceof Dict)) return;
    const parts = partsOf(of);
    // The text of what is around a part that nests too deep may be counted.
    if (level > MOST_LEVELS) this.#inexact();
    if (form === 'text') this.checkLevels(level, at ?? NOWHERE);
    this.meter.spend(PRICE.written * parts.length, at);
    if (form === 'json') this.checkLevels(level, at ?? NOWHERE);
    for (const part of parts) this.#write(part, form, at, level + 1);
  }

  /** Charges for reading a value from JSON. Keys of maps, numbers and handles are free. */
  import(value: Value, at: Place | null): void {
    const parts = partsOf(value instanceof Opaque && value.of.kind === 'error' ? value.of.fields : value);
    this.meter.spend(PRICE.written * parts.length, at);
    for (const part of parts) this.import(part, at);
    this.meter.spendFor(contentOf(value).length, 'json', at);
  }

  /** The number that a value is, spells or has as its degree; undefined for all others. */
  number(value: Value, at: Place): number | undefined {
    if (typeof value === 'number') return value;
    if (typeof value !== 'string') return degreeOf(value);
    if (value.length > 2 * PER.number) {
      this.isExact = false;
      if (/[\s\u0085]/.test(value)) this.#inexact();
    }
    const known = this.#words[value.length % REMEMBERED_WORDS] === value;
    if (value.length > PER.number) this.meter.spendFor(value.length, 'same', at);
    if (value.length > PER.number && !known) this.meter.spendFor(value.length, 'number', at);
    if (value.length > 2 * PER.number && isWord(value)) this.#words[value.length % REMEMBERED_WORDS] = value;
    return numberIn(value);
  }

  /** Remembers a text that `+` made. */
  made(text: string): string {
    if (text.length > LONG) this.isFollowed = false;
    if (text.length > LONG && isWord(text)) this.#words[text.length % REMEMBERED_WORDS] = text;
    return text;
  }

  /** The whole number within 64 bits that a value is or spells. */
  whole(value: Value, at: Place): bigint | undefined {
    const number = this.number(value, at);
    if (number === undefined || !Number.isInteger(number) || number < -(2 ** 63) || number >= 2 ** 63) return undefined;
    return BigInt(number);
  }

  /** The characters of a text, which are code points. */
  characters(text: string, at: Place): readonly string[] {
    if (text.length > SHORT) this.look(text, at);
    return Array.from(text);
  }

  /** Charges for looking through a text, unless it is one of those that were looked through last. */
  look(text: string, at: Place): void {
    this.#inexact();
    this.meter.spendFor(text.length, 'same', at);
    if (!this.#looked.includes(text)) this.meter.spendFor(text.length, 'scan', at);
    this.#looked = [text, ...this.#looked.filter((other) => other !== text)].slice(0, REMEMBERED_TEXTS);
  }

  #inexact(): void {
    this.isExact = false;
    this.isFollowed = false;
  }

  /** Refuses a level of a value that is too deep to be printed, compared or sent to the host. */
  checkLevels(levels: number, at: Place): void {
    if (levels > MOST_LEVELS) throw this.failure(37, 'the value is nested too deep', at);
  }
}

/** Whether a text spells no number whatever follows it: by its first character, or by one that no number has. */
function isWord(text: string): boolean {
  return /^[^\s\u0085+\-.\diInN]/.test(text) || /[^\s\u0085+\-.\d_a-fA-FinftyINTYxXpP]/.test(text);
}

/** Marks a list or map as held by a second place. */
export function shared(value: Value): Value {
  if (value instanceof List || value instanceof Dict) value.shared = true;
  return value;
}

/** The place of an offset in a file. */
export function placeIn(file: SourceFile, offset: number): Place {
  return { source: file.name, ...positionAt(file.lines, offset) };
}
