// @module-tag slow
import { describe, expect, it } from 'vitest';
import { benchStores, clusterFailures, sqliteEngine, turnsHere } from '../../bench/cluster.ts';

describe('bench cluster (issue 20)', () => {
  it('a claim, a commit and a search for work cost about the same beside 100 and 10,000 sessions', async () => {
    const rows = await benchStores([sqliteEngine], [100, 10_000]);
    // The bench allows twice as much; a search that reads all open sessions takes a hundred times as long.
    for (const { operation, ratio } of rows) expect({ operation, flat: ratio < 10 }).toEqual({ operation, flat: true });
    expect(new Set(rows.map(({ operation }) => operation))).toEqual(new Set(['claim', 'commit', 'next']));
  });

  it('turns are counted with the time of their workers, and every session must be done', async () => {
    const turns = await turnsHere(sqliteEngine, true);
    expect(turns).toMatchObject([
      { engine: 'SQLite', executor: 'none', hosts: 1, turns: 50, unfinished: 0 },
      { engine: 'SQLite', executor: 'sandbox', hosts: 1, turns: 50, unfinished: 0 },
    ]);
    for (const { hostCpuMs } of turns) if (process.platform === 'linux') expect(hostCpuMs).toBeGreaterThan(0);
    expect(clusterFailures({ rows: [], turns })).toEqual([]);
    expect(clusterFailures({ rows: [], turns: turns.map((row) => ({ ...row, unfinished: 1 })) })).toHaveLength(2);
  });
});
