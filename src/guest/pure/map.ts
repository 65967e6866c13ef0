import { type Dict, describe, entry, entryBytes, List, newList, putEntry, share, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import type { Group } from './define.ts';
import { listOf, newItems, newMap, TextMap } from './results.ts';

/** Maps. No tool changes its argument: every tool returns a new map, in insertion order. */
export const MAP: Group<'map'> = {
  'tool.map.Keys': (meter, map) => {
    for (const key of map.entries.keys()) {
      meter.pay(WORK.item);
      meter.allocate(entryBytes(key));
    }
    return listOf(meter, [...map.entries.keys()]);
  },
  'tool.map.Values': (meter, map) => listOf(meter, [...map.entries.values()]),
  'tool.map.Entries': (meter, map) => {
    const made = newItems(meter, map.entries.size);
    let index = 0;
    for (const each of map.entries) made[index++] = listOf(meter, each);
    return newList(meter, made);
  },
  'tool.map.FromEntries': (meter, entries) => {
    const made = newMap(meter);
    for (const [index, entry] of entries.items.entries()) {
      const [key, value = null] = entry instanceof List && entry.items.length <= 2 ? entry.items : [];
      if (typeof key !== 'string')
        return meter.fail('Type', `entry ${index} must be a list of a text and a value, got ${describe(entry)}`);
      put(meter, made, key, value);
    }
    return made;
  },
  'tool.map.Has': (meter, map, key) => entry(meter, map, key) !== undefined,
  'tool.map.Get': (meter, map, key, fallback) => {
    const found = entry(meter, map, key);
    return share(found === undefined ? fallback : found);
  },
  'tool.map.Set': (meter, map, key, value) => {
    const made = merged(meter, [map]);
    put(meter, made, key, value);
    return made;
  },
  'tool.map.Remove': (meter, map, key) => chosen(meter, map, (each) => each !== key),
  'tool.map.Merge': (meter, map, other) => merged(meter, [map, other]),
  'tool.map.Pick': (meter, map, keys) => {
    const made = newMap(meter);
    for (const key of keys.items) {
      meter.pay(WORK.copy, 2);
      const value = typeof key === 'string' ? entry(meter, map, key) : undefined;
      if (typeof key === 'string' && value !== undefined) put(meter, made, key, value);
    }
    return made;
  },
  'tool.map.Omit': (meter, map, keys) => {
    meter.pay(WORK.copy, keys.items.length);
    const omitted = new TextMap<true>(meter);
    for (const key of keys.items) if (typeof key === 'string' && omitted.get(key) === undefined) omitted.add(key, true);
    return chosen(meter, map, (key) => omitted.get(key) === undefined);
  },
};

function put(meter: Meter, map: Dict, key: string, value: Value): void {
  meter.pay(WORK.copy, 2);
  putEntry(meter, map, key, share(value));
}

function merged(meter: Meter, maps: readonly Dict[]): Dict {
  const made = newMap(meter);
  for (const map of maps) for (const [key, value] of map.entries) put(meter, made, key, value);
  return made;
}

function chosen(meter: Meter, map: Dict, keep: (key: string) => boolean): Dict {
  const made = newMap(meter);
  for (const [key, value] of map.entries) {
    meter.pay(WORK.copy, 2);
    if (keep(key)) put(meter, made, key, value);
  }
  return made;
}
