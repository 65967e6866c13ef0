import { encode } from '../wire/codec.ts';
import type { Value } from '../wire/values.ts';
import type { MockCase } from './mock.ts';

/** Longest text of one value in a message. */
const SHOWN = 80;

/** Whether two values are the same, deeply; the order of a map's keys does not count. */
export function sameValue(left: Value, right: Value): boolean {
  return sortedText(left) === sortedText(right);
}

/** The arguments of a call, for a message: `path = "/x", ttl = 5`. */
export function describeCall(called: Readonly<Record<string, Value>>): string {
  const entries = Object.entries(called);
  return entries.length === 0 ? 'no arguments' : entries.map(([name, value]) => `${name} = ${shown(value)}`).join(', ');
}

/** The case that differs in the fewest arguments, and how. */
export function nearestCase(called: Readonly<Record<string, Value>>, cases: readonly MockCase[]): string {
  const differences = cases.map(({ when }) =>
    Object.entries(when).filter(([name, wanted]) => !sameValue(wanted, called[name] ?? null)),
  );
  let best = 0;
  for (const [index, found] of differences.entries()) if (found.length < (differences[best]?.length ?? 0)) best = index;
  const nearest = differences[best];
  if (nearest === undefined) return 'it has no cases';
  const wanted = nearest.map(([name, value]) => `${name} = ${shown(value)}`).join(', ');
  return `the nearest is case ${best + 1} of ${cases.length}, which wants ${wanted}`;
}

function shown(value: Value): string {
  const text = JSON.stringify(encode(value));
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

function sortedText(value: Value): string {
  return JSON.stringify(encode(value), (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
