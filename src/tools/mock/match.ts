import { encode, isValueMap } from '../../wire/codec.ts';
import { isList, jsonText, plainMaps } from '../../wire/maporder.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { isRecord } from '../../wire/unknown.ts';
import type { Value, ValueMap } from '../../wire/values.ts';
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
export function describeCall(called: ValueMap): string {
  const entries = Object.entries(called);
  return entries.length === 0 ? 'no arguments' : entries.map(([name, value]) => `${name} = ${shown(value)}`).join(', ');
}

/** The places where the values do not meet the conditions; empty for a match. */
export function differences(wants: Wants, values: ValueMap, scope: Scope): readonly Difference[] {
  return Object.entries(wants).flatMap(([name, wanted]) => {
    const value = values[name] ?? null;
    if ('equals' in wanted) return differ(name, wanted.equals(scope), value);
    const fits =
      'like' in wanted ? typeof value === 'string' && matchesPattern(wanted.like, value) : typeName(value) === wanted.type;
    if (fits) return [];
    return [
      {
        place: name,
        wanted: 'like' in wanted ? `like ${JSON.stringify(wanted.like)}` : `of type ${wanted.type}`,
        got: shown(value),
      },
    ];
  });
}

/** The sentence about the case with the fewest differences. `found` holds the differences of each case. */
export function nearestCase(found: readonly (readonly Difference[])[], exhausted: readonly boolean[]): string {
  let best = 0;
  for (const [index, each] of found.entries()) if (each.length < (found[best]?.length ?? 0)) best = index;
  const nearest = found[best];
  if (nearest === undefined) return 'it has no cases';
  const which = `the nearest is case ${best + 1} of ${found.length}`;
  if (nearest.length === 0) return exhausted[best] === true ? `${which}, which has given all its answers already` : which;
  const shownOnes = nearest.slice(0, MOST).map(({ place, wanted, got }) => `${place} ${wanted}, not ${got}`);
  const more = nearest.length > MOST ? `, and ${nearest.length - MOST} more` : '';
  return `${which}, which wants ${shownOnes.join('; ')}${more}`;
}

/** Compares place by place, down to the smallest parts that differ. The order of a map's keys does not count. */
function differ(place: string, wanted: Value, got: Value): readonly Difference[] {
  if (isValueMap(wanted) && isValueMap(got)) {
    const keys = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
    return keys.flatMap((key) => {
      const has = [wanted, got].map((map) => Object.hasOwn(map, key));
      if (has[0] && has[1]) return differ(`${place}.${key}`, wanted[key] ?? null, got[key] ?? null);
      const one = has[0] ? (wanted[key] ?? null) : (got[key] ?? null);
      return [
        { place: `${place}.${key}`, wanted: has[0] ? `= ${shown(one)}` : 'left out', got: has[1] ? shown(one) : 'left out' },
      ];
    });
  }
  if (isList(wanted) && isList(got) && wanted.length === got.length)
    return wanted.flatMap((item, index) => differ(`${place}[${index}]`, item, got[index] ?? null));
  return sortedText(wanted) === sortedText(got) ? [] : [{ place, wanted: `= ${shown(wanted)}`, got: shown(got) }];
}

function shown(value: Value): string {
  const text = jsonText(plainMaps(encode(value)));
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

function sortedText(value: Value): string {
  return keyText(encode(value));
}

/** A text that equal values share. */
export function keyText(json: TaggedJson): string {
  return JSON.stringify(plainMaps(json), (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}
