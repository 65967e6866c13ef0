import { describe, expect, it } from 'vitest';
import type { LimitOptions } from '../../src/sandbox/limits.ts';
import { DATA_FUEL } from '../../src/wire/costs.ts';
import { Random } from '../fuzz/random.ts';
import { drive } from '../guest/driver.ts';
import { value } from './call.ts';

const PIECES = 1200;
const TEXT = Array.from({ length: PIECES }, (_, at) => 'x'.repeat(at % 20)).join(',');
const run = (expression: string, globals: Readonly<Record<string, string | readonly string[]>>, limits: LimitOptions = {}) =>
  drive(`command\nset l = ${expression}\nendcommand\n`, { pure: true, globals, limits });
const pieces = (limits: LimitOptions = {}) => run('tool.str.Split(t, ",")', { t: TEXT }, limits);

/** Texts, of which most cost fuel when they are compared. */
function longTexts(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => 'a'.repeat(64 * random.int(3)) + String.fromCharCode(0x61 + random.int(26)));
}

describe('tools that pay for many items together (issue 21)', () => {
  it('end a run at the very piece that a limit does not allow', () => {
    const { fuel, peakMemoryBytes } = pieces();
    for (let left = fuel - 1; left > fuel - 1.4 * PIECES; left -= 37) {
      const { error } = pieces({ fuel: left });
      expect([error?.limit, error?.used]).toEqual(['fuel', left + 1]);
    }
    for (let allowed = peakMemoryBytes - 100; allowed > peakMemoryBytes / 2; allowed -= 3001) {
      const { error } = pieces({ memoryBytes: allowed });
      expect(error?.limit).toBe('memoryBytes');
      // A piece has at most 40 + 2 × 19 bytes, and its place 32.
      expect((error?.used ?? 0) - allowed).toBeLessThanOrEqual(78);
    }
    for (const listLength of [1, 255, 256, 257, 1000]) {
      const { error } = pieces({ listLength });
      expect([error?.limit, error?.used]).toEqual(['listLength', listLength + 1]);
    }
  });

  it('split at short and long pieces', () => {
    const random = new Random(23);
    for (let round = 0; round < 50; round++) {
      const wanted = [',', 'ab', 'aaa', '12345678', '123456789'][round % 5] ?? '';
      const parts = Array.from({ length: random.int(900) }, () => 'ab'.repeat(random.int(9) === 0 ? 40 : random.int(4)));
      const text = parts.join(wanted);
      expect(value('tool.str.Split', text, wanted)).toEqual(text.split(wanted));
    }
  });

  it('sort long texts at the fuel of their comparisons, and short ones at none', () => {
    const random = new Random(24);
    for (const count of [2, 4, 5, 30, 200]) {
      const texts = longTexts(random, count);
      let units = 0;
      const ordered = [...texts].sort((a, b) => {
        units += Math.floor(Math.min(a.length, b.length) / DATA_FUEL.compare.amount);
        return a < b ? -1 : Number(a > b);
      });
      expect(value('tool.list.Sort', texts)).toEqual(ordered);
      const fuel = (t: readonly string[]) => run('tool.list.Sort(t)', { t }).fuel - run('tool.list.Length(t)', { t }).fuel;
      expect(fuel(texts) - fuel(texts.map((text) => text.slice(-1)))).toBe(units);
    }
  });

  it('sort texts that occur again and again, be they few or many', () => {
    const random = new Random(25);
    for (const different of [1, 2, 255, 256, 257, 400]) {
      const texts = Array.from({ length: 2000 }, () => String.fromCharCode(0xe000 + random.int(different)));
      expect(value('tool.list.Sort', texts)).toEqual(texts.toSorted());
      // By code points, a pair comes after the last character of one unit.
      const after = ['😀', ...texts, '😀', '\uffff'];
      expect(value('tool.list.Sort', after)).toEqual([...texts.toSorted(), '\uffff', '😀', '😀']);
      const length = 'x'.repeat(64);
      expect(value('tool.list.Sort', [length, ...texts, 'x'])).toEqual(['x', length, ...texts.toSorted()]);
      expect(value('tool.list.Sort', [...texts, 1])).toBe('NS7');
    }
  });
});
