import { TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';

/**
 * Letter case, one character at a time, as in the reference implementation: no character becomes several (`ß` stays `ß`), and
 * none depends on its neighbours. The tables are those of V8. They grow with Unicode, so a new letter may get a counterpart in
 * the next Node release.
 */

const ASCII = /^[\0-\x7f]*$/;

/** Converts a text to upper case. */
export function upper(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toUpperCase(), upperOf);
}

/** Converts a text to lower case. */
export function lower(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toLowerCase(), lowerOf);
}

/** Folds letter case: two texts fold to the same text exactly if they differ in letter case only. */
export function folded(meter: Meter, text: string): string {
  return mapped(
    meter,
    text,
    (all) => all.toLowerCase(),
    (one) => lowerOf(upperOf(one)),
  );
}

function mapped(meter: Meter, text: string, ascii: (text: string) => string, one: (character: string) => string): string {
  if (ASCII.test(text)) {
    meter.allocateText(text.length);
    meter.pay(WORK.scan, text.length);
    return ascii(text);
  }
  const made = new TextBuilder(meter, WORK.text, 'text');
  for (const character of text) made.add(one(character));
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
