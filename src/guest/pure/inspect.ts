import { addQuoted, Dict, display, List, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { characterOffset } from './characters.ts';

/** Formats a value for reading: cuts long strings and omits deep levels. */
export function inspect(meter: Meter, value: Value, maxLength: number, maxDepth: number): string {
  if (maxLength < 0) meter.fail('Bounds', `max_length (${maxLength}) cannot be negative`);
  if (maxDepth < 0) meter.fail('Bounds', `max_depth (${maxDepth}) cannot be negative`);
  const text = new TextBuilder(meter, WORK.text, 'text');
  // Values cannot nest deeper than this in any text.
  const deepest = Math.min(maxDepth, 500);
  const add = (each: Value, depth: number): void => {
    meter.pay(WORK.written);
    if (typeof each === 'string') addQuoted(text, cut(meter, each, maxLength));
    else if (!(each instanceof List || each instanceof Dict)) text.add(display(meter, each));
    else if (depth >= deepest) text.add('...');
    else if (each instanceof List) {
      text.add('[');
      for (const [index, item] of each.items.entries()) {
        if (index > 0) text.add(', ');
        add(item, depth + 1);
      }
      text.add(']');
    } else {
      text.add('{');
      let separator = '';
      for (const [key, item] of each.entries) {
        text.add(separator);
        addQuoted(text, cut(meter, key, maxLength));
        text.add(':');
        add(item, depth + 1);
        separator = ', ';
      }
      text.add('}');
    }
  };
  add(value, 0);
  return text.finish();
}

/** Cuts a text to `most` characters, the three dots included. */
function cut(meter: Meter, text: string, most: number): string {
  if (text.length <= most || meter.codePoints.count(text) <= most) return text;
  const kept = text.slice(0, characterOffset(meter, text, Math.max(0, most - 3)));
  return `${kept}...`;
}
