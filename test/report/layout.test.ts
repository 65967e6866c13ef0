import { describe, expect, it } from 'vitest';
import { amount, grouped, paletteFor, plainPalette, quantity } from '../../src/report/index.ts';
import { section } from '../../src/report/layout.ts';
import { wrap } from '../../src/wire/text/printable.ts';
import { duration } from '../../src/wire/text/units.ts';

describe('issue 49: numbers have one form', () => {
  it.each([
    [amount('count', 100_000_000), '100,000,000'],
    [amount('ms', 14), '14 ms'],
    [amount('ms', 1501), '1,501 ms'],
    [amount('bytes', 8594), '8,594 B'],
    [amount('bytes', 65_950), '64.4 KB'],
    [quantity('count', 2_000_000), '2,000,000'],
    [quantity('bytes', 64 * 1024 ** 2), '64MB'],
    [grouped(999), '999'],
    [duration(90_000), '1.5 min'],
  ])('%s', (shown, form) => expect(shown).toBe(form));
});

describe('issue 49: lines are as wide as the terminal', () => {
  const at = (columns: number) => paletteFor({ isTTY: true, columns }, { NO_COLOR: '1' });

  it.each([
    [at(100), 100],
    [at(300), 120],
    [at(10), 40],
    [at(0), 80],
    [plainPalette, 80],
    [paletteFor({}, {}), 80],
  ])('%#', (palette, columns) => expect(section('out', palette)[1]).toHaveLength(columns));

  it('words are not broken unless one alone fills most of a line', () => {
    expect(wrap('one two threefourfivesix', 20)).toEqual(['one two', 'threefourfivesix']);
    expect(wrap(`a ${'b'.repeat(30)}`, 20)).toEqual([`a ${'b'.repeat(18)}`, 'b'.repeat(12)]);
  });
});
