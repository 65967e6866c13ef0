import { describe, expect, it } from 'vitest';
import { type Build, compareBuilds, slowerWorkloads } from '../../bench/builds.ts';
import { FLOOR } from '../../bench/names.ts';
import { medianBound } from '../../bench/stats.ts';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => n - index);

/** A build whose times grow with every round, because the machine gets slower and slower. */
function build(share: number, order: string[] = [], name = '', workloads: readonly string[] = ['loop']): Build {
  let round = 0;
  return {
    measure: () => {
      order.push(name);
      round += 1;
      return Promise.resolve(new Map(workloads.map((workload) => [workload, share * round])));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

describe('two builds', () => {
  it('are measured in alternating order, and compared round by round', async () => {
    const order: string[] = [];
    const rows = await compareBuilds(build(3, order, 'ours'), build(2, order, 'theirs'), 5);
    expect(rows).toEqual([{ workload: 'loop', rounds: 5, ratio: 1.5, bound: 1.5 }]);
    expect(order.slice(0, 6)).toEqual(['ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs']);
  });

  it('are compared in the workloads that both of them have', async () => {
    const rows = await compareBuilds(build(3, [], '', ['loop', 'new']), build(2, [], '', ['old', 'loop']), 5);
    expect(rows.map(({ workload }) => workload)).toEqual(['loop']);
  });

  it('fail the comparison when the bound of a ratio lies above 1.05', () => {
    const row = { workload: 'loop', rounds: 30, ratio: 1 };
    expect(slowerWorkloads([{ ...row, bound: 1.05 }])).toEqual([]);
    expect(slowerWorkloads([{ ...row, bound: 1.051 }])).toHaveLength(1);
    expect(slowerWorkloads([{ ...row, bound: Number.NaN }])).toHaveLength(1);
    expect(slowerWorkloads([{ ...row, workload: `${FLOOR}: loop`, bound: 2 }])).toEqual([]);
  });
});

it('the bound of a median is the rank of the one-sided sign test', () => {
  // From tables of the binomial distribution with p = 1/2, as 95 % bounds of a median.
  expect([5, 6, 10, 30, 100].map((n) => medianBound(upTo(n)))).toEqual([5, 6, 9, 20, 59]);
  expect(medianBound(upTo(4))).toBe(Number.POSITIVE_INFINITY);
});
