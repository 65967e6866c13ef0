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
    expect(clusterFailures({ rows: [], turns }, true)).toEqual([]);
    expect(clusterFailures({ rows: [], turns: turns.map((row) => ({ ...row, unfinished: 1 })) }, true)).toHaveLength(2);
  });

  it('issue 48: 64 turns in flight are as many a second as 4, none waits for long, and Postgres has 0.7 of the rate of SQLite', () => {
    const row = (engine: string, inFlight: number, turnsPerSecond: number, p99Ms: number) => ({
      ...{ engine, inFlight, turnsPerSecond, p99Ms, executor: 'sandbox' as const, hosts: 1, turns: 50 },
      ...{ seconds: 1, hostCpuMs: 1, serverCpuMs: 1, unfinished: 0 },
    });
    const failures = (...turns: ReturnType<typeof row>[]) => clusterFailures({ rows: [], turns }, false);
    const good = [row('SQLite', 4, 40, 290), row('SQLite', 64, 40, 4700)];
    expect(failures(...good, row('Postgres, log', 4, 29, 290), row('Postgres, log', 64, 30, 4700))).toEqual([]);
    expect(failures(row('SQLite', 4, 43, 270), row('SQLite', 64, 40, 4900))).toEqual([
      'SQLite has fewer turns a second with 64 in flight than with 4',
      'of SQLite with 64 in flight, one of 100 turns took 4900 ms',
    ]);
    expect(failures(...good, row('Postgres, log', 4, 27, 290), row('Postgres, log', 64, 30, 4700))).toEqual([
      'Postgres, log has less than 0.7 of the turns a second of SQLite',
    ]);
  });
});
