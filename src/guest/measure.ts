import { textBytes, VALUE_BYTES } from '../wire/costs.ts';
import { excess } from './describe.ts';
import { contentBytes, entryBytes, listBytes } from './memory.ts';
import { type Meter, payLookup, SHORT_KEY } from './meter.ts';
import { type Container, Dict, Fault, isContainer, List, type Value } from './values.ts';
import { WORK } from './work.ts';

/**
 * How large and how deep each value is, for `valueBytes` and `valueDepth`. Every list and map carries both, and every write updates them,
 * so that too large a value is refused before it exists and without a walk through it. A part that occurs twice counts twice, as it does
 * when the value is copied, compared or printed.
 */

/** Bytes of a value and all that is in it; 0 for nil, booleans and numbers. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return textBytes(value.length);
  if (typeof value !== 'object' || value === null) return 0;
  if (isContainer(value)) return value.bytes;
  return VALUE_BYTES.other.amount + (value instanceof Fault ? value.fields.bytes : contentBytes(value));
}

/** Levels of lists and maps, the value itself included. May be too high, see {@link settle}. */
export function depthOf(value: Value): number {
  if (isContainer(value)) return value.depth;
  return value instanceof Fault ? value.fields.depth : 0;
}

/** A list of the interpreter itself, with its size and depth. No limit is checked. `held` are the bytes of items of which none is a container. */
export function measuredList(items: Value[], held?: number): List {
  const list = new List(items);
  list.bytes = listBytes(items.length);
  if (held !== undefined) list.bytes += held;
  else for (const item of items) measured(list, item);
  return list;
}

function measured(list: List, item: Value): void {
  if (typeof item === 'string') list.bytes += textBytes(item.length);
  else if (typeof item === 'object' && item !== null) {
    list.bytes += sizeOf(item);
    list.depth = Math.max(list.depth, depthOf(item) + 1);
  }
}

/** As {@link measuredList}, for a map. */
export function measuredMap(entries: readonly (readonly [string, Value])[]): Dict {
  const map = new Dict(new Map(entries));
  let depth = 0;
  for (const [key, value] of map.entries) {
    map.bytes += entryBytes(key) + sizeOf(value);
    depth = Math.max(depth, depthOf(value));
  }
  map.depth = depth + 1;
  return map;
}

/** A list of a script, as {@link measuredList}. The caller has paid for its memory; its limits are checked here. */
export function newList(meter: Meter, items: Value[], held?: number): List {
  meter.checkItems(items.length);
  const list = measuredList(items, held);
  checkValue(meter, list);
  return list;
}

/** Updates the size and depth of a container after one of its parts was replaced. The bytes of the place itself count apart. */
export function replaced(container: Container, before: Value, after: Value): void {
  if (before !== null) container.bytes -= sizeOf(before);
  if (typeof after !== 'object') {
    if (typeof after === 'string') container.bytes += textBytes(after.length);
    return;
  }
  if (after === null) return;
  container.bytes += sizeOf(after);
  const below = depthOf(after);
  if (below >= container.depth) container.depth = below + 1;
}

/**
 * Updates the containers around a changed one, from the innermost to the outermost, and checks the limits of the outermost, which is larger
 * and deeper than all that is in it. Depths only grow here, even if a deep value was overwritten: {@link checkValue} works the exact
 * depth out when it matters.
 */
export function settle(meter: Meter, around: readonly Container[], changed: Container, added: number): void {
  let inner = changed;
  for (let index = around.length - 1; index >= 0; index--) {
    const outer = around[index];
    if (outer === undefined) break;
    outer.bytes += added;
    if (inner.depth >= outer.depth) outer.depth = inner.depth + 1;
    inner = outer;
  }
  checkValue(meter, inner);
}

/** Ends the run when a value is larger or deeper than a limit allows. */
export function checkValue(meter: Meter, value: Container): void {
  meter.checkSize(value.bytes);
  const { valueDepth } = meter.limits;
  if (value.depth <= valueDepth) return;
  const depth = exactDepth(meter, value);
  if (depth > valueDepth) meter.breach('valueDepth', depth, excess('a value nests', depth, 'levels deep', valueDepth));
}

/** Computes the depths of a value and of all its parts anew. It uses no recursion. */
function exactDepth(meter: Meter, value: Container): number {
  const census = meter.nextCensus();
  const done = meter.nextCensus();
  const open: Container[] = [value];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.census === done) open.pop();
    else if (top.census === census) {
      open.pop();
      top.census = done;
      let below = 0;
      for (const part of partsOf(top)) below = Math.max(below, depthOf(part));
      top.depth = below + 1;
    } else {
      top.census = census;
      meter.pay(WORK.depth, lengthOf(top));
      for (const part of partsOf(top)) {
        const inner = part instanceof Fault ? part.fields : part;
        // A part that occurs twice may be open twice, but is computed once.
        if (isContainer(inner) && inner.census < census) open.push(inner);
      }
    }
  }
  return value.depth;
}

/** The entry of a key; undefined when there is none. */
export function entry(meter: Meter, map: Dict, key: string): Value | undefined {
  // Checked here too: most keys are short, and a call would take as long as the lookup.
  if (key.length > SHORT_KEY) payLookup(meter, key, map.bytes / VALUE_BYTES.unit.amount);
  return map.entries.get(key);
}

function partsOf(container: Container): Iterable<Value> {
  return container instanceof List ? container.items : container.entries.values();
}

function lengthOf(container: Container): number {
  return container instanceof List ? container.items.length : container.entries.size;
}
