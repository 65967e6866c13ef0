import { describe, expect, it } from 'vitest';
import { benchLoop, loopFailures, renderLoop } from '../../bench/loop.ts';
import { summarize } from '../../bench/stats.ts';

describe('bench loop', () => {
  it('measures every way to keep a turn, and every turn goes on', async () => {
    const rows = await benchLoop(true);
    expect(rows.map(({ keeps, target }) => [keeps, target])).toEqual([
      ['memory', null],
      ['SQLite', 0.8],
      ['SQLite, log', 0.8],
      ['SQLite, log, power may fail', null],
    ]);
    for (const { ms } of rows) expect(ms?.samples).toBe(60);
    expect(renderLoop(rows)).toContain('power may fail');
  });

  it('a promise that is broken is said so, by median', () => {
    const row = (values: readonly number[], target: number | null) => ({ keeps: 'x', ms: summarize(values), target });
    expect(loopFailures([row([0.7, 0.8, 9], 0.8), row([9], null)], 1)).toEqual([]);
    expect(loopFailures([row([0.7, 0.9, 0.9], 0.8)], 1)).toEqual(['x: 0.90 ms a turn, at most 0.80 are promised']);
  });
});
