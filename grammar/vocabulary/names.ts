/** Names of tools: the canonical one, and the known one that a misspelt one probably means. */
import { editDistance, LONGEST, nearestName } from './spelling.ts';

/** The tool that makes the control token of a turn. The host loop gives it to every turn. */
export const MAGIC_TOOL = 'tool.aeiou.magic';

/** The last canonical name, because a call needs that of its tool several times (`bench contexts`). */
let [lastName, lastCanonical] = ['', 'tool.'];

/** The canonical name of a tool: lower case, with exactly one `tool.` in front. */
export function canonicalName(name: string): string {
  if (name === lastName) return lastCanonical;
  let rest = name.toLowerCase();
  while (rest.startsWith('tool.')) rest = rest.slice(5);
  const canonical = `tool.${rest}`;
  if (name.length <= LONGEST) [lastName, lastCanonical] = [name, canonical];
  return canonical;
}

/** Splits a tool's name into its group, with `tool.` in front, and its local name. */
export function toolParts(name: string): [group: string, local: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

const MOST_NAMED = 50;

/** Names in a hint, as many as it may have. */
export function named(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What there is in the group of an unknown tool: `tool.time has now, fromunix`; undefined where nothing is. */
export function groupAdvice(name: string, candidates: readonly string[]): string | undefined {
  const [group] = toolParts(canonicalName(name));
  const locals = candidates.map(toolParts).flatMap(([of, local]) => (of === group ? [local] : []));
  return locals.length === 0 ? undefined : `${group} has ${named(locals)}`;
}

/**
 * The tool that a name without a tool probably means; undefined when none is near enough. Tools of the same group come first,
 * then tools of the same local name in a similar group, or in another one for the same kinds of values. A name that is similar only as a whole is no match, because
 * `tool.map.get` says nothing about `tool.http.get`.
 */
export function nearestTool(name: string, candidates: readonly string[]): string | undefined {
  const wanted = canonicalName(name);
  const [group, local] = toolParts(wanted);
  const siblings = candidates.filter((candidate) => toolParts(candidate)[0] === group);
  const sibling = nearestName(
    local,
    siblings.map((candidate) => toolParts(candidate)[1]),
  );
  if (sibling !== undefined) return `${group}.${sibling}`;
  const longer = local.length > 2 ? siblings.find((candidate) => toolParts(candidate)[1].includes(local)) : undefined;
  if (longer !== undefined) return longer;
  const namesake = candidates.find((candidate) => toolParts(candidate)[1] === local && isAlike(toolParts(candidate)[0], group));
  if (namesake !== undefined) return namesake;
  const alike = DATA.has(group) ? candidates.filter((candidate) => hasLocal(candidate, local)) : [];
  if (alike.length === 1) return alike[0];
  const others = candidates.filter(({ length }) => Math.abs(length - wanted.length) <= 2);
  return others.find((candidate) => !siblings.includes(candidate) && editDistance(candidate, wanted) <= 2);
}

/** The groups whose tools compute with texts, lists, maps and numbers: which one has a tool is easily mistaken. */
const DATA: ReadonlySet<string> = new Set(['tool.str', 'tool.list', 'tool.map', 'tool.math']);

/** Whether a tool is one of those groups, and has this name there. */
function hasLocal(candidate: string, local: string): boolean {
  const [group, own] = toolParts(candidate);
  return DATA.has(group) && own === local;
}

/** Whether two groups may be meant to be the same: one abbreviates the other, or they differ by one edit. */
function isAlike(left: string, right: string): boolean {
  return left.startsWith(right) || right.startsWith(left) || editDistance(left, right) < 2;
}

/** The pairs of characters that may still be compared for the unknown names of one program. */
export class Comparisons {
  left: number;

  /** `most`: by default some fifty milliseconds of work; with 0 nothing is looked up. */
  constructor(most = 8_000_000) {
    this.left = most;
  }
}

/** Looks up unknown names among candidates, each once: a program may repeat one misspelt name thousands of times. */
export class Suggestions {
  readonly #lookUp: (name: string, candidates: readonly string[]) => string | undefined;
  readonly #candidates: readonly string[];
  readonly #known = new Map<string, string | undefined>();
  readonly #characters: number;
  readonly #comparisons: Comparisons;

  constructor(
    candidates: readonly string[],
    lookUp: (name: string, candidates: readonly string[]) => string | undefined,
    comparisons = new Comparisons(),
  ) {
    this.#candidates = candidates;
    this.#lookUp = lookUp;
    this.#comparisons = comparisons;
    this.#characters = candidates.reduce((sum, { length }) => sum + Math.min(length, LONGEST), 0);
  }

  /** The name that is probably meant; undefined for all further names once too much was compared. */
  of(name: string): string | undefined {
    if (!this.#known.has(name) && this.#comparisons.left > 0) {
      this.#comparisons.left -= Math.min(name.length, LONGEST) * this.#characters;
      this.#known.set(name, this.#lookUp(name, this.#candidates));
    }
    return this.#known.get(name);
  }
}
