import { WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { previousOffset, width } from './characters.ts';

/** Most combining marks in a row that are put in order. No writing has as many; to sort them takes the square of their number. */
const MAX_MARKS = 64;

const MARK = /\p{M}/u;
/** There is none below. */
const FIRST_MARK = 0x300;

/** Refuses what would keep V8 busy for seconds (code 41). To find a run that is too long, one unit in so many is looked at. */
export function checkMarks(meter: Meter, text: string): void {
  for (let at = 0; at < text.length; at += MAX_MARKS) {
    const sample = previousOffset(text, at + 1);
    const end = afterMarks(text, sample);
    if (end === sample) continue;
    meter.pay(WORK.visit);
    let marks = 0;
    for (let start = end; start > 0 && isMark(text, previousOffset(text, start)); start = previousOffset(text, start))
      if (++marks > MAX_MARKS)
        meter.fail('InvalidValue', `the text has more than ${MAX_MARKS} combining marks in a row`, 'no writing has so many');
    at = end;
  }
}

/** The end of the marks that begin at an offset, or of more than are allowed. */
function afterMarks(text: string, offset: number): number {
  let at = offset;
  for (let marks = 0; marks <= MAX_MARKS && at < text.length && isMark(text, at); marks++) at += width(text, at);
  return at;
}

function isMark(text: string, at: number): boolean {
  const code = text.codePointAt(at) ?? 0;
  return code >= FIRST_MARK && MARK.test(String.fromCodePoint(code));
}
