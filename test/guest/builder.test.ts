import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { TextBuilder } from '../../src/guest/builder.ts';
import type { Meter } from '../../src/guest/meter.ts';
import { WORK } from '../../src/guest/work.ts';
import { SLOW } from '../groups.ts';

const MB = 1024 * 1024;
/** A meter that nothing is too much for. */
const ENDLESS = new Proxy({} as Meter, { get: () => () => {} });

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function usedBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

describe('a text built from slices', () => {
  it.each([1, 12, 13, 1000, 1024, 1025, 5000])('of %i units keeps none of the whole texts alive', SLOW, (units) => {
    const before = usedBytes();
    const built: string[] = [];
    for (let count = 0; count < 30; count++) {
      const whole = 'y'.repeat(MB) + count;
      const text = new TextBuilder(ENDLESS, WORK.concat, 'text');
      text.addSlice(whole, MB - units, MB);
      built.push(text.finish());
    }
    expect(usedBytes() - before).toBeLessThan(10 * MB);
    expect(built).toEqual(Array(30).fill('y'.repeat(units)));
  });

  it('is what the slices are, also the empty ones', () => {
    const text = new TextBuilder(ENDLESS, WORK.concat, 'text');
    for (const [start, end] of [
      [0, 2],
      [2, 2],
      [5, 3],
      [1, 4],
    ] as const)
      text.addSlice('abcdef', start, end);
    expect(text.finish()).toBe('abbcd');
  });
});
