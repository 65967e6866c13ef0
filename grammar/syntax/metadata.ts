/** `:: key: value` lines (language.md 1.11) and the header that decides how `[[` reads (P11). */

/** Splits the text of a metadata line, from its `::`, into key and value; the key is empty when there is none. */
export function metadataEntry(line: string): readonly [key: string, value: string] {
  const text = line.slice(2).split('#', 1).join('').split('--', 1).join('');
  const colon = text.indexOf(':');
  return colon < 0 ? [text.trim(), ''] : [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

/** Keeps one entry a key: the last value, in the place of the first. */
export function mergeMetadata(entries: Iterable<readonly [string, string]>): (readonly [string, string])[] {
  return [...new Map(entries)];
}

/** Offset just past a metadata line that starts at `from`: its line feed, or that of its last continuation line. */
export function metadataEnd(text: string, from: number, limit: number): number {
  let i = from;
  while (i < limit) {
    const unit = text.charCodeAt(i);
    if (unit === 0x0a) break;
    i++;
    if (unit !== 0x5c) continue;
    let j = i;
    while (j < limit && isBlank(text.charCodeAt(j))) j++;
    if (text.charCodeAt(j) === 0x0a) i = j + 1;
  }
  return Math.min(i, limit);
}

/** Whether the file's header holds `:: strings: double-bracket`; reads no further than the header (P11, P32). */
export function asksForDoubleBrackets(text: string): boolean {
  let at = 0;
  let found = false;
  for (;;) {
    while (at < text.length && isSpace(text.charCodeAt(at))) at++;
    if (text.startsWith('::', at)) {
      const end = metadataEnd(text, at, text.length);
      const [key, value] = metadataEntry(text.slice(at, end));
      if (key === 'strings') found = value === 'double-bracket';
      at = end;
    } else if (text[at] === '#' || text.startsWith('--', at) || text.startsWith('//', at)) {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else {
      return found;
    }
  }
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

function isSpace(unit: number): boolean {
  return isBlank(unit) || unit === 0x0a;
}
