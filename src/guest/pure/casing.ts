import { TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';

/**
 * Letter case, character by character as the reference has it: no character becomes several (`ß` has no capital here), and none
 * depends on its neighbours. The tables are V8's: they grow with Unicode, so a letter that is newer than one Node line may
 * have a counterpart on the next.
 */

const ASCII = /^[\0-\x7f]*$/;

/** Upper case. */
export function upper(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toUpperCase(), upperOf);
}

/** Lower case. */
export function lower(meter: Meter, text: string): string {
  return mapped(meter, text, (all) => all.toLowerCase(), lowerOf);
}

/** A text that two texts share exactly when they differ in letter case only. */
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

/** The Turkish capital with its dot is the only letter whose small form V8 writes as two characters. */
function lowerOf(character: string): string {
  return character === '\u0130' ? 'i' : single(character, character.toLowerCase());
}

function single(character: string, changed: string): string {
  return changed.length === ((changed.codePointAt(0) ?? 0) > 0xffff ? 2 : 1) ? changed : character;
}
