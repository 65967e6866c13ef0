import { isMonstrous, parsedJson } from '../../files/json.ts';
import { grouped } from '../../report/index.ts';

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

export interface Found {
  /** The form within the kind; absent for a kind with one form. */
  readonly form?: string;
  /** The kind in words, with an article. */
  readonly title: string;
  /** `likely` when another kind of file could look the same. */
  readonly sure: 'certain' | 'likely';
  /** Null when the artefact is whole. */
  readonly error: Flaw | null;
  /** What the command that knows the artefact prints with `--json`; null for an artefact that cannot be read. */
  readonly report: unknown;
  /** What that command prints without `--json`; `inspect` makes it printable. */
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
  return isMonstrous(text) ? undefined : parsedJson(text);
}

export function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
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
  return [...shown.flatMap(show), ...(all > shown.length ? [`… and ${grouped(all - shown.length)} more`] : [])];
}

export function whole(found: Omit<Found, 'error' | 'sure'>): Found {
  return { ...found, sure: 'certain', error: null };
}

/** An artefact that the reader of its kind refuses. */
export function unreadable(title: string, error: Omit<Flaw, 'line'> & Partial<Flaw>, next: string | null = null): Found {
  const { code, message, line = null } = error;
  return { title, sure: 'likely', error: { code, message, line }, report: null, lines: [], next };
}
