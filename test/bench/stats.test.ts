import { describe, expect, it } from 'vitest';
import { summarize } from '../../bench/stats.ts';
import { short, spread, table } from '../../bench/table.ts';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => n - index);

describe('summaries', () => {
  it('percentiles are nearest-rank, as in the textbook example', () => {
    // 15 20 35 40 50: 30th → 20, 40th → 20, 50th → 35, 100th → 50
    expect(summarize([35, 20, 15, 50, 40])).toMatchObject({ samples: 5, min: 15, q1: 20, median: 35, q3: 40, max: 50 });
    expect(summarize(upTo(200))).toMatchObject({ q1: 50, median: 100, q3: 150, p95: 190, p99: 198, max: 200 });
  });

  it('gives no p99 below 100 samples and no p95 below 20', () => {
    expect(summarize(upTo(99))).toMatchObject({ p99: null, p95: 95 });
    expect(summarize(upTo(100))).toMatchObject({ p99: 99 });
    expect(summarize(upTo(19))?.p95).toBeNull();
    expect(summarize(upTo(20))?.p95).toBe(19);
  });

  it('says nothing of an empty series', () => {
    expect(summarize([])).toBeNull();
  });
});

describe('tables', () => {
  it('sets the first column to the left and numbers to the right', () => {
    expect(
      table(
        ['a', 'ms'],
        [
          ['long name', '1.00'],
          ['b', '12.34'],
        ],
      ),
    ).toBe(['a             ms', '---------  -----', 'long name   1.00', 'b          12.34'].join('\n'));
  });

  it('shortens numbers to what was measured', () => {
    expect([0.01234, 0, 7.25678, 99.999, 123.4, null].map(short)).toEqual(['0.012', '0.00', '7.26', '100.00', '123', '-']);
    expect(spread(summarize([1, 2, 3, 4]))).toBe('1.00–3.00');
  });
});
