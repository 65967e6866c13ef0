/** `eval`: fills the placeholders of a text. */
import type { Machine } from './machine.ts';
import type { Place } from './meter.ts';
import { Dict, List, type Value } from './values.ts';

const PLACEHOLDER = /\{\{[ \t]*([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*|\[\d+\])*)[ \t]*\}\}/g;
const STEP = /\.([A-Za-z_]\w*)|\[(\d+)\]/g;

/** The text with every `{{name.key[0]}}` replaced. */
export function placeholders(machine: Machine, text: string, lookup: (name: string) => Value, at: Place): string {
  machine.meter.spendFor(text.length, 'scan', at);
  const filled = text.replace(PLACEHOLDER, (whole, name: string, steps: string) =>
    RESERVED.has(name) ? whole : machine.text(reached(machine, lookup(name), steps, at), at),
  );
  if (filled !== text) machine.meter.spendFor(filled.length, 'concat', at);
  return filled;
}

function reached(machine: Machine, from: Value, steps: string, at: Place): Value {
  let value = from;
  for (const [, name, index] of steps.matchAll(STEP)) {
    machine.meter.spend(1, at);
    if (name !== undefined) value = value instanceof Dict ? (value.entries.get(name) ?? null) : null;
    else if (value instanceof Dict) value = value.entries.get(index ?? '') ?? null;
    else if (value instanceof List) value = value.items[Number(index)] ?? null;
    else value = typeof value === 'string' ? (Array.from(value)[Number(index)] ?? null) : null;
  }
  return value;
}

/** The reserved words of the language. */
const RESERVED = new Set(
  `acos and as asin ask atan break call clear clear_error command continue cos do each else emit endcommand endfor endfunc endif endon
  endwhile error eval event fail false for func fuzzy if in into last len ln log means must mustbe named needs nil no not on optional or
  promptuser return returns set sin some tan timedate tool true typeof while whisper with`.split(/\s+/),
);
