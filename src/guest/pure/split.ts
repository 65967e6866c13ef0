import { SHORT_TEXT, textBytes } from '../../wire/costs.ts';
import { plainSlice, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { List } from '../values.ts';
import { ListBuilder } from './results.ts';
import { occurrences, SHORT } from './substring.ts';

/** The number of short pieces that may exist before they are paid for. */
const MANY = 256;

/** The pieces of a text between the occurrences of a text that is not empty. */
export function split(meter: Meter, text: string, wanted: string): List {
  const parts = new ListBuilder(meter);
  const { length } = wanted;
  let start = 0;
  if (length > SHORT) {
    const next = occurrences(meter, text, wanted);
    for (let at = next(); at >= 0; at = next()) {
      parts.add(text, start, at);
      start = at + length;
    }
  } else {
    meter.pay(WORK.scan, text.length);
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, start)) {
      const pieces: string[] = [];
      const end = gather(pieces, text, wanted, start, at);
      if (end > start) {
        if (!parts.texts(pieces, end - start - pieces.length * length))
          for (const piece of pieces) {
            meter.pay(WORK.visit);
            meter.allocate(textBytes(piece.length));
            parts.value(piece);
          }
        start = end;
      } else {
        meter.pay(WORK.visit);
        parts.add(text, start, at);
        start = at + length;
      }
    }
  }
  parts.add(text, start, text.length);
  return parts.finish();
}

/** Gathers short pieces from an offset on, the first of which ends at `first`. Returns where the piece after them begins. */
function gather(pieces: string[], text: string, wanted: string, from: number, first: number): number {
  let start = from;
  let at = first;
  while (at >= 0 && at - start < SHORT_TEXT && pieces.length < MANY) {
    pieces.push(plainSlice(text, start, at));
    start = at + wanted.length;
    at = text.indexOf(wanted, start);
  }
  return start;
}
