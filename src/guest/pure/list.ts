import { VALUE_BYTES } from '../../wire/costs.ts';
import {
  counted,
  Dict,
  describe,
  entry,
  identical,
  List,
  payRound,
  putEntry,
  sealed,
  share,
  shortQuote,
  toText,
  WORK,
} from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { copy, Known, listOf, newMap, Parts, room } from './charges.ts';
import type { Group } from './define.ts';
import { order } from './sort.ts';

/** Lists are never changed: every tool gives a new one (P25). */
export const LIST: Group<'list'> = {
  'tool.list.Length': (_machine, list) => list.items.length,
  'tool.list.IsEmpty': (_machine, list) => list.items.length === 0,
  'tool.list.Append': append,
  'tool.list.AppendInPlace': append,
  'tool.list.Prepend': (machine, list, element) => inserted(machine, list, 0, element),
  'tool.list.Insert': (machine, list, index, element) => {
    if (index < 0 || index > list.items.length) outOfBounds(machine, index, list);
    return inserted(machine, list, index, element);
  },
  'tool.list.RemoveAt': (machine, list, index) => {
    if (index < 0 || index >= list.items.length) outOfBounds(machine, index, list);
    copy(machine, list.items.length);
    return listOf(machine, list.items.toSpliced(index, 1));
  },
  'tool.list.Get': (_machine, list, index, fallback) =>
    share(index >= 0 && index < list.items.length ? (list.items[index] ?? null) : fallback),
  'tool.list.Slice': (machine, list, start, end) => slice(machine, list, start, end),
  'tool.list.Contains': (machine, list, element) => position(machine, list, element) >= 0,
  'tool.list.IndexOf': position,
  'tool.list.Reverse': (machine, list) => {
    copy(machine, list.items.length);
    return listOf(machine, list.items.toReversed());
  },
  'tool.list.Sort': (machine, list) => picked(machine, list, order(machine, list.items, 'the list')),
  'tool.list.SortBy': (machine, list, key, descending) => {
    const keys = fields(machine, list, key);
    const ordered = order(machine, keys, `by ${shortQuote(key)}`);
    if (!descending) return picked(machine, list, ordered);
    // Equal ones stay as they stood in this direction too.
    return picked(
      machine,
      list,
      runsReversed(ordered, (a, b) => sameKey(machine, keys[a], keys[b])),
    );
  },
  'tool.list.GroupBy': (machine, list, key) => {
    const groups = new Known<Parts>(machine);
    for (const item of list.items) {
      const name = toText(machine, field(machine, item, key));
      machine.pay(WORK.visit);
      let members = groups.get(name);
      if (members === undefined) {
        members = new Parts(machine);
        groups.add(name, members);
      }
      members.value(share(item));
    }
    const made = newMap(machine);
    for (const [name, members] of groups.entries()) putEntry(machine, made, name, members.finish());
    return made;
  },
  'tool.list.Head': (_machine, list) => share(list.items[0] ?? null),
  'tool.list.Last': (_machine, list) => share(list.items.at(-1) ?? null),
  'tool.list.Rest': (machine, list) => slice(machine, list, 1, list.items.length),
  'tool.list.Tail': (machine, list, count) => slice(machine, list, list.items.length - Math.max(0, count), list.items.length),
  'tool.list.Unique': unique,
  'tool.list.Flatten': (machine, list, depth) => {
    const flat = new Parts(machine);
    const add = (from: List, left: number): void => {
      for (const item of from.items) {
        if (item instanceof List && left > 0) {
          machine.pay(WORK.visit);
          add(item, left - 1);
        } else flat.value(share(item));
      }
    };
    add(list, Math.min(depth, MAX_DEPTH));
    return flat.finish();
  },
  'tool.list.Chunk': (machine, list, size) => {
    if (size < 1) machine.fail('InvalidValue', `size must be 1 or more, got ${size}`);
    const chunks = room(machine, Math.ceil(list.items.length / size));
    for (let index = 0; index < chunks.length; index++) chunks[index] = slice(machine, list, index * size, (index + 1) * size);
    return sealed(machine, chunks);
  },
  'tool.list.Zip': (machine, left, right) => {
    const zipped = room(machine, Math.min(left.items.length, right.items.length));
    for (let index = 0; index < zipped.length; index++)
      zipped[index] = listOf(machine, [left.items[index] ?? null, right.items[index] ?? null]);
    return sealed(machine, zipped);
  },
  'tool.list.Range': (machine, start, end, step) => {
    if (step === 0) machine.fail('InvalidValue', 'step must not be 0');
    const range = room(machine, Math.max(0, Math.ceil((end - start) / step)));
    for (let index = 0; index < range.length; index++) range[index] = start + index * step;
    return sealed(machine, range);
  },
};

