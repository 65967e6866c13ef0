import { VALUE_BYTES } from '../../wire/costs.ts';
import {
  counted,
  Dict,
  describe,
  entry,
  identical,
  List,
  newList,
  payRound,
  putEntry,
  share,
  shortQuote,
  toText,
  WORK,
} from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import type { Group } from './define.ts';
import { ListBuilder, listOf, newItems, newMap, TextMap } from './results.ts';
import { order, sorted } from './sort.ts';

/** Lists. No tool changes its argument: every tool returns a new list. */
export const LIST: Group<'list'> = {
  'tool.list.Length': (_meter, list) => list.items.length,
  'tool.list.IsEmpty': (_meter, list) => list.items.length === 0,
  'tool.list.Append': append,
  'tool.list.AppendInPlace': append,
  'tool.list.Prepend': (meter, list, element) => inserted(meter, list, 0, element),
  'tool.list.Insert': (meter, list, index, element) => {
    if (index < 0 || index > list.items.length) outOfBounds(meter, index, list);
    return inserted(meter, list, index, element);
  },
  'tool.list.RemoveAt': (meter, list, index) => {
    if (index < 0 || index >= list.items.length) outOfBounds(meter, index, list);
    meter.pay(WORK.copy, list.items.length);
    return listOf(meter, list.items.toSpliced(index, 1));
  },
  'tool.list.Get': (_meter, list, index, fallback) =>
    share(index >= 0 && index < list.items.length ? (list.items[index] ?? null) : fallback),
  'tool.list.Slice': (meter, list, start, end) => slice(meter, list, start, end),
  'tool.list.Contains': (meter, list, element) => position(meter, list, element) >= 0,
  'tool.list.IndexOf': position,
  'tool.list.Reverse': (meter, list) => {
    meter.pay(WORK.copy, list.items.length);
    return listOf(meter, list.items.toReversed());
  },
  'tool.list.Sort': sorted,
  'tool.list.SortBy': (meter, list, key, descending) => {
    const keys = fields(meter, list, key);
    const ordered = order(meter, keys, `by ${shortQuote(key)}`);
    if (!descending) return picked(meter, list, ordered);
    // The sort is stable in this direction too.
    return picked(
      meter,
      list,
      runsReversed(ordered, (a, b) => sameKey(meter, keys[a], keys[b])),
    );
  },
  'tool.list.GroupBy': (meter, list, key) => {
    const groups = new TextMap<ListBuilder>(meter);
    for (const item of list.items) {
      const name = toText(meter, field(meter, item, key));
      meter.pay(WORK.visit);
      let members = groups.get(name);
      if (members === undefined) {
        members = new ListBuilder(meter);
        groups.add(name, members);
      }
      members.value(share(item));
    }
    const made = newMap(meter);
    for (const [name, members] of groups.entries()) putEntry(meter, made, name, members.finish());
    return made;
  },
  'tool.list.Head': (_meter, list) => share(list.items[0] ?? null),
  'tool.list.Last': (_meter, list) => share(list.items.at(-1) ?? null),
  'tool.list.Rest': (meter, list) => slice(meter, list, 1, list.items.length),
  'tool.list.Tail': (meter, list, count) => slice(meter, list, list.items.length - Math.max(0, count), list.items.length),
  'tool.list.Unique': unique,
  'tool.list.Flatten': (meter, list, depth) => {
    const flat = new ListBuilder(meter);
    const add = (from: List, left: number): void => {
      for (const item of from.items) {
        if (item instanceof List && left > 0) {
          meter.pay(WORK.visit);
          add(item, left - 1);
        } else flat.value(share(item));
      }
    };
    add(list, Math.min(depth, MAX_DEPTH));
    return flat.finish();
  },
  'tool.list.Chunk': (meter, list, size) => {
    if (size < 1) meter.fail('InvalidValue', `size must be 1 or more, got ${size}`);
    const chunks = newItems(meter, Math.ceil(list.items.length / size));
    for (let index = 0; index < chunks.length; index++) chunks[index] = slice(meter, list, index * size, (index + 1) * size);
    return newList(meter, chunks);
  },
  'tool.list.Zip': (meter, left, right) => {
    const zipped = newItems(meter, Math.min(left.items.length, right.items.length));
    for (let index = 0; index < zipped.length; index++)
      zipped[index] = listOf(meter, [left.items[index] ?? null, right.items[index] ?? null]);
    return newList(meter, zipped);
  },
  'tool.list.Range': (meter, start, end, step) => {
    if (step === 0) meter.fail('InvalidValue', 'step must not be 0');
    const range = newItems(meter, Math.max(0, Math.ceil((end - start) / step)));
    for (let index = 0; index < range.length; index++) range[index] = start + index * step;
    return newList(meter, range);
  },
};

