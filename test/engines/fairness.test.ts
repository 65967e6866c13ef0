// @module-tag slow
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Agent, Host, type HostOptions, LoopController, SessionCoordinator, systemClock } from '../../src/loop/index.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import { fakeExecutor, newKeyring, reply, USERDATA } from '../loop/fake.ts';
import { type OwnPool, pgPool } from './kit.ts';

const HOSTS = 3;
const SCHEMA = 'fairness';

const keyring = newKeyring('fairness', systemClock);
const executor = fakeExecutor({ done: async ({ emit, magic }) => emit(await magic('done')) });
const tenantOf = (sid: string): string => sid.slice(0, sid.indexOf('-'));

let pool: OwnPool;
beforeAll(async () => {
  pool = await pgPool(inject('url'), { max: 12 });
});
afterAll(async () => {
  await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await pool.end();
});

/** Opens sessions of one turn, drives all of them with three hosts, each on a store of its own, and checks that all are done. */
async function drive(
  load: readonly (readonly [tenant: string, sessions: number])[],
  options: Pick<HostOptions, 'concurrency' | 'tenantConcurrency'>,
  onTurn: (host: number, sid: string, store: PostgresStore) => Promise<void>,
): Promise<void> {
  await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await PostgresStore.open(pool, { schema: SCHEMA }));
  const opener = new LoopController({ executor, keyring, store });
  const total = load.reduce((sum, [, sessions]) => sum + sessions, 0);
  for (const [tenant, sessions] of load)
    for (let n = 0; n < sessions; n++) await opener.open(USERDATA, `${tenant}-${n}`, { tenant });
  const all = Promise.withResolvers<void>();
  let left = total;
  for (let index = 0; index < HOSTS; index++) {
    const own = resources.use(await PostgresStore.open(pool, { schema: SCHEMA }));
    const owner = `host-${index}`;
    const coordinator = new SessionCoordinator({
      store: own,
      log: null,
      clock: systemClock,
      replayTtl: 900,
      owner,
      leaseMs: 60_000,
    });
    const agent: Agent = {
      async reply({ sid }) {
        await onTurn(index, sid, own);
        return reply('program done');
      },
    };
    const controller = new LoopController({ executor, keyring, coordinator });
    const host = new Host({
      coordinator,
      profiles: { '': { controller, options: () => ({ agent }) } },
      ...options,
      onError: all.reject,
      onLeft() {
        if (--left === 0) all.resolve();
      },
    });
    resources.defer(() => host.drain(60_000));
    host.start();
  }
  await all.promise;
  expect((await store.list()).filter(({ status, turns }) => status === 'done' && turns === 1)).toHaveLength(total);
}

describe('issue 20: tenants over several hosts', () => {
  it('of unequal load take turns: none waits for more than one turn of each other tenant on each host', async () => {
    const load = [
      ['greedy', 60],
      ['small', 6],
      ['tiny', 2],
    ] as const;
    const order: string[] = [];
    await drive(load, { concurrency: 1 }, async (_, sid) => void order.push(tenantOf(sid)));
    // A host claims a session of each other tenant at most before one of this tenant, and each host may have claimed one already.
    const most = HOSTS * (load.length - 1) + HOSTS;
    for (const [tenant, sessions] of load) {
      const waits = order
        .flatMap((each, index) => (each === tenant ? [index] : []))
        .map((at, index, all) => at - (all[index - 1] ?? -1) - 1);
      expect(waits).toHaveLength(sessions);
      // The greedy tenant, which is first in the alphabet and in time, waits no longer than the others either.
      expect({ tenant, longest: Math.max(...waits) <= most }).toEqual({ tenant, longest: true });
    }
    expect(order.lastIndexOf('tiny')).toBeLessThan(order.lastIndexOf('greedy'));
  });

  it('have their share of each host, and a host claims no more than it drives', async () => {
    const busy = new Map<string, number>();
    const count = (key: string, by: number): number => {
      const now = (busy.get(key) ?? 0) + by;
      busy.set(key, now);
      return now;
    };
    const tooMany: string[] = [];
    const most = new Map<number, number>();
    const load = [
      ['greedy', 24],
      ['small', 6],
    ] as const;
    await drive(load, { concurrency: 3, tenantConcurrency: 1 }, async (host, sid, store) => {
      const keys = [`${host}`, `${host} ${tenantOf(sid)}`];
      for (const key of keys) if (count(key, 1) > (key.includes(' ') ? 1 : 3)) tooMany.push(key);
      const leased = (await store.list()).filter(({ lease }) => lease?.owner === `host-${host}`).length;
      most.set(host, Math.max(most.get(host) ?? 0, leased));
      for (const key of keys) count(key, -1);
    });
    expect(tooMany).toEqual([]);
    // One session of each of two tenants.
    for (const leased of most.values()) expect(leased).toBeLessThanOrEqual(2);
    expect(most.size).toBeGreaterThan(0);
  });
});
