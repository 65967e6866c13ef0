import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { format } from '../../../grammar/format/index.ts';
import { parse } from '../../../grammar/index.ts';
import { cpuMs } from '../../cost.ts';
import { SLOW } from '../../groups.ts';
import { expectEqual, meaning } from '../help.ts';
import { corpus } from '../lint/corpus.ts';
import { programs } from '../lint/programs.ts';

function meaningOf(source: string, result = parse(source, { name: 'test.ns' })): unknown {
  if (!result.ok) throw new Error(`${result.errors[0].line}: ${result.errors[0].message}\n${source}`);
  return meaning(result.file);
}

const comments = (source: string): readonly string[] => [...source.matchAll(/#\d+#/g)].map(([mark]) => mark);

/** Checks that formatting keeps the meaning and all comments, and that formatting again changes nothing. */
function keeps(source: string, tree = parse(source, { name: 'test.ns' })): string {
  const first = format(source, { name: 'test.ns' });
  if (!first.ok) throw new Error(first.errors[0].message);
  expectEqual(meaningOf(first.text), meaningOf(source, tree));
  expect(format(first.text, { name: 'test.ns' })).toEqual(first);
  expect([...comments(first.text)].sort()).toEqual([...comments(source)].sort());
  expect(first.text).toMatch(/^(?:$|[^\n])(?:[\s\S]*[^\n]\n)?$/);
  return first.text;
}

describe('the formatter keeps meaning and comments, and is idempotent', () => {
  it('for every program of the conformance suite', () => {
    expect(corpus.length).toBeGreaterThan(400);
    for (const { source } of corpus) keeps(source);
  });

  /** The same tokens with other blanks, line ends, comments and continuations between them. */
  const mangled = (source: string, seed: readonly number[]): string => {
    let depth = 0;
    let next = 0;
    let marks = 0;
    const at = (choices: number): number => (seed[next++ % seed.length] ?? 0) % choices;
    return source
      .split('\n')
      .map((line) => {
        const pieces = line.match(/"(?:\\.|[^"\\])*"|```[\s\S]*?```|[A-Za-z_0-9.]+|[=!<>]=|\*\*|\S/g) ?? [];
        const text = pieces.map((piece, index) => {
          if (/^[([{]$/.test(piece)) depth++;
          if (/^[)\]}]$/.test(piece)) depth--;
          const before = index === 0 ? ['', ' ', '\t  '][at(3)] : ' ';
          const inside = [' ', '\n', ` #${++marks}#\n`, `\n  #${++marks}#\n`, ' ', '  '][at(6)];
          const outside = [' ', '   ', ' \\\n', ' '][at(4)];
          return (before ?? '') + piece + (index === pieces.length - 1 ? '' : ((depth > 0 ? inside : outside) ?? ''));
        });
        return text.join('') + (['', ` #${++marks}#`, '\n\n', `\n#${++marks}#`][at(4)] ?? '');
      })
      .join('\n');
  };

  it('for random programs in random layouts', () => {
    const seeds = fc.array(fc.nat(1000), { minLength: 20, maxLength: 60 });
    let seen = 0;
    fc.assert(
      fc.property(programs, seeds, ({ library, commands }, seed) => {
        for (const source of [library, commands]) {
          const tree = parse(source, { name: 'test.ns' });
          if (!tree.ok) continue;
          const text = keeps(source, tree);
          const other = mangled(source, seed);
          const otherTree = parse(other, { name: 'test.ns' });
          if (!otherTree.ok) continue;
          seen++;
          expect(keeps(other, otherTree).length).toBeGreaterThanOrEqual(text.length / 4);
        }
      }),
      { numRuns: 400 },
    );
    expect(seen).toBeGreaterThan(300);
  });

  it.each([
    'emit {{x} # 1\n}',
    'emit [\n\n\n# 1\n\n]',
    'emit f(\n# 1\n)',
    'emit m[ # 1\n 0 # 2\n]',
    'emit [[[1, # 1\n]]]',
    "emit ['''\n\n''', 1]",
    'emit ```{{ [1, # no comment here }} {{}} ```',
    'emit "a\\\nb" + \\\n 1',
    'emit f({"a": [\n1]}, # 1\n[2])',
  ])('%j', (line) => {
    const source = `command\n${line}\nendcommand\n`;
    if (parse(source, { name: 'x' }).ok) keeps(source);
    else expect(format(source, { name: 'x' }).ok).toBe(false);
  });
});

describe('the formatter takes linear time', () => {
  it.each([
    ['lines', (n: number) => `command\n${'emit [1,  2] # c\n'.repeat(n)}endcommand\n`],
    ['one list', (n: number) => `command\nemit [${'1, '.repeat(4 * n)}]\nendcommand\n`],
    ['one sum', (n: number) => `command\nemit 1${' + f(1)'.repeat(n)}\nendcommand\n`],
    ['one sum in brackets', (n: number) => `command\nemit (1${' + f(1, [2])'.repeat(n)})\nendcommand\n`],
    ['comments in a list', (n: number) => `command\nemit [${'1, # c\n'.repeat(n)}]\nendcommand\n`],
  ])('%s', SLOW, (_what, make) => {
    const time = (n: number, rounds: number, enough?: number): number => {
      const source = make(n);
      return cpuMs(() => expect(format(source, { name: 'x' }).ok).toBe(true), rounds, enough);
    };
    time(500, 1);
    const most = 30 * Math.max(5, time(1_000, 3));
    expect(time(10_000, 3, most)).toBeLessThan(most);
  });
});
