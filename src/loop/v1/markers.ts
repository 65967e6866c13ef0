/** What a program of the v1 profile requests. `halt` is the host's word; it also stops the loop if a program emits it. */
export type Signal = 'continue' | 'done' | 'abort' | 'halt';

/** One loop marker in a text. */
export interface Marker {
  /** What the marker requests. */
  readonly signal: Signal;
  /** The reason of `abort` or `halt`; null when an `abort` has none. */
  readonly reason: string | null;
}

const OPEN = '[[loop:';
/** Most characters of a reason. */
export const MAX_REASON = 256;

/**
 * All loop markers in a text, in order: `[[loop:continue]]`, `[[loop:done]]`, `[[loop:abort]]`,
 * `[[loop:abort:reason=…]]`, `[[loop:halt:reason=…]]`, case-sensitive and anywhere in a line. A marker that is not closed, has
 * another word, or has too long a reason is ordinary text. The search after each opening is bounded, so the time is linear in
 * the length of the text.
 */
export function scanMarkers(text: string): readonly Marker[] {
  const found: Marker[] = [];
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, at + OPEN.length)) {
    const marker = markerAt(text, at + OPEN.length);
    if (marker !== null) found.push(marker);
  }
  return found;
}

const BARE: readonly Signal[] = ['continue', 'done', 'abort'];
const REASONED: readonly Signal[] = ['abort', 'halt'];

function markerAt(text: string, at: number): Marker | null {
  for (const signal of BARE) if (text.startsWith(`${signal}]]`, at)) return { signal, reason: null };
  for (const signal of REASONED) {
    const head = `${signal}:reason=`;
    if (!text.startsWith(head, at)) continue;
    const reason = reasonAt(text, at + head.length);
    if (reason !== null) return { signal, reason };
  }
  return null;
}

/** The reason before `]]`; null when it is too long. A reason contains no `]` and no line feed. */
function reasonAt(text: string, at: number): string | null {
  // A character has at most two code units. One more unit shows the end of the longest reason.
  const stretch = text.slice(at, at + 2 * MAX_REASON + 1);
  const end = stretch.search(/[\]\n]/);
  if (end < 0 || !text.startsWith(']]', at + end)) return null;
  const reason = stretch.slice(0, end);
  return [...reason].length <= MAX_REASON ? reason : null;
}
