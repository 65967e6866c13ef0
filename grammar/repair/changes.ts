/** Replacements in a text. */
import type { RawEdit } from '../lint/finding.ts';
import type { Span } from '../syntax/position.ts';

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
