// @module-tag slow
import { expect, it } from 'vitest';
import { benchLoop, renderLoop } from '../../bench/loop.ts';

it('bench loop measures every way to keep a turn beside the bare work, and every turn goes on', async () => {
  const found = await benchLoop(true);
  expect(found.rows.map(({ keeps }) => keeps)).toEqual([
    'nothing but bare work',
    'memory',
    'SQLite',
    'SQLite, log',
    'SQLite, log, power may fail',
  ]);
  for (const { ms } of found.rows) expect(ms?.samples).toBe(60);
  expect(found.promises.map(({ unit, target, samples }) => [unit, target, samples])).toEqual([
    ['x', 6, 60],
    ['x', 6, 60],
  ]);
  expect(renderLoop(found)).toContain('power may fail');
});
