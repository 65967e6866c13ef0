import { ConfigError } from '../wire/errors.ts';

const FULL_NAME = /^tool(?:\.[A-Za-z_][A-Za-z0-9_]*){2,}$/;

/** The registry's key: lower case, exactly one leading `tool.` (language.md 9.1). */
export function canonicalName(name: string): string {
  let rest = name.toLowerCase();
  while (rest.startsWith('tool.')) rest = rest.slice(5);
  return `tool.${rest}`;
}

/** Throws {@link ConfigError} unless the name can be written in a script: `tool.group.Name`, the group may have dots. */
export function checkToolName(name: unknown): string {
  if (typeof name === 'string' && FULL_NAME.test(name)) return name;
  throw new ConfigError(`a tool's name has the form tool.group.Name, got '${String(name).slice(0, 100)}'`);
}

/** The candidate that is closest in spelling, or null when none is close enough to be meant. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const found = distance(name, candidate);
    if (found < least) [best, least] = [candidate, found];
  }
  return best;
}

/** Levenshtein's edit distance; long names are cut, since this only serves a hint. */
function distance(left: string, right: string): number {
  const a = left.slice(0, 80);
  const b = right.slice(0, 80);
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
