import { nearestName } from '../../grammar/vocabulary/spelling.ts';
import { textBytes } from '../wire/costs.ts';
import { isInt64, toInteger } from './convert.ts';
import { counted, describe, shortQuote } from './describe.ts';
import { entry } from './measure.ts';
import type { Meter } from './meter.ts';
import { quote, toText } from './text.ts';
import { Dict, Fault, List, type Value } from './values.ts';

/** `base[key]` or, with a text key, `base.key`, at `meter.at`. */
export function element(meter: Meter, base: Value, key: Value): Value {
  if (base instanceof List) return item(meter, base, key);
  if (base instanceof Dict) return entry(meter, base, toText(meter, key)) ?? null;
  if (typeof base === 'string') return character(meter, base, key);
  return meter.fail(
    'Type',
    `cannot read element ${describe(key)} of ${describe(base)}: only lists, maps and strings have elements`,
    base === null ? nilHint(meter) : elementHint(base),
  );
}

/** Remembers the map that has no key written in the program. Its value is nil. */
export function missing(meter: Meter, map: Value, key: Value): null {
  if (map instanceof Dict && typeof key === 'string') meter.missed = { map, key };
  return null;
}

const NIL = 'a variable that was never set and a missing map key are nil; test with is_nil() first';

/** Most keys that are compared with a missing one, and most that are named. */
const [MOST_COMPARED, MOST_NAMED, LONGEST] = [32, 8, 40];

/** A key that differs from the one missed last by a slip of spelling: what is probably meant. */
export function nearestKey({ missed, hasLabels }: Meter): string | undefined {
  if (missed === null || hasLabels) return undefined;
  const { map, key } = missed;
  const meant = map.entries.has(key) ? undefined : nearestName(key, keysOf(map, MOST_COMPARED));
  return meant === undefined ? undefined : `there is no key ${quote(key)}: did you mean ${quote(meant)}?`;
}

function keysOf({ entries }: Dict, most: number): readonly string[] {
  return [...entries.keys().take(most)].filter(({ length }) => length <= LONGEST);
}

/** What to do about a value that is nil. */
export function nilHint(meter: Meter): string {
  const { missed, hasLabels } = meter;
  const nearest = nearestKey(meter);
  if (nearest !== undefined || missed === null || hasLabels || missed.map.entries.has(missed.key)) return nearest ?? NIL;
  const keys = missed.map.entries.size > MOST_NAMED ? [] : keysOf(missed.map, MOST_NAMED);
  return keys.length === 0 ? NIL : `${NIL}; the map without ${shortQuote(missed.key)} has ${keys.map(quote).join(', ')}`;
}

function elementHint(base: Value): string | undefined {
  return base instanceof Fault ? 'an error value has no elements; its text is what emit shows' : undefined;
}

function item(meter: Meter, list: List, key: Value): Value {
  const index = indexOf(meter, list, key);
  const found = index < 0 ? undefined : list.items[index];
  if (found !== undefined) return found;
  return meter.fail(
    'Bounds',
    `list index ${index} is out of bounds: the list has ${counted(list.items.length, 'item', 'items')}`,
    FROM_ZERO,
  );
}

function character(meter: Meter, text: string, key: Value): Value {
  const index = indexOf(meter, text, key);
  const found = index < 0 ? undefined : meter.codePoints.at(text, index);
  if (found === undefined) {
    const length = counted(meter.codePoints.count(text), 'character', 'characters');
    return meter.fail('Bounds', `string index ${index} is out of bounds: the string has ${length}`, FROM_ZERO);
  }
  meter.allocate(textBytes(found.length));
  return found;
}

const FROM_ZERO = 'indices count from 0 and are never negative; len() gives the length';

function indexOf(meter: Meter, of: string | List, key: Value): number {
  const index = toInteger(meter, key);
  const what = typeof of === 'string' ? 'string' : 'list';
  if (index === undefined)
    return meter.fail('Type', `a ${what} index must be an integer, got ${describe(key)}`, fieldHint(what, of, key));
  return index;
}

const LENGTHS: ReadonlySet<string> = new Set(['length', 'len', 'size', 'count']);

function fieldHint(what: string, of: string | List, key: Value): string | undefined {
  if (typeof key !== 'string') return typeof key === 'number' && !isInt64(key) ? undefined : 'write a whole number';
  const isJson = typeof of === 'string' && ((of.startsWith('{') && of.endsWith('}')) || (of.startsWith('[') && of.endsWith(']')));
  if (isJson && key !== 'length') return 'tool.json.Parse(…) makes a map or list of JSON';
  return LENGTHS.has(key) ? `the length of a ${what} is len(…)` : `only maps have named elements; this is a ${what}`;
}

/** As {@link element}, but undefined where that fails, without the price of an error: for the text of `eval`. */
export function elementIfAny(meter: Meter, base: Value, key: string): Value | undefined {
  if (base instanceof Dict) return entry(meter, base, key);
  const index = /^\d+$/.test(key) ? Number(key) : undefined;
  if (index === undefined) return undefined;
  if (base instanceof List) return base.items[index];
  return typeof base === 'string' ? meter.codePoints.at(base, index) : undefined;
}
