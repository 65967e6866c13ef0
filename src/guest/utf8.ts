import { DATA_FUEL } from '../wire/costs.ts';
import { pace } from './clockchecks.ts';
import type { Machine } from './machine.ts';

/** Bytes of a well-formed text as UTF-8; counting is charged. */
export function utf8Bytes(machine: Machine, text: string): number {
  machine.spend(Math.floor(text.length / DATA_FUEL.text.amount));
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    pace(machine, index);
    const unit = text.charCodeAt(index);
    // A surrogate is half of a character of four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
