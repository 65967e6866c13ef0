import { expect, it } from 'vitest';
import { allowance, pace } from '../../bench/pace.ts';
import { judged } from '../../bench/promises.ts';

it('a machine that is half as fast keeps a promise of time with twice the time, and of a rate with half of it', () => {
  const most = (unit: 'ms' | 'x', measured: number, at: number) =>
    judged('work', measured, { unit, bound: 'most', target: 1 }, 1, at).kept;
  expect([most('ms', 1.9, 1), most('ms', 1.9, 2), most('ms', 2.1, 2)]).toEqual([false, true, false]);
  const least = judged('work', 160, { unit: 'turns/s', bound: 'least', target: 300 }, 1, 2);
  expect([least.allowed, least.kept]).toEqual([150, true]);
});

it('ratios and counts are the same on every machine', () => {
  expect(['x', 'runs', 'MB', 'bytes', 'ratio', '%'].map((unit) => allowance(unit, 7, 3))).toEqual(Array(6).fill(7));
});

it('no machine makes a promise stricter than it is written', () => {
  expect(pace()).toBeGreaterThanOrEqual(1);
});
