/** Makes the changes of fixes in a text. */
import type { Edit, RawEdit } from '../lint/finding.ts';
import type { Span } from '../syntax/position.ts';

/**
 * The text with all edits made. Lines and columns are those of the findings; the text may have a byte order mark and any line ends,
 * and keeps them. An edit that overlaps an earlier one is left out.
 */
export function withEdits(text: string, edits: readonly Edit[]): string {
  const starts = [text.startsWith('\uFEFF') ? 1 : 0];
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n/g)) starts.push(index + end.length);
  const newline = /\r\n?|\n/.exec(text)?.[0] ?? '\n';
  const offsetOf = (line: number, column: number): number => {
    let offset = starts[line - 1] ?? text.length;
    for (let left = column - 1; left > 0; ) {
      const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
      offset += character.length;
      // Cleaning removes control characters, so they have no column.
      if (!REMOVED.test(character)) left -= 1;
      if (offset >= (starts[line] ?? text.length)) return Math.min(offset, text.length);
    }
    return offset;
  };
  const placed = edits.map((edit) => ({
    s: offsetOf(edit.line, edit.column),
    e: offsetOf(edit.endLine, edit.endColumn),
    text: edit.text.replaceAll('\n', newline),
  }));
  let result = '';
  let at = 0;
  for (const edit of placed.sort((a, b) => a.s - b.s || a.e - b.e)) {
    if (edit.s < at) continue;
    result += text.slice(at, edit.s) + edit.text;
    at = edit.e;
  }
  return result + text.slice(at);
}

const REMOVED = /[\0-\x08\x0B\x0C\x0E-\x1F]/;

/** Replacements in a text. */
/** A replacement that belongs to a change. */
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
export function applied(text: string, changes: readonly Change[], s: number, e: number): string {
  let out = '';
  let at = s;
  for (const change of [...changes].sort((a, b) => a.s - b.s)) {
    if (change.s < at || change.e > e) continue;
    out += text.slice(at, change.s) + change.text;
    at = change.e;
  }
  return out + text.slice(at, e);
}

/** Replaces a span. */
export const replaced = ({ s, e }: Span, text: string): RawEdit => ({ s, e, text });

/** Puts texts before and after an expression. */
export const wrapped = ({ s, e }: Span, before: string, after: string): readonly RawEdit[] => [
  { s, e: s, text: before },
  { s: e, e, text: after },
];