const ITEM = VALUE_BYTES.item.amount;

/** Deeper lists are left as they are. */
const MAX_DEPTH = 500;

function append(machine: Meter, list: List, element: Value): List {
  return inserted(machine, list, list.items.length, element);
}

function inserted(machine: Meter, list: List, index: number, element: Value): List {
  const { length } = list.items;
  const made = room(machine, length + 1);
  for (let at = 0; at < length; at++) {
    payRound(machine, at);
    made[at < index ? at : at + 1] = share(list.items[at] ?? null);
  }
  made[index] = share(element);
  return sealed(machine, made);
}

/** Indices beyond an end mean that end. */
function slice(machine: Meter, list: List, start: number, end: number): List {
  const { length } = list.items;
  const from = Math.min(length, Math.max(0, start));
  const to = Math.min(length, Math.max(from, end));
  copy(machine, to - from);
  return listOf(machine, list.items.slice(from, to));
}

function outOfBounds(machine: Meter, index: number, list: List): never {
  return machine.fail(
    'Bounds',
    `list index ${index} is out of bounds: the list has ${counted(list.items.length, 'item', 'items')}`,
  );
}

function position(machine: Meter, list: List, element: Value): number {
  machine.pay(WORK.visit, list.items.length);
  return list.items.findIndex((item, index) => {
    payRound(machine, index);
    return identical(machine, item, element);
  });
}

function picked(machine: Meter, list: List, positions: readonly number[]): List {
  const made = room(machine, positions.length);
  for (const [index, at] of positions.entries()) {
    machine.pay(WORK.item);
    made[index] = share(list.items[at] ?? null);
  }
  return sealed(machine, made);
}

function fields(machine: Meter, list: List, key: string): Value[] {
  copy(machine, list.items.length);
  machine.allocate(ITEM * list.items.length);
  return list.items.map((item) => field(machine, item, key));
}

/** An entry of an item, nil where there is none. Code 7 for what is no map. */
function field(machine: Meter, item: Value, key: string): Value {
  if (item instanceof Dict) return entry(machine, item, key) ?? null;
  return machine.fail('Type', `every item must be a map with ${shortQuote(key)}, got ${describe(item)}`);
}

/** Whether two keys by which a list was sorted are equal: paid for where they were compared for that. */
function sameKey(machine: Meter, a: Value | undefined, b: Value | undefined): boolean {
  machine.pay(WORK.item);
  if (typeof a === 'string') machine.pay(WORK.sameText, a.length);
  return a === b;
}

/** Positions in reverse order, but runs of equal ones as they are. */
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

/** Simple values are found by a set; lists, maps and the like are compared one with another. */
function unique(machine: Meter, list: List): List {
  const made = new Parts(machine);
  machine.pay(WORK.unique, list.items.length);
  const simple = new Set<Value>();
  const texts = new Known<true>(machine);
  const others: Value[] = [];
  for (const item of list.items) {
    machine.pay(WORK.item);
    if (typeof item === 'string') {
      if (texts.get(item) !== undefined) continue;
      texts.add(item, true);
    } else if (typeof item !== 'object' || item === null) {
      if (simple.has(item)) continue;
      simple.add(item);
    } else {
      machine.pay(WORK.visit, others.length);
      if (others.some((other) => identical(machine, other, item))) continue;
      others.push(item);
    }
    made.value(share(item));
  }
  machine.release(WORK.unique.bytes * list.items.length);
  return made.finish();
}
