import { payRound, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { width } from './characters.ts';

/** V8 finds substrings up to this length in linear time, near enough. */
export const SHORT = 8;
/** The number of units that may be compared in vain per unit passed, before the search changes to the slower algorithm. */
const PATIENCE = 4;
/** The number of units that may be compared in vain at no charge, in multiples of the substring's length. */
const GRACE = 64;
const BYTES_PER_ENTRY = 4;
/** The number of units of the slower algorithm that are paid for together. */
const STRETCH = 4096;

/**
 * Searches texts for a substring in linear time. V8's own search takes quadratic time for a substring like `aaaabaaaa` in a text
 * of many `a`, but is faster otherwise. So V8 searches for the head of the substring, and if too many units are compared in vain,
 * the algorithm of Knuth, Morris and Pratt takes over.
 */
export class SubstringSearch {
  readonly #meter: Meter;
  readonly #wanted: string;
  readonly #head: string;
  /** The failure function: for each prefix, the length of its longest proper suffix that is a prefix of the substring. */
  #ends: Int32Array | null = null;
  /** False once the slower algorithm has taken over. */
  #patient = true;

  /** `wanted` must not be empty. */
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
      this.#payFailedComparison();
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
      this.#payFailedComparison();
      budget += PATIENCE * (end + 1 - next) - wanted.length;
      end = next - 1;
      this.#patient = budget >= 0;
    }
    return end < 0 ? -1 : this.#search(text, 0, end + wanted.length, true);
  }

  /** Pays for the time of a comparison that failed; it costs no fuel. */
  #payFailedComparison(): void {
    this.#meter.pay(WORK.textOrder, this.#wanted.length);
  }

  /** Finds the first or the `last` occurrence by Knuth, Morris and Pratt, and pays for every unit again. */
  #search(text: string, from: number, to: number, last: boolean): number {
    const wanted = this.#wanted;
    const ends = this.#table();
    let found = -1;
    let matched = 0;
    for (let at = from; at < to; at++) {
      if (at % STRETCH === 0) this.#meter.pay(WORK.slowScan, STRETCH);
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

  /** The table counts as memory until the next census finds it gone. */
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

/** Gives the next offset at each call; -1 after the last. */
export type Offsets = () => number;

/** The offsets of all occurrences of a text that is not empty, from left to right, without overlaps. */
export function occurrences(meter: Meter, text: string, wanted: string): Offsets {
  meter.pay(WORK.scan, text.length);
  const search = new SubstringSearch(meter, wanted);
  let from = 0;
  return () => {
    const at = search.first(text, from);
    if (at < 0) return at;
    meter.pay(WORK.scan, wanted.length);
    meter.pay(WORK.visit);
    from = at + wanted.length;
    return at;
  };
}

/** Replaces the first `count` occurrences, or all for a negative count. An empty text occurs before every character and at the end. */
export function replaceText(meter: Meter, text: string, old: string, replacement: string, count: number): string {
  const most = count < 0 ? Number.POSITIVE_INFINITY : count;
  const made = new TextBuilder(meter, WORK.concat, 'text');
  let done = 0;
  let start = 0;
  const next = old === '' ? boundaries(meter, text) : occurrences(meter, text, old);
  for (let at = next(); at >= 0 && done < most; at = next()) {
    done++;
    made.addSlice(text, start, at);
    made.add(replacement);
    start = at + old.length;
  }
  if (done === 0) return text;
  made.addSlice(text, start, text.length);
  return made.finish();
}

/** The offsets of all characters, and the end. */
function boundaries(meter: Meter, text: string): Offsets {
  let next = 0;
  return () => {
    const at = next;
    if (at > text.length) return -1;
    if (at < text.length) meter.pay(WORK.visit);
    next += at < text.length ? width(text, at) : 1;
    return at;
  };
}
