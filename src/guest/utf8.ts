import { type Meter, payRound } from './meter.ts';
import { WORK } from './work.ts';

/** Bytes of a well-formed text as UTF-8. */
export function utf8Bytes(meter: Meter, text: string): number {
  meter.pay(WORK.text, text.length);
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    payRound(meter, index);
    const unit = text.charCodeAt(index);
    // A surrogate is half of a character of four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
