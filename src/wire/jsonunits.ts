import type { TaggedJson } from './protocol.ts';
import { isList } from './tagged.ts';

/** UTF-16 units of tagged JSON as text, without its escapes: never more than the text has. */
export function jsonUnits(json: TaggedJson): number {
  if (typeof json === 'string') return json.length + 2;
  if (json === null || typeof json !== 'object') return String(json).length;
  // Brackets, and a comma after each item but the last.
  let units = 1;
  if (isList(json)) {
    for (const item of json) units += jsonUnits(item) + 1;
  } else {
    for (const name of Object.keys(json)) units += name.length + 4 + jsonUnits(json[name] ?? null);
  }
  return Math.max(2, units);
}
