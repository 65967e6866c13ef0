import { expect, it } from 'vitest';
import { type Foreseen, foresee } from '../../../grammar/estimate/index.ts';
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
