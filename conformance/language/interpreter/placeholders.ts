/** `eval`: fills the placeholders of a text. */
import type { Machine } from './machine.ts';
import { type Place, PRICE, SHORT } from './meter.ts';
import { Dict, List, type Value } from './values.ts';

const PLACEHOLDER = /\{\{\s*([A-Za-z_]\w*)((?:\s*\.\s*[A-Za-z_]\w*|\s*\[\s*\d+\s*\])*)\s*\}\}/y;
const STEP = /\.\s*([A-Za-z_]\w*)|\[\s*(\d+)\s*\]/g;

/** The text with every `{{name.key[0]}}` replaced. */
export function placeholders(machine: Machine, text: string, lookup: (name: string) => Value, at: Place): string {
  machine.meter.spendFor(text.length, 'scan', at);
  let filled = '';
  let done = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', open)) {
    machine.meter.spend(PRICE.fieldStart, at);
    PLACEHOLDER.lastIndex = open;
    const [whole = '', name = '', steps = ''] = PLACEHOLDER.exec(text) ?? [];
    if (whole === '' || RESERVED.has(name)) {
      open++;
      continue;
    }
    machine.meter.spend(PRICE.field, at);
    filled += text.slice(done, open) + machine.text(reached(machine, seen(machine, name, lookup(name)), steps, at), at);
    open += whole.length;
    done = open;
  }
  filled += text.slice(done);
  if (done === 0) return text;
  machine.meter.bound('textLength', filled.length, at);
  machine.meter.spendFor(filled.length, 'concat', at);
  return filled;
}

/** A variable, which counts as a whole. */
function seen({ origin }: Machine, name: string, value: Value): Value {
  origin.sees(origin.parts.deep(value, origin.named(name)));
  return value;
}

function reached(machine: Machine, from: Value, steps: string, at: Place): Value {
  let value = from;
  for (const [, name, index] of steps.matchAll(STEP)) {
    machine.meter.spend(1, at);
    if (name !== undefined) value = value instanceof Dict ? (value.entries.get(name) ?? null) : null;
    else if (value instanceof Dict) value = value.entries.get(index ?? '') ?? null;
    else if (value instanceof List) value = value.items[Number(index)] ?? null;
    else if (typeof value === 'string') value = characterOf(machine, value, Number(index), at);
    else value = null;
  }
  return value;
}

/** A character of a text, which is looked through when it is long. */
function characterOf(machine: Machine, text: string, index: number, at: Place): Value {
  if (text.length >= SHORT) machine.look(text, at);
  return Array.from(text)[index] ?? null;
}

/** The reserved words of the language. */
const RESERVED = new Set(
  `acos and as asin ask atan break call clear clear_error command continue cos do each else emit endcommand endfor endfunc endif endon
  endwhile error eval event fail false for func fuzzy if in into last len ln log means must mustbe named needs nil no not on optional or
  promptuser return returns set sin some tan timedate tool true typeof while whisper with`.split(/\s+/),
);
