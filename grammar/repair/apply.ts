/** Makes the changes of fixes in a text. */
import type { Edit, RawEdit } from '../lint/finding.ts';
import type { Position, Span } from '../syntax/position.ts';

/**
 * The text with all edits made. Lines and columns are those of the findings; the text may have a byte order mark and any line ends,
 * and keeps them. An edit that overlaps an earlier one is left out.
 */
export function withEdits(text: string, edits: readonly Edit[]): string {
  const newline = /\r\n?|\n/.exec(text)?.[0] ?? '\n';
  const begins = inOrder(edits.map((edit) => ({ line: edit.line, column: edit.column, edit })));
  const ends = inOrder(edits.map((edit) => ({ line: edit.endLine, column: edit.endColumn, edit })));
  const [from, to] = [new Cursor(text), new Cursor(text)];
  const starts = new Map(begins.map((place) => [place.edit, from.offsetOf(place)]));
  const placed = ends.map((place) => ({
    s: starts.get(place.edit) ?? 0,
    e: to.offsetOf(place),
    text: place.edit.text.replaceAll('\n', newline),
  }));
  placed.sort((a, b) => a.e - b.e);
  return applied(text, placed, 0, text.length);
}

function inOrder<Place extends Position>(places: Place[]): readonly Place[] {
  return places.sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Finds the offsets of ascending positions in one pass over a text. */
class Cursor {
  readonly #text: string;
  readonly #starts: readonly number[];
  #line = 0;
  #column = 1;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
    this.#starts = [
      text.startsWith('\uFEFF') ? 1 : 0,
      ...text.matchAll(/\r\n?|\n/g).map(({ index, 0: end }) => index + end.length),
    ];
  }

  offsetOf({ line, column }: Position): number {
    if (line !== this.#line) [this.#line, this.#column, this.#offset] = [line, 1, this.#starts[line - 1] ?? this.#text.length];
    const end = this.#starts[line] ?? this.#text.length;
    while (this.#column < column && this.#offset < end) {
      const character = String.fromCodePoint(this.#text.codePointAt(this.#offset) ?? 0);
      this.#offset += character.length;
      // Cleaning removes control characters, so they have no column.
      if (!REMOVED.test(character)) this.#column += 1;
    }
    return this.#offset;
  }
}

const REMOVED = /[\0-\x08\x0B\x0C\x0E-\x1F]/;

export interface Change {
  readonly s: number;
  readonly e: number;
  readonly text: string;
  /** Changes of one number make sense only together. */
  readonly group: number;
  /** Whether another reading was possible. */
  readonly guessed: boolean;
}

/** The text from `s` to `e` with the changes in it. A change that overlaps an earlier one is left out. */
export function applied(text: string, changes: readonly RawEdit[], s: number, e: number): string {
  let out = '';
  let at = s;
  for (const change of [...changes].sort((a, b) => a.s - b.s)) {
    if (change.s < at || change.e > e) continue;
    out += text.slice(at, change.s) + change.text;
    at = change.e;
  }
  return out + text.slice(at, e);
}

export const replaced = ({ s, e }: Span, text: string): RawEdit => ({ s, e, text });

export const wrapped = ({ s, e }: Span, before: string, after: string): readonly RawEdit[] => [
  { s, e: s, text: before },
  { s: e, e, text: after },
];
