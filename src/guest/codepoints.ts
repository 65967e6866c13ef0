import { type CodePointReader, type Meter, payRound } from './meter.ts';
import { WORK } from './work.ts';

const SURROGATE = /[\ud800-\udfff]/;

/** Texts up to this length are scanned each time. */
const SHORT = 64;
/** Number of texts that are remembered. A loop over two or three texts by index stays linear. */
const MEMORY = 4;

/** What is known of a text: where one code point begins, so that its neighbours are found from there. */
interface Cursor {
  readonly text: string;
  /** Whether it has no surrogates: then the n-th unit is the n-th code point. */
  readonly plain: boolean;
  /** Number of code points; undefined until it is needed. */
  count: number | undefined;
  index: number;
  offset: number;
}

/**
 * Reads texts by code points and pays for the units that it scans. How many these are depends on the program alone, so fuel
 * stays deterministic.
 */
export class CodePoints implements CodePointReader {
  readonly #meter: Meter;
  readonly #cursors: Cursor[] = [];
  #next = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Forgets all texts, so that none is kept alive. */
  clear(): void {
    this.#cursors.length = 0;
    this.#next = 0;
  }

  count(text: string): number {
    if (text.length <= SHORT) return countIn(this.#meter, text);
    const cursor = this.#cursor(text);
    if (cursor.plain) return text.length;
    if (cursor.count === undefined) {
      this.#meter.pay(WORK.scan, text.length);
      this.#meter.pay(WORK.character, text.length);
      cursor.count = countIn(this.#meter, text);
    }
    return cursor.count;
  }

  /** The code point at an index ≥ 0 as a text of its own; undefined beyond the end. */
  at(text: string, index: number): string | undefined {
    if (index >= text.length) return undefined;
    const cursor = this.#cursor(text);
    if (cursor.plain) return text[index];
    const fromStart = index < cursor.index / 2;
    if (fromStart) {
      cursor.index = 0;
      cursor.offset = 0;
    }
    this.#meter.pay(WORK.scan, Math.abs(index - cursor.index));
    if (text.length > SHORT) this.#meter.pay(WORK.character, Math.abs(index - cursor.index));
    let at = cursor.index;
    let offset = cursor.offset;
    for (; at < index && offset < text.length; at++) {
      payRound(this.#meter, at);
      offset += unitsAt(text, offset);
    }
    for (; at > index; at--) {
      payRound(this.#meter, at);
      offset -= unitsBefore(text, offset);
    }
    cursor.index = at;
    cursor.offset = offset;
    if (cursor.offset >= text.length) return undefined;
    return text.slice(cursor.offset, cursor.offset + unitsAt(text, cursor.offset));
  }

  #cursor(text: string): Cursor {
    // Two equal texts may be two objects, which V8 compares unit by unit; so are two that only differ at their end.
    this.#meter.pay(WORK.sameText, text.length);
    for (const cursor of this.#cursors) if (cursor.text.length === text.length && cursor.text === text) return cursor;
    this.#meter.pay(WORK.scan, text.length);
    const cursor: Cursor = { text, plain: !SURROGATE.test(text), count: undefined, index: 0, offset: 0 };
    this.#cursors[this.#next] = cursor;
    this.#next = (this.#next + 1) % MEMORY;
    return cursor;
  }
}

function countIn(meter: Meter, text: string): number {
  let count = 0;
  for (let offset = 0; offset < text.length; offset += unitsAt(text, offset)) payRound(meter, ++count);
  return count;
}

function unitsAt(text: string, offset: number): number {
  return (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
}

function unitsBefore(text: string, offset: number): number {
  return offset >= 2 && unitsAt(text, offset - 2) === 2 ? 2 : 1;
}
