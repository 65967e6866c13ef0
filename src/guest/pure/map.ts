import { type Dict, describe, entry, entryBytes, List, putEntry, sealed, share, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { copy, Known, listOf, newMap, room } from './charges.ts';
import type { Group } from './define.ts';

/** Maps are never changed: every tool gives a new one (P25), in insertion order (P9). */
export const MAP: Group<'map'> = {
  'tool.map.Keys': (machine, map) => {
    for (const key of map.entries.keys()) {
      machine.pay(WORK.item);
      machine.allocate(entryBytes(key));
    }
    return listOf(machine, [...map.entries.keys()]);
  },
  'tool.map.Values': (machine, map) => listOf(machine, [...map.entries.values()]),
  'tool.map.Entries': (machine, map) => {
    const made = room(machine, map.entries.size);
    let index = 0;
    for (const each of map.entries) made[index++] = listOf(machine, each);
    return sealed(machine, made);
  },
  'tool.map.FromEntries': (machine, entries) => {
    const made = newMap(machine);
    for (const [index, entry] of entries.items.entries()) {
      const [key, value = null] = entry instanceof List && entry.items.length <= 2 ? entry.items : [];
      if (typeof key !== 'string')
        return machine.fail('Type', `entry ${index} must be a list of a text and a value, got ${describe(entry)}`);
      put(machine, made, key, value);
    }
    return made;
  },
  'tool.map.Has': (machine, map, key) => entry(machine, map, key) !== undefined,
  'tool.map.Get': (machine, map, key, fallback) => {
    const found = entry(machine, map, key);
    return share(found === undefined ? fallback : found);
  },
  'tool.map.Set': (machine, map, key, value) => {
    const made = merged(machine, [map]);
    put(machine, made, key, value);
    return made;
  },
  'tool.map.Remove': (machine, map, key) => chosen(machine, map, (each) => each !== key),
  'tool.map.Merge': (machine, map, other) => merged(machine, [map, other]),
  'tool.map.Pick': (machine, map, keys) => {
    const made = newMap(machine);
    for (const key of keys.items) {
      copy(machine, 2);
      const value = typeof key === 'string' ? entry(machine, map, key) : undefined;
      if (typeof key === 'string' && value !== undefined) put(machine, made, key, value);
    }
    return made;
  },
  'tool.map.Omit': (machine, map, keys) => {
    copy(machine, keys.items.length);
    const omitted = new Known<true>(machine);
    for (const key of keys.items) if (typeof key === 'string' && omitted.get(key) === undefined) omitted.add(key, true);
    return chosen(machine, map, (key) => omitted.get(key) === undefined);
  },
};

function put(machine: Meter, map: Dict, key: string, value: Value): void {
  copy(machine, 2);
  putEntry(machine, map, key, share(value));
}

function merged(machine: Meter, maps: readonly Dict[]): Dict {
  const made = newMap(machine);
  for (const map of maps) for (const [key, value] of map.entries) put(machine, made, key, value);
  return made;
}

function chosen(machine: Meter, map: Dict, keep: (key: string) => boolean): Dict {
  const made = newMap(machine);
  for (const [key, value] of map.entries) {
    copy(machine, 2);
    if (keep(key)) put(machine, made, key, value);
  }
  return made;
}
