import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Analysis, examine, tally } from './harness.ts';

/** An error in the analysis that makes it unsound: the file, what stands there, and what takes its place. */
export interface Planted {
  readonly what: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const PLANTED: readonly Planted[] = [
  {
    what: 'a tool sets no variable',
    file: 'expressions.ts',
    from: 'if (!this.#session.keeping.has(name)) this.state = State.any;',
    to: '',
  },
  {
    what: 'a tool in a loop sets no variable of earlier passes',
    file: 'statements.ts',
    from: 'if (any) return State.any;',
    to: '',
  },
  {
    what: 'the remaining passes of a loop are one pass',
    file: 'statements.ts',
    from: 'const spent = repeated(next ?? FREE, count.most);',
    to: 'const spent = repeated(next ?? FREE, Math.min(0, count.most));',
  },
  {
    what: 'a `while` has one pass',
    file: 'statements.ts',
    from: 'const others = next === undefined ? FREE : repeated(next, Number.POSITIVE_INFINITY);',
    to: 'const others = FREE;',
  },
  {
    what: 'of two branches, the first one counts',
    file: 'tally.ts',
    from: 'this.#with(other, Math.max, true)',
    to: 'this.#with(other, (a) => a, true)',
  },
  {
    what: 'where two ways meet, a value is that of the first one',
    file: 'values.ts',
    from: 'if (a.known !== undefined && Object.is(a.known, b.known)) return { known: a.known };',
    to: 'if (a.known !== undefined) return { known: a.known };',
  },
  {
    what: 'a statement that fails has called nothing',
    file: 'statements.ts',
    from: 'return { ...end, state: start.state,',
    to: 'return { ...start, state: start.state,',
  },
  {
    what: 'a procedure that calls itself calls nothing else',
    file: 'estimate.ts',
    from: 'const calls = session.reach.of(defined);',
    to: 'const { calls } = FREE;',
  },
  {
    what: 'the difference of two ranges has their bounds the wrong way round',
    file: 'operators.ts',
    from: 'numberWithin(left.min - right.max, left.max - right.min)',
    to: 'numberWithin(left.min - right.min, left.max - right.max)',
  },
  {
    what: 'what holds in the first pass of a loop holds in all',
    file: 'statements.ts',
    from: '[...names].every((name) => isWithin(next.get(name), state.get(name)))',
    to: 'names.size > 0',
  },
  {
    what: 'a value that is one of several is true if the first one is',
    file: 'values.ts',
    from: 'return others.every(',
    to: 'return others.slice(9).every(',
  },
  {
    what: 'an item that is set takes the place of the next one',
    file: 'expressions.ts',
    from: 'items.toSpliced(known, 1, value)',
    to: 'items.toSpliced(known + 1, 1, value)',
  },
  {
    what: 'a handler whose event has an unknown name never runs',
    file: 'foresee.ts',
    from: 'name === undefined || one === name',
    to: 'one === name',
  },
  {
    what: 'a row for further calls keeps the arguments of the first one',
    file: 'calls.ts',
    from: 'const args = call === null ? row.args : joined(row.args, call.args);',
    to: 'const args = call === null ? row.args : row.args;',
  },
];

/** The first program that shows a planted error; null when none of so many does. */
export async function firstEscape({ file, from, to }: Planted, programs: number): Promise<number | null> {
  const directory = await mkdtemp(join(tmpdir(), 'planted-'));
  try {
    await cp(join(import.meta.dirname, '../../grammar'), directory, { recursive: true });
    const path = join(directory, 'estimate', file);
    const text = await readFile(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${file} has not once: ${from}`);
    await writeFile(path, text.replace(from, to));
    const { foresee }: { foresee: Analysis } = await import(pathToFileURL(join(directory, 'estimate/foresee.ts')).href);
    const found = tally();
    for (let index = 0; index < programs; index++) {
      examine(index, found, foresee);
      if (found.escapes.length > 0) return index;
    }
    return null;
  } finally {
    await rm(directory, { recursive: true });
  }
}
