import { expect, it } from 'vitest';
import { type Estimate, estimate, type Foreseen, foresee } from '../../../grammar/estimate/index.ts';
import { Tally } from '../../../grammar/estimate/tally.ts';
import { parse } from '../../../grammar/syntax/parse.ts';
import { BOUNDING_COSTS } from '../../../src/wire/costs.ts';

function foreseen(text: string): Foreseen & { readonly branches: number } {
  const result = parse(text, { name: 'f' });
  if (!result.ok) throw new Error(result.errors[0].message);
  const before = Tally.made;
  const found = foresee([{ file: result.file, text }], BOUNDING_COSTS, { globals: ['a'], events: ['e'] });
  return { ...found, branches: Tally.made - before };
}

const many = (count: number, statements: (index: number) => string): string =>
  `on event "e" do\n${Array.from({ length: count }, (_, index) => statements(index)).join('')}endon\n`;

/** Branches per call, whose number does not matter. */
const BRANCHES = 40;

it('finding 1: to follow calls of many different tools takes work in proportion to them, and their number stays known', () => {
  for (const count of [4000, 16_000]) {
    const { calls, branches } = foreseen(many(count, (index) => `call tool.a.B${index}()\n`));
    expect(calls).toHaveLength(count);
    expect(calls.every(({ most }) => most === 1)).toBe(true);
    expect(branches).toBeLessThan(BRANCHES * count);
  }
});

it('finding 1: a program that returns in many places after many calls is given up when that is too much work', () => {
  const { calls, branches } = foreseen(
    many(8000, (index) => `if a\ncall tool.a.B${index}()\nreturn\nendif\ncall tool.a.C${index}()\n`),
  );
  expect(calls).toHaveLength(16_000);
  expect(calls.every(({ most }) => most === null)).toBe(true);
  expect(branches).toBeLessThan(2_000_000);
});

/** The costs of `count` procedures each of which calls the next one so many times, and of a command that calls the first one. */
function costs(count: number, times: number): readonly Estimate[] {
  const calls = (next: number): string => `set a = ${next < count ? `p${next}(x)` : 'x + 1'}\n`.repeat(times);
  const procedures = Array.from({ length: count }, (_, at) => `func p${at}(needs x) means\n${calls(at + 1)}return a\nendfunc\n`);
  const files = [procedures.join(''), 'command\nemit p0(1)\nendcommand\n'].map((text, index) => {
    const result = parse(text, { name: `f${index}` });
    if (!result.ok) throw new Error(result.errors[0].message);
    return result.file;
  });
  return estimate(files, BOUNDING_COSTS);
}

it('a call that is made again is not followed again, so that the work suffices to know what its arguments are', () => {
  const [command] = costs(25, 2);
  expect(command).toMatchObject({ kind: 'command', least: 10 * 2 ** 25 - 8, because: null });
});

it('procedures that call each other deeply have a bound, in whatever order they stand', () => {
  const found = costs(600, 1).filter(({ kind }) => kind === 'procedure');
  expect(found).toHaveLength(600);
  expect(found.map(({ line }) => line)).toEqual(found.map((_, at) => 1 + 4 * at));
  expect(found.filter(({ because }) => because?.message === 'it is too large to follow')).toEqual([]);
});
