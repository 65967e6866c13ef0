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
