import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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
  /** The first program that shows it. */
  readonly shownBy: number;
}

export const PLANTED: readonly Planted[] = [
  {
    what: 'a tool sets no variable',
    file: 'expressions.ts',
    from: 'if (!this.#session.keeping.has(name)) this.state = State.any;',
    to: '',
    shownBy: 68,
  },
  {
    what: 'a tool in a loop sets no variable of earlier passes',
    file: 'loops.ts',
    from: 'if (any) return State.any;',
    to: '',
    shownBy: 245,
  },
  {
    what: 'the remaining passes of a loop are one pass',
    file: 'loops.ts',
    from: 'const spent = repeated(next ?? FREE, count.most);',
    to: 'const spent = repeated(next ?? FREE, Math.min(0, count.most));',
    shownBy: 85,
  },
  {
    what: 'a `while` has one pass',
    file: 'loops.ts',
    from: 'const others = next === undefined ? FREE : repeated(next, Number.POSITIVE_INFINITY);',
    to: 'const others = FREE;',
    shownBy: 46,
  },
  {
    what: 'of two branches, the first one counts',
    file: 'tally.ts',
    from: 'this.#combined(other, Math.max, true)',
    to: 'this.#combined(other, (a) => a, true)',
    shownBy: 11,
  },
  {
    what: 'where two ways meet, a value is that of the first one',
    file: 'values.ts',
    from: 'if (a.known !== undefined && Object.is(a.known, b.known)) return { known: a.known };',
    to: 'if (a.known !== undefined) return { known: a.known };',
    shownBy: 11,
  },
  {
    what: 'a statement that fails has called nothing',
    file: 'statements.ts',
    from: 'return { ...end, state: start.state,',
    to: 'return { ...start, state: start.state,',
    shownBy: 292,
  },
  {
    what: 'a procedure that calls itself calls nothing else',
    file: 'estimate.ts',
    from: 'const calls = session.reach.of(defined);',
    to: 'const { calls } = FREE;',
    shownBy: 1140,
  },
  {
    what: 'the difference of two ranges has their bounds the wrong way round',
    file: 'operators.ts',
    from: 'numberWithin(left.min - right.max, left.max - right.min)',
    to: 'numberWithin(left.min - right.min, left.max - right.max)',
    shownBy: 506,
  },
  {
    what: 'the item of a pass is that of the next one',
    file: 'loops.ts',
    from: 'item: elementAt(over, knownNumber(index))',
    to: 'item: elementAt(over, knownNumber(index + 1))',
    shownBy: 5,
  },
  {
    what: 'the right side of `and` is not evaluated after a known left side',
    file: 'expressions.ts',
    from: "if (decided === (op === 'or') && !may(left, OTHER))",
    to: 'if (decided !== undefined && !may(left, OTHER))',
    shownBy: 133,
  },
  {
    what: 'an item that is set takes the place of the next one',
    file: 'values.ts',
    from: 'items.toSpliced(known, 1, value)',
    to: 'items.toSpliced(known + 1, 1, value)',
    shownBy: 282,
  },
  {
    what: 'a handler whose event has an unknown name never runs',
    file: 'foresee.ts',
    from: 'name === undefined || one === name',
    to: 'one === name',
    shownBy: 113,
  },
  {
    what: 'a row for further calls keeps the arguments of the first one',
    file: 'calls.ts',
    from: 'const args = call === null ? row.args : joined(row.args, call.args);',
    to: 'const args = call === null ? row.args : row.args;',
    shownBy: 11,
  },
  {
    what: 'of two ways, the calls of the first one are certain',
    file: 'state.ts',
    from: 'certain: a.certain.both(b.certain),',
    to: 'certain: a.certain,',
    shownBy: 42,
  },
  {
    what: 'a statement that fails has made its calls for certain',
    file: 'statements.ts',
    from: 'least, certain: start.certain };',
    to: 'least };',
    shownBy: 123,
  },
  {
    what: 'where two ways meet, an answer is that of the first one',
    file: 'values.ts',
    from: 'answer !== undefined && isAnswer(other, answer) ? { answer } : {}',
    to: 'answer !== undefined ? { answer } : {}',
    shownBy: 1492,
  },
  {
    what: 'a part of an answer is the whole of it',
    file: 'values.ts',
    from: "{ ...element, answer: { ...answer, part: 'item' } }",
    to: '{ ...element, answer }',
    shownBy: 621,
  },
];

const GRAMMAR = join(import.meta.dirname, '../../grammar');

/** The analysis with a planted error, and what removes it. Node resolves the links, so the rest of the grammar is loaded once for all. */
export async function planted({ file, from, to }: Planted): Promise<{ readonly analysis: Analysis } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'planted-'));
  for (const name of await readdir(GRAMMAR)) if (name !== 'estimate') await symlink(join(GRAMMAR, name), join(directory, name));
  await cp(join(GRAMMAR, 'estimate'), join(directory, 'estimate'), { recursive: true });
  const path = join(directory, 'estimate', file);
  const text = await readFile(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} has not once: ${from}`);
  await writeFile(path, text.replace(from, to));
  const { foresee }: { foresee: Analysis } = await import(pathToFileURL(join(directory, 'estimate/foresee.ts')).href);
  return { analysis: foresee, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

/** Whether what the program of a seed does was not foreseen. */
export function escapes(seed: number, analysis?: Analysis): boolean {
  const found = tally();
  examine(seed, found, analysis);
  return found.escapes.length > 0;
}
