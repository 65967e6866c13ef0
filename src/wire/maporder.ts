import { isPlaced, moves } from './mapkeys.ts';
import type { TaggedJson } from './protocol.ts';

/**
 * The order of the keys of maps on the host. A script's map is a plain object there. Where JavaScript would move its whole-number
 * keys, this map remembers their order for as long as the object lives.
 */
const orders = new WeakMap<object, readonly string[]>();

type MapOf<T> = Readonly<Record<string, T>>;
type Entries<T> = readonly (readonly [string, T])[];

/**
 * The entries of a script's map in the order in which its keys were set; `Object.entries` puts whole numbers first. Use it with the
 * maps in arguments of tools, in `values` and in `result` themselves: a copy has the order of JavaScript. Keys that were added on
 * the host come last.
 */
export function mapEntries<T>(map: MapOf<T>): Entries<T> {
  const known = orders.get(map);
  if (known === undefined) return Object.entries(map);
  // To look keys up takes a fraction of the time of sorting entries.
  if (Object.keys(map).length === known.length && known.every((key) => Object.hasOwn(map, key)))
    return known.map((key) => [key, map[key] as T] as const);
  const entries = Object.entries(map);
  const places = new Map(known.map((key, place) => [key, place]));
  const place = (key: string): number => places.get(key) ?? known.length;
  return entries.sort(([a], [b]) => place(a) - place(b));
}

/** A map without a prototype that remembers the order of its entries. Each key occurs once. */
export function mapFrom<T>(entries: Entries<T>): Record<string, T> {
  const map: Record<string, T> = Object.create(null);
  for (const [key, value] of entries) map[key] = value;
  return remembering(map, entries);
}

function remembering<T extends object>(map: T, entries: Entries<unknown>): T {
  const keys = entries.map(([key]) => key);
  if (moves(keys)) orders.set(map, keys);
  return map;
}

/**
 * Tagged JSON in the form of a result: whole-number keys have their own names, and their order is remembered. Returns the same
 * object when no key changes. Of two equal keys the last counts, as in all JSON.
 */
export function plainMaps(json: TaggedJson): TaggedJson {
  return hasPlaces(json) ? plain(json) : json;
}

function hasPlaces(json: TaggedJson): boolean {
  if (json === null || typeof json !== 'object') return false;
  if (isList(json)) return json.some(hasPlaces);
  for (const name of Object.keys(json)) if (isPlaced(name) || hasPlaces(json[name] ?? null)) return true;
  return false;
}

function plain(json: TaggedJson): TaggedJson {
  if (json === null || typeof json !== 'object') return json;
  if (isList(json)) return json.map(plain);
  return plainMap(Object.entries(json).map(([name, item]) => [name, plain(item)]));
}

/** The map of entries with the names of tagged JSON, as {@link plainMaps} makes it. */
export function plainMap(named: Entries<TaggedJson>): TaggedJson {
  const entries = new Map(named.map(([name, item]) => [isPlaced(name) ? name.slice(1) : name, item]));
  return remembering(Object.fromEntries(entries), [...entries]);
}

/** As `JSON.stringify`, but maps from {@link plainMaps} have their keys in the order of the script. */
export function jsonText(json: unknown): string {
  return remembers(json) ? written(json) : JSON.stringify(json);
}

function remembers(json: unknown): boolean {
  if (!isObject(json)) return false;
  return orders.has(json) || Object.values(json).some(remembers);
}

function written(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(written).join(',')}]`;
  if (!isObject(json)) return JSON.stringify(json) ?? 'null';
  return `{${mapEntries(json)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${JSON.stringify(name)}:${written(item)}`)
    .join(',')}}`;
}

function isObject(json: unknown): json is MapOf<unknown> {
  return typeof json === 'object' && json !== null;
}

/** Narrows a value, or tagged JSON, to a list. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}
