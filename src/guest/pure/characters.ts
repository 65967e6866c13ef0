import { SHORT_TEXT } from '../../wire/costs.ts';
import { payRound, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';

const SURROGATE = /[\ud800-\udfff]/;

/** The text of the first units of a list, at most some thousands. */
export function textOfUnits(units: Uint16Array, count: number): string {
  return Reflect.apply(String.fromCharCode, null, units.subarray(0, count));
}

/** The number of UTF-16 units of the code point at an offset. */
export function width(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The offset of the code point that ends at an offset. */
export function previousOffset(text: string, offset: number): number {
  return offset >= 2 && width(text, offset - 2) === 2 ? offset - 2 : offset - 1;
}

/** The offset that is `count` code points after `from`, or the end of the text. */
export function characterOffset(meter: Meter, text: string, count: number, from = 0): number {
  if (count <= 0) return from;
  const most = Math.min(text.length, from + 2 * count);
  meter.pay(WORK.scan, most - from);
  // Most texts have no surrogates, and this test is much faster than the loop.
  if (!SURROGATE.test(most - from === text.length ? text : text.slice(from, most))) return Math.min(text.length, from + count);
  // Short texts are free, as elsewhere.
  if (text.length > SHORT_TEXT) meter.pay(WORK.character, Math.min(count, most - from));
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) {
    payRound(meter, left);
    at += width(text, at);
  }
  return at;
}

export function charactersBefore(meter: Meter, text: string, offset: number): number {
  meter.pay(WORK.scan, offset);
  if (!SURROGATE.test(offset === text.length ? text : text.slice(0, offset))) return offset;
  if (text.length > SHORT_TEXT) meter.pay(WORK.character, offset);
  let count = 0;
  for (let at = 0; at < offset; at += width(text, at)) payRound(meter, ++count);
  return count;
}
