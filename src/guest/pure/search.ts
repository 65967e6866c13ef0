import { payRound, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { piece, scan } from './charges.ts';
import { Needle } from './substring.ts';

const SURROGATE = /[\ud800-\udfff]/;

/** UTF-16 units of the code point at an offset. */
export function width(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Where the code point begins that ends before an offset. */
export function before(text: string, offset: number): number {
  return offset >= 2 && width(text, offset - 2) === 2 ? offset - 2 : offset - 1;
}

/** The offset of the n-th code point after `from`, or the end of the text. */
export function characterOffset(machine: Meter, text: string, count: number, from = 0): number {
  if (count <= 0) return from;
  const most = Math.min(text.length, from + 2 * count);
  scan(machine, most - from);
  // Long texts have no surrogates as a rule, and asking takes no time beside walking.
  if (!SURROGATE.test(most - from === text.length ? text : text.slice(from, most))) return Math.min(text.length, from + count);
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) {
    payRound(machine, left);
    at += width(text, at);
  }
  return at;
}

/** Offsets of all occurrences of a text that is not empty, from left to right, none within another. */
export function* occurrences(machine: Meter, text: string, wanted: string): Generator<number, void> {
  scan(machine, text.length);
  const needle = new Needle(machine, wanted);
  for (let at = needle.first(text, 0); at >= 0; at = needle.first(text, at + wanted.length)) {
    scan(machine, wanted.length);
    machine.pay(WORK.visit);
    yield at;
  }
}

/** Replaces up to `count` occurrences, all for a count below 0. An empty text occurs before every character and at the end. */
export function replaceText(machine: Meter, text: string, old: string, replacement: string, count: number): string {
  const most = count < 0 ? Number.POSITIVE_INFINITY : count;
  const made = new TextBuilder(machine, WORK.concat, 'text');
  let done = 0;
  let start = 0;
  for (const at of old === '' ? boundaries(machine, text) : occurrences(machine, text, old)) {
    if (done === most) break;
    done++;
    if (at > start) made.add(piece(text, start, at));
    made.add(replacement);
    start = at + old.length;
  }
  if (done === 0) return text;
  if (start < text.length) made.add(piece(text, start, text.length));
  return made.finish();
}

function* boundaries(machine: Meter, text: string): Generator<number, void> {
  for (let at = 0; at < text.length; at += width(text, at)) {
    machine.pay(WORK.visit);
    yield at;
  }
  yield text.length;
}
