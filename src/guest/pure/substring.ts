import { payRound, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { width } from './characters.ts';
import { plainSlice } from './results.ts';

/** V8 compares up to so many units at every offset: that is as good as looking at each once. */
const SHORT = 8;
/** Units that may be compared in vain for each that is passed, before the text is looked through the other way. */
const PATIENCE = 4;
/** As many for free, in multiples of what is wanted. */
const GRACE = 64;
const BYTES_PER_ENTRY = 4;
/** Units after which the slower way is paid for, and the clocks are looked at. */
const STRETCH = 4096;

/**
 * A text that others are searched for, in time that grows with their lengths and not with the product: V8's own search takes that
 * for a pattern like `aaaabaaaa` in a text of many `a`. Its speed is kept for all others: the beginning is looked for by V8, and
 * only where too much is compared in vain does Knuth, Morris and Pratt's way take over.
 */
export class SubstringSearch {
  readonly #meter: Meter;
  readonly #wanted: string;
  readonly #head: string;
  /** For each unit, how long an end of what stands up to it is a beginning of the whole. */
  #ends: Int32Array | null = null;
  /** Set once a text has been found to be of the bad kind. */
  #patient = true;

  /** `wanted` is not empty. */
  constructor(meter: Meter, wanted: string) {
    this.#meter = meter;
    this.#wanted = wanted;
    this.#head = wanted.slice(0, SHORT);
  }

  /** Offset of the first occurrence at `from` or after it; -1 for none. */
  first(text: string, from: number): number {
    const wanted = this.#wanted;
    if (wanted.length <= SHORT) return text.indexOf(wanted, from);
    let budget = GRACE * wanted.length;
    let at = from;
    while (this.#patient) {
      const next = text.indexOf(this.#head, at);
      if (next < 0 || text.startsWith(wanted, next)) return next;
      this.#inVain();
      budget += PATIENCE * (next + 1 - at) - wanted.length;
      at = next + 1;
      this.#patient = budget >= 0;
    }
    return this.#search(text, at, text.length, false);
  }

  /** Offset of the last occurrence; -1 for none. */
  last(text: string): number {
    const wanted = this.#wanted;
    if (wanted.length <= SHORT) return text.lastIndexOf(wanted);
    let budget = GRACE * wanted.length;
    let end = text.length - wanted.length;
    while (this.#patient && end >= 0) {
      const next = text.lastIndexOf(this.#head, end);
      if (next < 0 || text.startsWith(wanted, next)) return next;
      this.#inVain();
      budget += PATIENCE * (end + 1 - next) - wanted.length;
      end = next - 1;
      this.#patient = budget >= 0;
    }
    return end < 0 ? -1 : this.#search(text, 0, end + wanted.length, true);
  }

  /** Something much like it was compared with all of it, at no cost. */
  #inVain(): void {
    this.#meter.pay(WORK.textOrder, this.#wanted.length);
  }

  /** Looks at every unit once, and pays for that once more; for the first occurrence, or the `last` one. */
  #search(text: string, from: number, to: number, last: boolean): number {
    const wanted = this.#wanted;
    const ends = this.#table();
    let found = -1;
    let matched = 0;
    for (let at = from; at < to; at++) {
      if (at % STRETCH === 0) this.#meter.pay(WORK.scan, STRETCH);
      const unit = text.charCodeAt(at);
      while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = ends[matched - 1] ?? 0;
      if (unit === wanted.charCodeAt(matched)) matched++;
      if (matched < wanted.length) continue;
      found = at + 1 - matched;
      if (!last) return found;
      matched = ends[matched - 1] ?? 0;
    }
    return found;
  }

  /** It counts as memory until the next census finds it gone. */
  #table(): Int32Array {
    if (this.#ends !== null) return this.#ends;
    const wanted = this.#wanted;
    this.#meter.allocate(BYTES_PER_ENTRY * wanted.length);
    const ends = new Int32Array(wanted.length);
    let matched = 0;
    for (let at = 1; at < wanted.length; at++) {
      payRound(this.#meter, at);
      const unit = wanted.charCodeAt(at);
      while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = ends[matched - 1] ?? 0;
      if (unit === wanted.charCodeAt(matched)) matched++;
      ends[at] = matched;
    }
    this.#ends = ends;
    return ends;
  }
}

/** Offsets of all occurrences of a text that is not empty, from left to right, none within another. */
export function* occurrences(meter: Meter, text: string, wanted: string): Generator<number, void> {
  meter.pay(WORK.scan, text.length);
  const needle = new SubstringSearch(meter, wanted);
  for (let at = needle.first(text, 0); at >= 0; at = needle.first(text, at + wanted.length)) {
    meter.pay(WORK.scan, wanted.length);
    meter.pay(WORK.visit);
    yield at;
  }
}

/** Replaces up to `count` occurrences, all for a count below 0. An empty text occurs before every character and at the end. */
export function replaceText(meter: Meter, text: string, old: string, replacement: string, count: number): string {
  const most = count < 0 ? Number.POSITIVE_INFINITY : count;
  const made = new TextBuilder(meter, WORK.concat, 'text');
  let done = 0;
  let start = 0;
  for (const at of old === '' ? boundaries(meter, text) : occurrences(meter, text, old)) {
    if (done === most) break;
    done++;
    if (at > start) made.add(plainSlice(text, start, at));
    made.add(replacement);
    start = at + old.length;
  }
  if (done === 0) return text;
  if (start < text.length) made.add(plainSlice(text, start, text.length));
  return made.finish();
}

function* boundaries(meter: Meter, text: string): Generator<number, void> {
  for (let at = 0; at < text.length; at += width(text, at)) {
    meter.pay(WORK.visit);
    yield at;
  }
  yield text.length;
}
