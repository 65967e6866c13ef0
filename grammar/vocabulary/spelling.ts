/** Spelling: the known name that a misspelt one probably means. Keeps no state, because the interpreter has it. */

/** Names longer than this are not compared: comparing takes time in proportion to both lengths. */
export const LONGEST = 80;

/** The candidate with the nearest spelling, ignoring letter case; undefined when none is near enough to be a misspelling. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined;
  let best: string | undefined;
  let least = mostEdits(name.length) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const found = editDistance(name, candidate);
    if (found < least) [best, least] = [candidate, found];
  }
  return best;
}

/** Most edits of a misspelling. Among short names two are too many: `put` does not mean `get`. */
function mostEdits(length: number): number {
  if (length < 3) return 0;
  return length < 5 ? 1 : Math.max(2, Math.floor(length / 3));
}

/**
 * The number of edits that turn one name into the other, ignoring letter case: insertions, deletions, replacements and
 * exchanges of two neighbours. Only the first {@link LONGEST} characters count.
 */
export function editDistance(left: string, right: string): number {
  const a = left.slice(0, LONGEST).toLowerCase();
  const b = right.slice(0, LONGEST).toLowerCase();
  let earlier: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const least = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(exchanged ? Math.min(least, (earlier[j - 2] ?? 0) + 1) : least);
    }
    earlier = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
