/** `:: key: value` lines, and the header line that decides how `[[` reads. */
import { BACKSLASH, isBlank, LF, startsComment } from './codeunits.ts';

/** Splits a metadata line, from its `::` on, into key and value. Without a colon all of it is the key. */
export function metadataEntry(line: string): readonly [key: string, value: string] {
  const text = line.slice(2).split('#', 1).join('').split('--', 1).join('');
  const colon = text.indexOf(':');
  return colon < 0 ? [text.trim(), ''] : [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

/** Keeps one entry for each key: the last value, at the place of the first. */
export function mergeMetadata(entries: Iterable<readonly [string, string]>): (readonly [string, string])[] {
  return [...new Map(entries)];
}

/** The end of the metadata line that starts at `from`: the offset of its line feed, or of that of its last continuation line. */
export function metadataEnd(text: string, from: number, limit: number): number {
  let i = from;
  while (i < limit) {
    const unit = text.charCodeAt(i);
    if (unit === LF) break;
    i++;
    if (unit !== BACKSLASH) continue;
    let j = i;
    while (j < limit && isBlank(text.charCodeAt(j))) j++;
    if (text.charCodeAt(j) === LF) i = j + 1;
  }
  return Math.min(i, limit);
}

/** Whether the header of a file says `:: strings: double-bracket`. Reads no further than the header. */
export function asksForDoubleBrackets(text: string): boolean {
  let at = 0;
  let found = false;
  for (;;) {
    while (isBlank(text.charCodeAt(at)) || text.charCodeAt(at) === LF) at++;
    if (text.startsWith('::', at)) {
      const end = metadataEnd(text, at, text.length);
      const [key, value] = metadataEntry(text.slice(at, end));
      if (key === 'strings') found = value === 'double-bracket';
      at = end;
    } else if (startsComment(text, at)) {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else {
      return found;
    }
  }
}
