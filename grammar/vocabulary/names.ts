/** Names: those of the language itself, and which one was probably meant. */

/** Built-in functions (language.md 7); compared without case, they win over procedures. Each takes one argument. */
export const BUILTINS: ReadonlySet<string> = new Set(
  (
    'len char ord typeof is_string is_number is_bool is_list is_map is_nil is_timedate is_fuzzy is_error is_int is_float ' +
    'is_event is_function is_tool ln log sin cos tan asin acos atan'
  ).split(' '),
);

/** Whether a call of this name is one of a built-in function. */
export function isBuiltin(name: string): boolean {
  return BUILTINS.has(name.toLowerCase());
}

/** Globals that are always there (ruling 13). */
export const KNOWN_GLOBALS: readonly string[] = ['self'];

/** Variables that the interpreter sets when a handler runs (P17). */
export const ERROR_VARIABLES: readonly string[] = ['system_error', 'system_error_message'];

/** Longer names are nobody's typing error; they would only cost time. */
const LONGEST = 80;

/** The candidate that is closest in spelling; undefined when none is close enough to be meant. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined;
  let best: string | undefined;
  let least = Math.floor(name.length / 3) + (name.length < 3 ? 1 : 2);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least || candidate.length > LONGEST) continue;
    const found = candidate.toLowerCase() === name.toLowerCase() ? 0 : distance(name, candidate);
    if (found < least) [best, least] = [candidate, found];
  }
  return best;
}

/** Edits that turn one name into the other; two neighbours exchanged are one. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1];
      let least = Math.min((row[j - 1] ?? 0) + (same ? 0 : 1), (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (swapped) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
