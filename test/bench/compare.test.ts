import { describe, expect, it } from 'vitest';
import { type Candidate, compare, type Engine, openAll, throughput } from '../../bench/compare.ts';
import { TURN, WORKLOADS } from '../../bench/workloads.ts';
import { SLOW } from '../groups.ts';

function engine(name: string, run: () => { value: unknown; ms: number }): Candidate & { readonly engine: Engine } {
  return { engine: { name, boundary: 'test', run: async () => run(), async [Symbol.asyncDispose]() {} } };
}

describe('comparing engines', () => {
  it('runs them interleaved, each round from another one on, and leaves out the warm-up', async () => {
    const order: string[] = [];
    const named = (name: string): Candidate => engine(name, () => ({ value: TURN.result, ms: order.push(name) }));
    const rows = await compare(TURN, [named('a'), named('b'), named('c')], 3, 1);
    expect(order.join('')).toBe('abcbcacababc');
    expect(rows.map(({ ms }) => ms?.samples)).toEqual([3, 3, 3]);
    expect(rows[0]?.ms).toMatchObject({ min: 6, median: 8, max: 10 });
  });

  it('gives the ratio to ours, which is the first one', async () => {
    const rows = await compare(
      TURN,
      [engine('ours', () => ({ value: 1, ms: 2 })), engine('peer', () => ({ value: 1, ms: 3 }))],
      2,
      0,
    );
    expect(rows.map(({ ratio }) => ratio)).toEqual([1, 1.5]);
  });

  it('gives no number for an engine with a wrong result, even if only once', async () => {
    let runs = 0;
    const wrong = engine('peer', () => ({ value: ++runs === 2 ? '1' : 1, ms: 1 }));
    const [, row] = await compare(TURN, [engine('ours', () => ({ value: 1, ms: 1 })), wrong], 3, 0);
    expect(row).toMatchObject({ ms: null, ratio: null, note: 'wrong result: 1 instead of 1' });
  });

  it('keeps a row for a peer that is not installed, and passes other failures on', async () => {
    const missing = async (): Promise<Engine> => {
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    };
    const candidates = await openAll({ ours: async () => engine('ours', () => ({ value: 1, ms: 1 })).engine, peer: missing });
    const rows = await compare(TURN, candidates, 1, 0);
    expect(rows[1]).toMatchObject({ engine: 'peer', ms: null, note: 'not installed' });
    await expect(openAll({ broken: () => Promise.reject(new Error('no memory')) })).rejects.toThrow('no memory');
  });

  it('counts finished runs per second over all lanes', SLOW, async () => {
    const most: number[] = [];
    for (const lanes of [1, 4]) {
      let running = 0;
      let finished = 0;
      let high = 0;
      const slow: Engine = {
        ...engine('slow', () => ({ value: 1, ms: 1 })).engine,
        async run() {
          high = Math.max(high, ++running);
          await new Promise((resolve) => setTimeout(resolve, 10));
          running--;
          finished++;
          return { value: 1, ms: 10 };
        },
      };
      const from = performance.now();
      const { perSecond } = await throughput(slow, TURN, lanes, 100);
      expect(perSecond).toBeGreaterThanOrEqual((finished / (performance.now() - from)) * 1000);
      most.push(high);
    }
    expect(most).toEqual([1, 4]);
  });
});

describe('workloads', () => {
  it('expected results are what plain arithmetic gives', () => {
    const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));
    let sum = 0;
    for (let i = 0; i < 1_000_000; i++) sum += i;
    expect(Object.fromEntries(WORKLOADS.map(({ name, result }) => [name, result]))).toEqual({
      loop: sum,
      'fib(25)': fib(25),
      append: 10_000 + 9_999,
      text: 'piece '.length * 20_000,
    });
  });
});
