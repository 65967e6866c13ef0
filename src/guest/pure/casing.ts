import { TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import { textOfUnits } from './characters.ts';

/**
 * Letter case, one character at a time, as in the reference implementation: no character becomes several (`ß` stays `ß`), and
 * none depends on its neighbours. The tables are those of V8. They grow with Unicode, so a new letter may get a counterpart in
 * the next Node release.
 */

const ASCII = /^[\0-\x7f]*$/;

export function upper(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toUpperCase(), UPPER);
}

export function lower(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toLowerCase(), LOWER);
}

/** Folds letter case: two texts fold to the same text exactly if they differ in letter case only. */
export function folded(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toLowerCase(), FOLDED);
}

/** How characters change, and what is known of those of one unit: 0 for the others, else the new unit. */
interface Mapping {
  readonly of: (character: string) => string;
  units: Uint16Array | null;
}

const UPPER: Mapping = { of: upperOf, units: null };
const LOWER: Mapping = { of: lowerOf, units: null };
const FOLDED: Mapping = { of: (one) => lowerOf(upperOf(one)), units: null };

/** Units that are mapped before they are paid for and joined. */
const PIECE = 1024;

function mapped(meter: Meter, text: string, ascii: (text: string) => string, mapping: Mapping): string {
  if (ASCII.test(text)) {
    meter.allocateText(text.length);
    meter.pay(WORK.scan, text.length);
    return ascii(text);
  }
  const made = new TextBuilder(meter, WORK.text, 'text');
  mapping.units ??= new Uint16Array(0x10000);
  const known = mapping.units;
  // A pair may be one unit more.
  const units = new Uint16Array(PIECE + 1);
  for (let at = 0; at < text.length; ) {
    let count = 0;
    while (count < PIECE && at < text.length) {
      const unit = text.charCodeAt(at);
      const changed = known[unit] ?? 0;
      if (changed > 0) {
        units[count++] = changed;
        at++;
        continue;
      }
      // A surrogate may be half of a pair the next time.
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      const other = mapping.of(character);
      if (character.length === 1 && (unit < 0xd800 || unit > 0xdfff)) known[unit] = other.charCodeAt(0);
      for (let index = 0; index < character.length; index++) units[count++] = other.charCodeAt(index);
      at += character.length;
    }
    made.add(textOfUnits(units, count));
  }
  return made.finish();
}

function upperOf(character: string): string {
  return single(character, character.toUpperCase());
}

/** U+0130 is the only letter whose lower case is two characters in V8. */
function lowerOf(character: string): string {
  return character === '\u0130' ? 'i' : single(character, character.toLowerCase());
}

function single(character: string, changed: string): string {
  return changed.length === ((changed.codePointAt(0) ?? 0) > 0xffff ? 2 : 1) ? changed : character;
}
