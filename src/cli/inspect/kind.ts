import { isMonstrous } from '../../files/json.ts';

/** The input of `inspect`: its bytes, and its text if it is UTF-8. */
export interface Artefact {
  /** The name on the command line. */
  readonly name: string;
  readonly bytes: Buffer;
  /** The text without a byte order mark; null for bytes that are not UTF-8. */
  readonly text: string | null;
  /** Permissions of the file; null for standard input and on systems without them. */
  readonly mode: number | null;
}

/** Why an artefact is damaged. */
export interface Flaw {
  /** A stable code with a page in `docs/errors`. */
  readonly code: string;
  readonly message: string;
  /** 1-based line of the artefact; null when the flaw has no place. */
  readonly line: number | null;
}

/** A recognised artefact. */
export interface Found {
  /** The kind in words, with an article. */
  readonly title: string;
  /** `likely` when another kind of file could look the same. */
  readonly sure: 'certain' | 'likely';
  /** Null when the artefact is whole. */
  readonly error: Flaw | null;
  /** Its contents, for `--json`. */
  readonly facts: object;
  /** Its contents as lines; the command makes them printable. */
  readonly lines: readonly string[];
  /** A hint on what to do with it; null without one. */
  readonly next: string | null;
}

/**
 * One kind of artefact. Files are untrusted: `recognize` bounds its work and throws only as `check` does, for a program that
 * overloads the parser (`ERR_TIMEOUT`, `ERR_WORKER`).
 */
export interface Kind {
  /** The value of `kind` in the JSON. */
  readonly kind: string;
  /** The name in the list of tried kinds. */
  readonly what: string;
  /** Identifies the artefact, or says why it is not of this kind. */
  recognize(artefact: Artefact): Found | string | Promise<Found | string>;
}

/** The value of a JSON text; undefined for other text, and for text that {@link isMonstrous}. */
export function jsonOf(text: string): unknown {
  if (isMonstrous(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first line of a text. */
export function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
}

/** The number of lines; a final line feed ends the last one. */
export function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Counts each word, in the order of first appearance. */
export function tally(words: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Maximum number of items of a list in the text; `--json` has all. */
export const MOST_SHOWN = 20;

/** The lines of the first `most` items, and a line that counts the rest of `all`. */
export function listed<T>(
  items: readonly T[],
  show: (item: T, index: number) => readonly string[],
  { most = MOST_SHOWN, all = items.length }: { readonly most?: number; readonly all?: number } = {},
): readonly string[] {
  const shown = items.slice(0, most);
  return [...shown.flatMap(show), ...(all > shown.length ? [`… and ${all - shown.length} more`] : [])];
}

/** An artefact that the reader of its kind refuses. */
export function unreadable(title: string, error: Flaw, facts: object, next: string | null = null): Found {
  return { title, sure: 'likely', error, facts, lines: [], next };
}
