import { clipped } from './clip.ts';
import { isPlaced } from './mapkeys.ts';
import type { TaggedJson } from './protocol.ts';

/*
 * Helpers for values in the form of tagged JSON. Names of keys may have the `$` that keeps their place (`mapkeys.ts`); a reader sees
 * keys without it.
 */

type Entries = readonly (readonly [string, TaggedJson])[];

/** Narrows a value, or tagged JSON, to a list. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/**
 * Tagged JSON whose whole-number keys have their own names, in the order of JavaScript. Returns the same object when no key changes.
 * Of two equal keys the last counts, as in all JSON.
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
export function plainMap(named: Entries): TaggedJson {
  return Object.fromEntries(named.map(([name, item]) => [ownName(name), item]));
}

/** The entries of a map of tagged JSON in the order of the script, under names without the `$` of a place. */
export function shownEntries(map: { readonly [name: string]: TaggedJson }): Entries {
  return [...new Map(Object.entries(map).map(([name, item]) => [ownName(name), item]))];
}

function ownName(name: string): string {
  return isPlaced(name) ? name.slice(1) : name;
}

/** The text of tagged JSON for readers: each key has its own name, and stands where the script put it. */
export function jsonText(json: TaggedJson): string {
  return hasPlaces(json) ? written(json) : JSON.stringify(json);
}

function written(json: TaggedJson): string {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (isList(json)) return `[${json.map(written).join(',')}]`;
  return `{${shownEntries(json)
    .map(([name, item]) => `${JSON.stringify(name)}:${written(item)}`)
    .join(',')}}`;
}

/**
 * The beginning of {@link jsonText}, without writing the rest: of a text of at most `units` it is the whole, and of a longer one more than
 * `units`, so that a reader cuts it as it would cut the whole.
 */
export function jsonBeginning(json: TaggedJson, units: number): string {
  let text = '';
  const write = (value: TaggedJson): void => {
    if (typeof value === 'string') text += quotedBeginning(value, units + 1 - text.length);
    else if (value === null || typeof value !== 'object') text += JSON.stringify(value);
    else if (isList(value)) {
      text += '[';
      for (const [index, item] of value.entries()) {
        if (text.length > units) return;
        if (index > 0) text += ',';
        write(item);
      }
      text += ']';
    } else {
      text += '{';
      for (const [index, [name, item]] of shownEntries(value).entries()) {
        if (text.length > units) return;
        text += `${index > 0 ? ',' : ''}${quotedBeginning(name, units + 1 - text.length)}:`;
        write(item);
      }
      text += '}';
    }
  };
  write(json);
  return text;
}

/** A text as JSON; of a long one, at least so many units of its beginning. */
function quotedBeginning(text: string, units: number): string {
  // The cut may fall into a character.
  return text.length <= units ? JSON.stringify(text) : JSON.stringify(clipped(text, units + 1)).slice(0, -1);
}

/** The value with the keys of its maps in one order. */
export function sortedJson(json: TaggedJson): TaggedJson {
  const value = plainMaps(json);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sortedJson);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortedJson(item)]),
  );
}
