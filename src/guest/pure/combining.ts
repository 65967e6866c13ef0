import { WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { previousOffset, width } from './characters.ts';

/** Maximum number of combining marks in a row. No script has as many, and V8 sorts them in quadratic time. */
const MAX_MARKS = 64;

const MARK = /\p{M}/u;
/** The first combining mark of Unicode. */
const FIRST_MARK = 0x300;

/** Fails with code 41 for a run of marks that would keep V8 busy for seconds. One sample per `MAX_MARKS` units finds such a run. */
export function checkMarks(meter: Meter, text: string): void {
  for (let at = 0; at < text.length; at += MAX_MARKS) {
    const sample = previousOffset(text, at + 1);
    const end = afterMarks(text, sample);
    if (end === sample) continue;
    meter.pay(WORK.visit);
    let marks = 0;
    for (let start = end; start > 0 && isMark(text, previousOffset(text, start)); start = previousOffset(text, start))
      if (++marks > MAX_MARKS)
        meter.fail('InvalidValue', `the text has more than ${MAX_MARKS} combining marks in a row`, 'no script has as many');
    at = end;
  }
}

/** The end of the marks that begin at an offset; it stops after one more than `MAX_MARKS`. */
function afterMarks(text: string, offset: number): number {
  let at = offset;
  for (let marks = 0; marks <= MAX_MARKS && at < text.length && isMark(text, at); marks++) at += width(text, at);
  return at;
}

function isMark(text: string, at: number): boolean {
  const code = text.codePointAt(at) ?? 0;
  return code >= FIRST_MARK && MARK.test(String.fromCodePoint(code));
}
