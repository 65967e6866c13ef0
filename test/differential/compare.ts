/** Runs cases through both interpreters and describes the disagreements. */

import type { Outcome } from '../../conformance/language/interpreter/run.ts';
import { actual, difference, expected, LIMITS, treeOf } from './both.ts';
import { type Case, programOf, tightLimits } from './cases.ts';
import type { Tree } from './guest.ts';
import { shrink } from './shrink.ts';

/** A case on which the two disagree. */
export interface Disagreement extends Case {
  readonly seed: number;
  readonly index: number;
  readonly what: string;
}

export interface Tally {
  /** Programs that ran; each runs twice, under wide and under tight limits. */
  programs: number;
  /** Programs that do not parse. The generator makes none. */
  refused: number;
  /** How many runs ended with each code; `ok` for those without an error. */
  readonly ends: Map<string, number>;
  readonly disagreements: Disagreement[];
}

export function tally(): Tally {
  return { programs: 0, refused: 0, ends: new Map(), disagreements: [] };
}

/** Compares one program of a seed, and adds what it did. */
export function compare(seed: number, index: number, into: Tally): void {
  const program = programOf(seed, index);
  const tree = treeOf(program);
  if (tree === null) {
    into.refused++;
    return;
  }
  into.programs++;
  const wide = check({ program, limits: LIMITS }, tree, seed, index, into);
  if (wide !== undefined) check({ program, limits: tightLimits(seed, index, program, wide) }, tree, seed, index, into);
}

function check(one: Case, tree: Tree, seed: number, index: number, into: Tally): Outcome | undefined {
  const wanted = expected(tree, one.program, one.limits);
  const what = disagreement(one, tree, wanted);
  const end = wanted.error?.code ?? 'ok';
  into.ends.set(end, (into.ends.get(end) ?? 0) + 1);
  if (what === undefined) return wanted;
  into.disagreements.push({ ...one, seed, index, what });
  return undefined;
}

function disagreement({ program, limits }: Case, tree: Tree, wanted: Outcome): string | undefined {
  try {
    return difference(wanted, actual(tree, program, limits));
  } catch (error) {
    return `failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

/** The case with the shortest program that disagrees in the same point. */
export function shortest(found: Disagreement): Disagreement {
  const point = found.what.split(':', 1)[0];
  const differs = (source: string): string | undefined => {
    const program = { ...found.program, source, call: /^func main\b/m.test(source) ? found.program.call : null };
    const tree = treeOf(program);
    return tree === null ? undefined : disagreement({ ...found, program }, tree, expected(tree, program, found.limits));
  };
  // The texts of messages are not part of the language.
  const source = shrink(
    found.program.source,
    (text) => !/system_error(?!\.[cnls])/.test(text) && differs(text)?.split(':', 1)[0] === point,
  );
  return { ...found, program: { ...found.program, source }, what: differs(source) ?? found.what };
}