const ITEM = VALUE_BYTES.item.amount;

/** Lists below this depth are not flattened. */
const MAX_DEPTH = 500;

function append(meter: Meter, list: List, element: Value): List {
  return inserted(meter, list, list.items.length, element);
}

function inserted(meter: Meter, list: List, index: number, element: Value): List {
  const { length } = list.items;
  const made = newItems(meter, length + 1);
  for (let at = 0; at < length; at++) {
    payRound(meter, at);
    made[at < index ? at : at + 1] = share(list.items[at] ?? null);
  }
  made[index] = share(element);
  return newList(meter, made);
}

/** Limits both indexes to the list. */
function slice(meter: Meter, list: List, start: number, end: number): List {
  const { length } = list.items;
  const from = Math.min(length, Math.max(0, start));
  const to = Math.min(length, Math.max(from, end));
  meter.pay(WORK.copy, to - from);
  return listOf(meter, list.items.slice(from, to));
}

function outOfBounds(meter: Meter, index: number, list: List): never {
  return meter.fail(
    'Bounds',
    `list index ${index} is out of bounds: the list has ${counted(list.items.length, 'item', 'items')}`,
  );
}

function position(meter: Meter, list: List, element: Value): number {
  meter.pay(WORK.visit, list.items.length);
  return list.items.findIndex((item, index) => {
    payRound(meter, index);
    return identical(meter, item, element);
  });
}

function picked(meter: Meter, list: List, positions: readonly number[]): List {
  const made = newItems(meter, positions.length);
  for (const [index, at] of positions.entries()) {
    meter.pay(WORK.item);
    made[index] = share(list.items[at] ?? null);
  }
  return newList(meter, made);
}

function fields(meter: Meter, list: List, key: string): Value[] {
  meter.pay(WORK.copy, list.items.length);
  meter.allocate(ITEM * list.items.length);
  return list.items.map((item) => field(meter, item, key));
}

/** The entry of an item, or nil. Fails with code 7 if the item is not a map. */
function field(meter: Meter, item: Value, key: string): Value {
  if (item instanceof Dict) return entry(meter, item, key) ?? null;
  return meter.fail('Type', `every item must be a map with ${shortQuote(key)}, got ${describe(item)}`);
}

/** Compares two sort keys and pays for it. */
function sameKey(meter: Meter, a: Value | undefined, b: Value | undefined): boolean {
  meter.pay(WORK.item);
  if (typeof a === 'string') meter.pay(WORK.sameText, a.length);
  return a === b;
}

/** Reverses positions, but keeps the order within runs of equal ones. */
function runsReversed(positions: readonly number[], same: (a: number, b: number) => boolean): number[] {
  const reversed: number[] = [];
  for (let end = positions.length; end > 0; ) {
    let start = end - 1;
    while (start > 0 && same(positions[start - 1] ?? 0, positions[end - 1] ?? 0)) start--;
    for (let at = start; at < end; at++) reversed.push(positions[at] ?? 0);
    end = start;
  }
  return reversed;
}

/** Finds duplicates of simple values by a set, and compares lists, maps and other objects with each other. */
function unique(meter: Meter, list: List): List {
  const made = new ListBuilder(meter);
  meter.pay(WORK.unique, list.items.length);
  const simple = new Set<Value>();
  const texts = new TextMap<true>(meter);
  const others: Value[] = [];
  for (const item of list.items) {
    meter.pay(WORK.item);
    if (typeof item === 'string') {
      if (texts.get(item) !== undefined) continue;
      texts.add(item, true);
    } else if (typeof item !== 'object' || item === null) {
      if (simple.has(item)) continue;
      simple.add(item);
    } else {
      meter.pay(WORK.visit, others.length);
      if (others.some((other) => identical(meter, other, item))) continue;
      others.push(item);
    }
    made.value(share(item));
  }
  meter.release(WORK.unique.bytes * list.items.length);
  return made.finish();
}
