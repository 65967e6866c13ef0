/** Descriptions of values that the host gives to a program. */
import type { FuelCosts } from './costs.ts';
import type { ForeseenScalar } from './describe.ts';
import {
  type Abstract,
  container,
  join,
  knownBoolean,
  knownNumber,
  knownText,
  LIST,
  MAP,
  NOTHING,
  OTHER,
  UNKNOWN,
} from './values.ts';

/** Tagged JSON: a value that JSON lacks is an object with one key that begins with `$`. */
export type GivenJson = Exclude<ForeseenScalar, object> | readonly GivenJson[] | { readonly [key: string]: GivenJson } | null;

/** The description of a value in tagged JSON. */
export function givenValue(json: GivenJson): Abstract {
  if (json === null) return NOTHING;
  if (typeof json === 'string') return knownText(json);
  if (typeof json === 'number') return knownNumber(json);
  if (typeof json === 'boolean') return knownBoolean(json);
  if (isList(json)) {
    const items = json.map(givenValue);
    const made = { ...container(LIST, { ...sizes(items), least: items.length, most: items.length }), items };
    return items.length === 0 ? made : { ...made, item: items.reduce(join) };
  }
  const entries = Object.entries(json);
  // A key with a `$` is a tag, or an escaped key of a map.
  if (entries.some(([key]) => key.startsWith('$'))) return tagged(json);
  const fields = new Map(entries.map(([key, value]) => [key, givenValue(value)]));
  const { size, nodes } = sizes([...fields.values()]);
  const keys = entries.reduce((sum, [key]) => sum + 6 * key.length + 5, 0);
  return { ...container(MAP, { size: size + keys, nodes, least: fields.size, most: fields.size }), fields };
}

function tagged({ $num, ...rest }: { readonly [key: string]: GivenJson }): Abstract {
  if (typeof $num === 'string' && Object.keys(rest).length === 0) return knownNumber(Number($num));
  const known = Object.keys(rest).length === 1 && ['$bytes', '$time', '$fuzzy', '$handle', '$error'].some((tag) => tag in rest);
  return known ? { ...UNKNOWN, types: OTHER } : UNKNOWN;
}

function isList(json: GivenJson): json is readonly GivenJson[] {
  return Array.isArray(json);
}

function sizes(parts: readonly Abstract[]): Pick<Abstract, 'size' | 'nodes'> {
  let [size, nodes] = [2, parts.length];
  for (const part of parts) {
    size += part.size + 2;
    nodes += part.nodes;
  }
  return { size, nodes };
}

/** Most fuel and bytes of reading a given value. */
export function givenCost(json: GivenJson, costs: FuelCosts): { readonly most: number; readonly bytes: number } {
  const { json: text } = costs.data;
  const { written } = costs.steps;
  const { values } = costs;
  const bytes = values.text.amount + values.list.amount + values.map.amount + values.other.amount;
  if (typeof json === 'string') return { most: Math.ceil(json.length / text.amount), bytes: bytes + 4 * json.length };
  if (json === null || typeof json !== 'object') return { most: 0, bytes };
  const parts = isList(json) ? json.map((item) => ['', item] as const) : Object.entries(json);
  const own = values.item.amount + values.entry.amount;
  let [most, all] = [0, bytes];
  for (const [key, part] of parts) {
    const cost = givenCost(part, costs);
    most += written.amount + cost.most;
    all += own + 4 * key.length + cost.bytes;
  }
  return { most, bytes: all };
}
