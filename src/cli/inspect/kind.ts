/** What was sent: its bytes, and its text if it is one. */
export interface Artefact {
  /** As it stands on the command line. */
  readonly name: string;
  readonly bytes: Buffer;
  /** Null when the bytes are no UTF-8. Without a byte order mark. */
  readonly text: string | null;
  /** Permissions of the file; null for standard input and where there are none. */
  readonly mode: number | null;
}

/** What keeps an artefact from being whole. */
export interface Flaw {
  /** Stable; a page of `docs/errors` tells of it. */
  readonly code: string;
  readonly message: string;
  /** 1-based, of the artefact; null when it has no place. */
  readonly line: number | null;
}

/** What an artefact turned out to be. */
export interface Found {
  /** In words, with an article. */
  readonly title: string;
  /** `likely`: something else could look like this. */
  readonly sure: 'certain' | 'likely';
  /** Null when the artefact is whole. */
  readonly error: Flaw | null;
  /** What is in it, for `--json`. */
  readonly facts: object;
  /** What is in it, for a reader. The command makes them printable. */
  readonly lines: readonly string[];
  /** What to do with it, in a sentence or two; null when there is nothing to say. */
  readonly next: string | null;
}

/**
 * One kind of artefact. Nobody's file is trusted: `recognize` bounds its work and throws for no content, but as `check` does for a
 * program that brings the parser down (`ERR_TIMEOUT`, `ERR_WORKER`).
 */
export interface Kind {
  /** `kind` of the JSON. */
  readonly kind: string;
  /** How the kind is called in the list of what was tried. */
  readonly what: string;
  /** What the artefact is, or why it is not of this kind. */
  recognize(artefact: Artefact): Found | string | Promise<Found | string>;
}

/** Deepest nesting that is read: values of programs have 500 levels at most, and a few around them. */
const MAX_DEPTH = 1000;
/** Most lists and maps of a JSON text: more of them take gigabytes, however short the text is. */
const MAX_CONTAINERS = 1_000_000;

/** The value of a JSON text; undefined for text that is none, and for what {@link isMonstrous}. */
export function jsonOf(text: string): unknown {
  if (isMonstrous(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a text in JSON or YAML nests so deep, or has so many lists and maps, that reading it would be dangerous. */
export function isMonstrous(text: string): boolean {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === OPEN_LIST || unit === OPEN_MAP) {
      depth += 1;
      containers += 1;
      if (depth > MAX_DEPTH || containers > MAX_CONTAINERS) return true;
    } else if (unit === CLOSE_LIST || unit === CLOSE_MAP) depth -= 1;
  }
  return false;
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Where the quote stands that closes the string opened at `at`. */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (end < text.length && text.charCodeAt(end) !== QUOTE) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end;
}

/** Whether a value of {@link jsonOf} is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first line of a text. */
export function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
}

/** How many lines a text has; a line feed at its end ends the last one. */
export function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** How often each word stands in a list, in the order of their first appearance. */
export function tally(words: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** A {@link tally} in words: `3 CONTINUE, 1 DONE`. */
export function tallied(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

/** Unix milliseconds as RFC 3339; what is no time of a calendar as it stands. */
export function timeOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}

/** Blocks of lines, and how many more of `all` there are. */
export function capped(blocks: readonly (readonly string[])[], all: number): readonly string[] {
  return [...blocks.flat(), ...(all > blocks.length ? [`… and ${all - blocks.length} more`] : [])];
}
