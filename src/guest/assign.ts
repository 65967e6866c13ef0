import { MAX_PADDING, VALUE_BYTES } from '../wire/costs.ts';
import { grouped } from '../wire/text/grouped.ts';
import { toInteger } from './convert.ts';
import { counted, describe } from './describe.ts';
import type { Frame } from './frame.ts';
import { checkValue, entry, replaced, settle } from './measure.ts';
import { entryBytes, listBytes } from './memory.ts';
import { type Meter, payLookup, payRound } from './meter.ts';
import { toText } from './text.ts';
import { type Container, Dict, isContainer, List, share, type Value } from './values.ts';
import { WORK } from './work.ts';

/** One evaluated step of a target, `.name` or `[key]`, with its place. */
export interface TargetStep {
  readonly key: Value;
  /** `.name` always means a map, `[key]` may mean a list. */
  readonly field: boolean;
  readonly at: number;
}

/**
 * Writes an element of a variable's value and returns the variable's new value: the same container, changed in place, or a copy if
 * anything else holds the container. `steps` is not empty; `at` is the place of the variable.
 */
export function assignElement(
  meter: Meter,
  frame: Frame,
  base: Value,
  steps: readonly TargetStep[],
  value: Value,
  at: number,
): Value {
  if (base === null) {
    const made = branch(meter, steps, 0, value);
    if (isContainer(made)) checkValue(meter, made);
    return made;
  }
  if (!isContainer(base)) {
    meter.at = steps[0]?.at ?? at;
    return meter.fail(
      'Type',
      `cannot write an element of ${describe(base)}`,
      'only lists and maps have elements that can be set; set the variable to [] or {} first',
    );
  }
  meter.at = at;
  const root = owned(meter, frame, base);
  let container: Container = root;
  const around: Container[] = [];
  for (let depth = 0; ; depth++) {
    const step = stepAt(steps, depth);
    meter.at = step.at;
    const last = depth === steps.length - 1;
    if (container instanceof List) {
      const index = writableIndex(meter, container, step);
      const child: Value | undefined = container.items[index];
      if (last || !isContainer(child)) {
        const { bytes } = container;
        putItem(meter, container, index, last ? value : branch(meter, steps, depth + 1, value));
        settle(meter, around, container, container.bytes - bytes);
        return root;
      }
      const inner: Container = owned(meter, frame, child);
      container.items[index] = inner;
      around.push(container);
      container = inner;
    } else {
      const key = toText(meter, step.key);
      const child: Value | undefined = entry(meter, container, key);
      if (last || !isContainer(child)) {
        const { bytes } = container;
        putEntry(meter, container, key, last ? value : branch(meter, steps, depth + 1, value));
        settle(meter, around, container, container.bytes - bytes);
        return root;
      }
      const inner: Container = owned(meter, frame, child);
      container.entries.set(key, inner);
      around.push(container);
      container = inner;
    }
  }
}

function stepAt(steps: readonly TargetStep[], depth: number): TargetStep {
  const step = steps[depth];
  if (step === undefined) throw new RangeError('a target ran out of steps');
  return step;
}

/** Whether nothing holds a container but the variable or container through which it was reached. */
export function isOwned(frame: Frame, container: Container): boolean {
  return !container.shared && container !== frame.last && container !== frame.out;
}

/**
 * The container itself if nothing else holds it. Otherwise a copy, whose items are shared from now on. `last` and the value that a
 * procedure would end with also hold containers; they set no flag, because {@link isOwned} compares them.
 */
function owned(meter: Meter, frame: Frame, container: Container): Container {
  if (isOwned(frame, container)) return container;
  if (container instanceof List) {
    const count = container.items.length;
    meter.pay(WORK.copy, count);
    meter.allocate(listBytes(count));
    for (let index = 0; index < count; index++) {
      payRound(meter, index);
      share(container.items[index] ?? null);
    }
    return asLarge(container, new List(container.items.slice()));
  }
  meter.pay(WORK.copy, container.entries.size);
  meter.allocate(VALUE_BYTES.map.amount);
  const copy = new Dict(new Map());
  for (const [key, item] of container.entries) {
    meter.allocate(entryBytes(key));
    payLookup(meter, key, container.bytes / VALUE_BYTES.unit.amount);
    payRound(meter, copy.entries.size);
    copy.entries.set(key, share(item));
  }
  return asLarge(container, copy);
}

/** Gives a copy the size and depth of its original. */
function asLarge<Copy extends Container>({ bytes, depth }: Container, copy: Copy): Copy {
  copy.bytes = bytes;
  copy.depth = depth;
  return copy;
}

/** Makes containers for the steps from `depth` on, and puts the value at their end. */
function branch(meter: Meter, steps: readonly TargetStep[], depth: number, value: Value): Value {
  const step = steps[depth];
  if (step === undefined) return value;
  meter.at = step.at;
  if (!step.field && toInteger(meter, step.key) !== undefined) {
    meter.allocate(listBytes(0));
    const list = new List([]);
    const index = writableIndex(meter, list, step);
    putItem(meter, list, index, branch(meter, steps, depth + 1, value));
    return list;
  }
  meter.allocate(VALUE_BYTES.map.amount);
  const map = new Dict(new Map());
  putEntry(meter, map, toText(meter, step.key), branch(meter, steps, depth + 1, value));
  return map;
}

/** The index that a step means. It does not change the list, so that a later failure leaves the list as it was. */
function writableIndex(meter: Meter, list: List, step: TargetStep): number {
  const length = list.items.length;
  const index = step.field ? undefined : toInteger(meter, step.key);
  if (index === undefined)
    return meter.fail(
      'Type',
      `a list index must be an integer, got ${describe(step.key)}`,
      'only maps have named elements; this is a list',
    );
  if (index < 0) return meter.fail('Bounds', `a list index cannot be negative, got ${index}`, 'indices count from 0');
  if (index < length) return index;
  if (index - length > MAX_PADDING)
    return meter.fail(
      'Bounds',
      `list index ${index} is more than ${grouped(MAX_PADDING)} past the end of a list of ${counted(length, 'item', 'items')}`,
      'use a map for keys that are far apart',
    );
  return index;
}

/** Sets an item and pays before the list grows. Missing items before the index become nil. */
function putItem(meter: Meter, list: List, index: number, value: Value): void {
  const added = index + 1 - list.items.length;
  if (added > 0) {
    meter.allocate(VALUE_BYTES.item.amount * added);
    meter.checkItems(index + 1);
    list.bytes += VALUE_BYTES.item.amount * added;
    if (added > 1) meter.pay(WORK.copy, added);
    for (let missing = added; missing > 1; missing--) append(list, null);
    replaced(list, null, value);
    append(list, value);
  } else {
    replaced(list, list.items[index] ?? null, value);
    list.items[index] = value;
  }
}

/** A list of fewer items is copied when it grows: V8's `push` would reserve room for sixteen more at once. */
const SMALL_LIST = 8;

export function append(list: List, value: Value): void {
  if (list.items.length < SMALL_LIST) list.items = list.items.concat([value]);
  else list.items.push(value);
}

/** Sets an entry and pays before the map grows. The caller checks the size of the whole value once it is complete. */
export function putEntry(meter: Meter, map: Dict, key: string, value: Value): void {
  const before = entry(meter, map, key);
  if (before === undefined) {
    const bytes = entryBytes(key);
    meter.allocate(bytes);
    meter.checkEntries(map.entries.size + 1);
    meter.checkText(key.length);
    map.bytes += bytes;
  }
  replaced(map, before ?? null, value);
  map.entries.set(key, value);
}
