/** Searches of other languages in a list, as loops before the statement. */
import { type Scope, Unclear } from './scope.ts';
import type { Value } from './values.ts';

/** What a search looks for: any item, all of them, the item itself, or its place. */
export type Search = 'any' | 'all' | 'item';

export const SEARCHES: Readonly<Record<string, Search>> = { some: 'any', every: 'all', find: 'item' };

export interface Searched {
  /** The variables of the loop. */
  readonly names: string;
  readonly of: string;
  /** What must hold of an item. */
  readonly cond: string;
  readonly item: string;
}

/** The result of a search, whose loop stands before the statement. */
export function searched(scope: Scope, search: Search, { names, of, cond, item }: Searched, s: number, e: number): Value {
  if (scope.before === null) throw new Unclear();
  const name = `_found${scope.before.length === 0 ? '' : scope.before.length}`;
  const [begins, ends] = search === 'item' ? ['nil', item] : search === 'any' ? ['false', 'true'] : ['true', 'false'];
  const test = search === 'all' ? `not (${cond})` : cond;
  scope.before.push(`set ${name} = ${begins}`, `for each ${names} in ${of}`, `  if ${test}`);
  scope.before.push(`    set ${name} = ${ends}`, '    break', '  endif', 'endfor');
  return { text: name, kind: search === 'item' ? 'unknown' : 'truth', s, e };
}
