import { clipped } from '../../wire/clip.ts';
import { encode } from '../../wire/codec.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { isList, jsonText, plainMaps } from '../../wire/tagged.ts';
import { isRecord } from '../../wire/unknown.ts';
import { isOrderedMap, type OrderedMap, type OrderedValue } from '../../wire/values.ts';
import { typeName } from '../define/argtypes.ts';
import { matchesPattern } from '../policy/capability.ts';
import type { Scope, Template } from './template.ts';

/** The condition of a case for one argument. */
export type Wanted =
  | { readonly equals: Template }
  /** A pattern for texts, as in a policy. */
  | { readonly like: string }
  /** A name of `typeof`. */
  | { readonly type: string };

/** Wanted values by the name of an argument, or of a key of the state. */
export type Wants = Readonly<Record<string, Wanted>>;

/** One place where a call does not meet a case. */
export interface Difference {
  /** `path`, `plan[0].value` */
  readonly place: string;
  readonly wanted: string;
  readonly got: string;
}

/** In a message: the longest text of a value, and the most differences. */
const SHOWN = 80;
const MOST = 3;

/** The arguments of a call, for a message: `path = "/x", ttl = 5`. */
export function describeCall(called: OrderedMap): string {
  const entries = [...called];
  return entries.length === 0 ? 'no arguments' : entries.map(([name, value]) => `${name} = ${shown(value)}`).join(', ');
}

/**
 * The places where the values do not meet the conditions, none for a match. The work ends with the last place that is taken, because the
 * arguments of a call may be large, and a file may have many cases.
 */
export function* differences(wants: Wants, values: OrderedMap, scope: Scope): Generator<Difference> {
  for (const [name, wanted] of Object.entries(wants)) {
    const value = values.get(name) ?? null;
    if ('equals' in wanted) {
      yield* differ(name, wanted.equals(scope), value);
      continue;
    }
    const fits =
      'like' in wanted
        ? typeof value === 'string' && matchesPattern(wanted.like, value, scope.lower)
        : typeName(value) === wanted.type;
    if (fits) continue;
    const pattern = 'like' in wanted ? `like ${JSON.stringify(wanted.like)}` : `of type ${wanted.type}`;
    yield { place: name, wanted: pattern, got: shown(value) };
  }
}

/** Most differences of a case that are counted. */
const MOST_COUNTED = 100;

/** The sentence about the case with the fewest differences. `found` looks for the differences of each case. */
export function nearestCase(found: readonly Iterable<Difference>[], exhausted: readonly boolean[]): string {
  let best = 0;
  let nearest: readonly Difference[] | null = null;
  for (const [index, each] of found.entries()) {
    const most: number = nearest?.length ?? MOST_COUNTED;
    const some = taken(each, most);
    if (nearest !== null && some.length >= most) continue;
    best = index;
    nearest = some;
  }
  if (nearest === null) return 'it has no cases';
  const which = `the nearest is case ${best + 1} of ${found.length}`;
  if (nearest.length === 0) return exhausted[best] === true ? `${which}, which has given all its answers already` : which;
  const shownOnes = nearest.slice(0, MOST).map(({ place, wanted, got }) => `${place} ${wanted}, not ${got}`);
  const hidden = nearest.length === MOST_COUNTED ? 'many' : nearest.length - MOST;
  const more = nearest.length > MOST ? `, and ${hidden} more` : '';
  return `${which}, which wants ${shownOnes.join('; ')}${more}`;
}

/** The first items, at most so many. */
function taken<T>(items: Iterable<T>, most: number): readonly T[] {
  const first: T[] = [];
  if (most === 0) return first;
  for (const item of items) if (first.push(item) === most) break;
  return first;
}

/** Compares place by place, down to the smallest parts that differ. The order of a map's keys does not count. */
function* differ(place: string, wanted: OrderedValue, got: OrderedValue): Generator<Difference> {
  if (isOrderedMap(wanted) && isOrderedMap(got)) {
    for (const [key, item] of wanted) {
      if (got.has(key)) yield* differ(`${place}.${key}`, item, got.get(key) ?? null);
      else yield { place: `${place}.${key}`, wanted: `= ${shown(item)}`, got: 'left out' };
    }
    for (const [key, item] of got) if (!wanted.has(key)) yield { place: `${place}.${key}`, wanted: 'left out', got: shown(item) };
  } else if (isList(wanted) && isList(got) && wanted.length === got.length) {
    for (const [index, item] of wanted.entries()) yield* differ(`${place}[${index}]`, item, got[index] ?? null);
  } else if (!isEqual(wanted, got)) yield { place, wanted: `= ${shown(wanted)}`, got: shown(got) };
}

/** Whether two values are equal that are not both maps, nor lists of the same length. */
function isEqual(a: OrderedValue, b: OrderedValue): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if ([a, b].some((each) => isList(each) || isOrderedMap(each))) return false;
  return keyText(encode(a)) === keyText(encode(b));
}

/** The beginning of a value as JSON. */
function shown(value: OrderedValue): string {
  const text = jsonText(encode(beginning(value, { left: SHOWN })));
  return text.length <= SHOWN ? text : `${clipped(text, SHOWN)}…`;
}

/** A value shortened to the parts that a message can show: each part takes at least one character. */
function beginning(value: OrderedValue, budget: { left: number }): OrderedValue {
  budget.left -= 1;
  if (typeof value === 'string') return value.length <= SHOWN ? value : [...value.slice(0, SHOWN + 1)].slice(0, -1).join('');
  if (isList(value)) {
    const items: OrderedValue[] = [];
    for (let index = 0; index < value.length && budget.left >= 0; index++) items.push(beginning(value[index] ?? null, budget));
    return items;
  }
  if (!isOrderedMap(value)) return value;
  const entries = new Map<string, OrderedValue>();
  for (const [key, item] of value) {
    if (budget.left < 0) break;
    entries.set(key, beginning(item, budget));
  }
  return entries;
}

/** A text that equal values share. */
export function keyText(json: TaggedJson): string {
  return JSON.stringify(plainMaps(json), (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
