import { expect, it } from 'vitest';
import { brokenPromises, type PromiseUnit, promiseTable, ratio } from '../../bench/promises.ts';
import { summarize } from '../../bench/stats.ts';

it('issue 21, 3: a promise is about a ratio, a size or a count, never about a time', () => {
  const units: readonly PromiseUnit[] = ['x', 'MB', 'bytes', 'deep', 'runs', 'steps', '%'];
  expect(units).toHaveLength(7);
  // @ts-expect-error A time says as much about the machine as about the product.
  const times: readonly PromiseUnit[] = ['ms'];
  // @ts-expect-error So does a rate.
  const rates: readonly PromiseUnit[] = ['turns/s'];
  expect([...times, ...rates]).toHaveLength(2);
});

it('issue 21, 3: a ratio has the same verdict on a machine that is ten times as slow', () => {
  const times = (scale: number) => [2, 3, 4].map((ms) => ms * scale);
  const judgedAt = (machine: number, product: number) =>
    ratio('work', [summarize(times(machine * product)), summarize(times(machine))], 'ms', ['most', 1.5]);
  expect([judgedAt(1, 1.4).kept, judgedAt(10, 1.4).kept]).toEqual([true, true]);
  expect([judgedAt(1, 2.8).kept, judgedAt(10, 2.8).kept]).toEqual([false, false]);
  expect(judgedAt(10, 2.8).shown).toEqual({ ours: 56, yardstick: 20, unit: 'ms' });
});

it('issue 21, 3: runs that other work of the machine lengthened do not change a ratio', () => {
  const quiet = Array.from({ length: 20 }, () => 1);
  const disturbed = quiet.map((ms, index) => (index % 3 === 0 ? ms : 40));
  expect(ratio('work', [summarize(disturbed), summarize(quiet)], 'ms', ['most', 1.1]).measured).toBe(1);
});

it('the times of a ratio are shown, and a broken promise names its ratio alone', () => {
  const row = ratio('work by the bare work', [summarize([6]), summarize([2])], 'ms', ['most', 2.5]);
  expect(promiseTable([row]).cells).toEqual([['work by the bare work', '3.00 x', '≤ 2.5 x', '6.00 by 2.00 ms', '1', 'BROKEN']]);
  expect(brokenPromises([row])).toEqual(['work by the bare work: 3.00 x, at most 2.5 x is promised']);
});

it('a promise without its yardstick is not measured', () => {
  expect(ratio('work', [summarize([6]), null], 'ms', ['most', 1]).kept).toBeNull();
  expect(ratio('work', [null, summarize([6])], 'ms', ['most', 1]).kept).toBeNull();
});
