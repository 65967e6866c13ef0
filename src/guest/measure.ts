import { textBytes, VALUE_BYTES } from '../wire/costs.ts';
import { contentBytes, entryBytes, listBytes } from './memory.ts';
import { type Meter, payLookup, SHORT_KEY } from './meter.ts';
import { type Container, Dict, Fault, isContainer, List, type Value } from './values.ts';
import { WORK } from './work.ts';

/**
 * How large and how deep each value is, for `valueBytes` and `valueDepth`. Every list and map carries both, kept up to date by
 * whoever writes to it, so that a value is refused as it comes to be and nobody has to walk through it. A part that occurs
 * twice counts twice: that is what the value is to whoever copies, compares or prints it.
 */

/** Whether a value fits into the place that holds it and has no depth: nil, a boolean, a number. */
function isScalar(value: Value): boolean {
  return typeof value === 'number' || value === null || typeof value === 'boolean';
}

/** Bytes of a value with all that is in it; what fits into the place that holds it counts nothing. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return textBytes(value.length);
  if (typeof value !== 'object' || value === null) return 0;
  if (isContainer(value)) return value.bytes;
  return VALUE_BYTES.other.amount + (value instanceof Fault ? value.fields.bytes : contentBytes(value));
}

/** Lists and maps within each other, the value itself included: at least as many as there are, see {@link settle}. */
export function depthOf(value: Value): number {
  if (isContainer(value)) return value.depth;
  return value instanceof Fault ? value.fields.depth : 0;
}

/** A list with its measures, of the interpreter's own making: no limit is asked. */
export function measuredList(items: Value[]): List {
  const list = new List(items);
  let bytes = listBytes(items.length);
  let depth = 0;
  for (const item of items) {
    bytes += sizeOf(item);
    depth = Math.max(depth, depthOf(item));
  }
  list.bytes = bytes;
  list.depth = depth + 1;
  return list;
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

/** A list that a script makes, within all limits of a list; its memory is charged. */
export function newList(meter: Meter, items: Value[]): List {
  meter.checkItems(items.length);
  const list = measuredList(items);
  checkValue(meter, list);
  return list;
}

/** The measures of a container after one of its parts was replaced; what the place itself takes is counted apart. */
export function replaced(container: Container, before: Value, after: Value): void {
  if (isScalar(before) && isScalar(after)) return;
  container.bytes += sizeOf(after) - sizeOf(before);
  const below = depthOf(after);
  if (below >= container.depth) container.depth = below + 1;
}

/**
 * Brings the containers around a changed one up to date, from the innermost to the outermost, and asks the limits for the
 * outermost, which is larger and deeper than all that is in it. Depths only ever grow here, whatever was overwritten: the
 * exact one is found out when it matters.
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
  if (depth > valueDepth)
    meter.breach('valueDepth', depth, `a value nests ${depth} levels deep, more than the ${valueDepth} allowed`);
}

/** Works the depths of a value and of all its parts out anew, charged as a recount of memory is. Needs no stack. */
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
        // What occurs twice may be open twice: it is worked out once.
        if (isContainer(inner) && inner.census < census) open.push(inner);
      }
    }
  }
  return value.depth;
}

/** The entry of a key; undefined when there is none. */
export function entry(meter: Meter, map: Dict, key: string): Value | undefined {
  // Asked here too: most keys are short, and a call takes as long as to find them.
  if (key.length > SHORT_KEY) payLookup(meter, key, map.bytes / VALUE_BYTES.unit.amount);
  return map.entries.get(key);
}

function partsOf(container: Container): Iterable<Value> {
  return container instanceof List ? container.items : container.entries.values();
}

function lengthOf(container: Container): number {
  return container instanceof List ? container.items.length : container.entries.size;
}
