/** The rule of all fixes: none leaves a program with more errors than it had. */
import { errorsOf } from '../lint/analyse.ts';
import type { LintCode } from '../lint/codes.ts';
import type { Environment, Fix } from '../lint/finding.ts';
import { parse } from '../syntax/parse.ts';
import { withEdits } from './apply.ts';

/** Most characters that are read again to try fixes of one text alone, or one after the other: some tenths of a second of work. */
const MOST_READ = 500_000;

/** Number of fixes of a text that can be tried alone. */
export function mostTried({ length }: string): number {
  return Math.floor(MOST_READ / Math.max(1, length));
}

/**
 * Those of the fixes of a text after which it has no more errors than before: after each alone, after the safe ones and after all. Fixes that
 * are only right together become one, that of the first. `environment` is what the check of the text knew.
 */
export function harmless<Found>(text: string, fixes: ReadonlyMap<Found, Fix>, environment: Environment): ReadonlyMap<Found, Fix> {
  if (fixes.size === 0) return fixes;
  const known = new KnownNames(text);
  const before = errorsIn(text, known, environment);
  const tried = new Map<string, boolean>();
  const holds = (some: readonly Fix[]): boolean => {
    const edited = withEdits(
      text,
      some.flatMap(({ edits }) => edits),
    );
    const found = tried.get(edited) ?? errorsIn(edited, known, environment) <= before;
    tried.set(edited, found);
    return found;
  };
  const all = [...fixes];
  const each = all.length <= mostTried(text);
  const [alone, others] = each ? parted(all, ([, fix]) => holds([fix])) : [[], all];
  const [safe, guessed] = parted(others, ([, fix]) => fix.safe === true);
  const [together, wrong] = parted([...joined(safe), ...joined(guessed)], ([, fix]) => holds([fix]));
  const isFine = (some: readonly (readonly [Found, Fix])[]): boolean =>
    holds(some.map(([, fix]) => fix)) && holds(some.flatMap(([, fix]) => (fix.safe === true ? [fix] : [])));
  for (const joint of [wrong.length > 0 ? joined(all) : [], [...alone, ...together]])
    if (joint.length > 0 && isFine(joint)) return new Map(joint);
  // Fixes that do not fit together: the earlier ones are kept.
  const kept: (readonly [Found, Fix])[] = [];
  for (const one of alone) if (tried.size < 2 * mostTried(text) && isFine([...kept, one])) kept.push(one);
  return new Map(kept);
}

function parted<T>(all: readonly T[], holds: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  const { true: yes = [], false: no = [] } = Object.groupBy(all, (one) => `${holds(one)}` as const);
  return [yes, no];
}

/** All of these as one fix of the first, safe if all are; none for none. */
function joined<Found>(all: readonly (readonly [Found, Fix])[]): readonly (readonly [Found, Fix])[] {
  const [first] = all;
  if (first === undefined) return [];
  const [found, { message }] = first;
  const fix = { message, edits: all.flatMap(([, { edits }]) => edits) };
  return [[found, all.every(([, { safe }]) => safe === true) ? { ...fix, safe: true } : fix]];
}

/** Findings about a name that stands in a text. Those of a text that does not parse cannot be seen. */
const UNKNOWN: ReadonlySet<LintCode> = new Set(['LINT_UNKNOWN_PROCEDURE', 'LINT_UNKNOWN_TOOL']);

/** The names that stand in a text. */
class KnownNames {
  readonly #text: string;
  readonly #known = new Map<string, boolean>();

  constructor(text: string) {
    this.#text = text;
  }

  has(name: string): boolean {
    const known = this.#known.get(name) ?? this.#text.includes(name);
    this.#known.set(name, known);
    return known;
  }
}

/** The syntax errors of a text, or the errors that the linter finds; without those about names that the original has, too. */
function errorsIn(text: string, original: KnownNames, environment: Environment): number {
  const result = parse(text, { name: '' });
  if (!result.ok) return result.errors.length;
  return errorsOf({ file: result.file, text: result.text }, environment).filter(
    ({ code, s, e }) => !UNKNOWN.has(code) || !original.has(result.text.slice(s, e)),
  ).length;
}
