import { MAX_NESTING, SHORT_TEXT } from '../wire/costs.ts';
import { toNumeric } from './convert.ts';
import { entry } from './measure.ts';
import type { Meter } from './meter.ts';
import { tooDeep } from './text.ts';
import { Bytes, Dict, Fault, Fuzzy, Handle, List, Time, type Value } from './values.ts';
import { WORK } from './work.ts';

/** `==`. At the top, a number equals a text that spells it; within lists and maps only values of one type are equal. */
export function equal(meter: Meter, left: Value, right: Value): boolean {
  if (left === null || right === null) return left === right;
  if (typeof left === 'string' && typeof right === 'string') return sameText(meter, left, right);
  if (typeof left === 'number' || typeof right === 'number') {
    const a = toNumeric(meter, left);
    return a !== undefined && a === toNumeric(meter, right);
  }
  return same(meter, left, right, 1);
}

/** Whether two values are equal as `==` compares them within lists and maps. */
export function identical(meter: Meter, left: Value, right: Value): boolean {
  return same(meter, left, right, 1);
}

/** Units that are compared free of charge. */

function sameText(meter: Meter, left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  if (left.length > SHORT_TEXT) meter.pay(WORK.compare, left.length);
  return left === right;
}

/** Compares deeply. A fuzzy value counts as its degree, and an error as the map of its fields, as a host sees them. */
function same(meter: Meter, left: Value, right: Value, depth: number): boolean {
  const a = plain(left);
  const b = plain(right);
  if (typeof a === 'string' && typeof b === 'string') return sameText(meter, a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (a instanceof List) return b instanceof List && sameItems(meter, a, b, depth);
  if (a instanceof Dict) return b instanceof Dict && sameEntries(meter, a, b, depth);
  if (a instanceof Time) return b instanceof Time && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Bytes) return b instanceof Bytes && sameText(meter, a.base64, b.base64);
  return a instanceof Handle && b instanceof Handle && a.kind === b.kind && a.id === b.id;
}

function plain(value: Value): Value {
  if (value instanceof Fuzzy) return value.degree;
  return value instanceof Fault ? value.fields : value;
}

function sameItems(meter: Meter, left: List, right: List, depth: number): boolean {
  if (depth > MAX_NESTING) tooDeep(meter, 'compared');
  if (left.items.length !== right.items.length) return false;
  meter.pay(WORK.comparedContainers, left.items.length);
  return left.items.every((item, index) => same(meter, item, right.items[index] ?? null, depth + 1));
}

function sameEntries(meter: Meter, left: Dict, right: Dict, depth: number): boolean {
  if (depth > MAX_NESTING) tooDeep(meter, 'compared');
  if (left.entries.size !== right.entries.size) return false;
  meter.pay(WORK.comparedContainers, left.entries.size);
  for (const [key, item] of left.entries) {
    const other = entry(meter, right, key);
    if (other === undefined || !same(meter, item, other, depth + 1)) return false;
  }
  return true;
}
