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

/**
 * The tool that may be meant by a name that none has, or null. A name of the same group comes first, or the same name in a group
 * that is spelled alike: what only looks similar as a whole, such as `tool.map.get` for `tool.http.get`, misleads.
 */
export function nearestTool(name: string, candidates: readonly string[]): string | null {
  const wanted = canonicalName(name);
  const [group, local] = partsOf(wanted);
  const siblings = candidates.filter((candidate) => partsOf(candidate)[0] === group);
  const sibling = nearest(
    local,
    siblings.map((candidate) => partsOf(candidate)[1]),
  );
  if (sibling !== null && isSlip(local, sibling)) return `${group}.${sibling}`;
  const longer = local.length > 2 ? siblings.find((candidate) => partsOf(candidate)[1].includes(local)) : undefined;
  if (longer !== undefined) return longer;
  const namesakes = candidates.filter((candidate) => partsOf(candidate)[1] === local && isAlike(partsOf(candidate)[0], group));
  const others = candidates.filter((candidate) => !siblings.includes(candidate));
  return namesakes[0] ?? others.find((candidate) => distance(candidate, wanted) <= 2) ?? null;
}

/** What to write for a name that no tool has: the tool that may be meant, else what the group has, if there is such a group. */
export function toolAdvice(name: string, candidates: readonly string[]): string | undefined {
  const meant = nearestTool(name, candidates);
  if (meant !== null) return `did you mean ${meant}?`;
  const [group] = partsOf(canonicalName(name));
  const siblings = candidates.filter((candidate) => partsOf(candidate)[0] === group);
  if (siblings.length === 0) return undefined;
  const more = siblings.length - MAX_NAMED;
  const named = siblings.slice(0, MAX_NAMED).map((candidate) => partsOf(candidate)[1]);
  return `${group} has ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Most names in a hint. */
const MAX_NAMED = 24;

/** Group, with `tool.`, and the name in it. */
function partsOf(name: string): [group: string, local: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

/** Whether a name is the other with a slip. Of short names too many are two letters apart: `put` is not `get`. */
function isSlip(left: string, right: string): boolean {
  const letters = (name: string): string => [...name].sort().join('');
  return left.length > 4 || distance(left, right) < 2 || letters(left) === letters(right);
}

/** Whether groups may be the same in a writer's mind: one abbreviates the other, or they differ by a letter or two. */
function isAlike(left: string, right: string): boolean {
  return left.startsWith(right) || right.startsWith(left) || distance(left, right) <= 1;
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
