// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../apps/lab/engines/server.ts';
import { type Clock, SessionCoordinator, SessionLeasedError, verifyStoredLog } from '../../src/loop/index.ts';
import { endEntry } from '../../src/loop/log/log.ts';
import { type PostgresClient, postgresClient } from '../../src/postgres/clients.ts';
import { Database } from '../../src/postgres/database.ts';
import { nextSql, nextValues } from '../../src/postgres/engine.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { lock } from '../../src/postgres/tables.ts';
import { commitOf, started, state } from '../../src/testing/contracts/samples.ts';
import { programAgent, USERDATA } from '../loop/fake.ts';
import { controller } from '../loop/host.ts';
import { type OwnPool, pgPool, ROUNDS } from './kit.ts';
import { FaultyProxy } from './proxy.ts';

let server: PostgresServer;
let direct: OwnPool;
beforeAll(async () => {
  server = await startPostgres();
  direct = await pgPool(server.url);
});
afterAll(async () => {
  await direct.end();
  await server[Symbol.asyncDispose]();
});

let made = 0;

/** A store behind a proxy, in a schema of its own, with an open session `s` whose first turn is started. */
async function behindProxy() {
  const resources = new AsyncDisposableStack();
  const proxy = resources.use(await FaultyProxy.open(server.url));
  const pool = await pgPool(proxy.url(server.url), { max: 3 });
  resources.defer(() => pool.end());
  const schema = `failures_${++made}`;
  const store = resources.use(await PostgresStore.open(pool, { schema }));
  await store.create(state('s'), 1);
  const { fence } = await store.claim('s', { owner: 'a', ms: 60_000 });
  await store.start(started('s'), fence);
  return { proxy, store, schema, fence, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

const entry = endEntry({ sid: 's', nextTurn: 1, reason: 'ERR_AGENT', message: null }, 5);

describe.each(ROUNDS)('issue 20: an engine that fails, round %i', () => {
  it.each([
    ['request', false],
    ['answer', false],
    ['request', true],
    ['answer', true],
  ] as const)('a commit whose %s is lost is stored exactly once (the server is killed: %s)', async (lose, killed) => {
    await using bench = await behindProxy();
    const { proxy, store, fence } = bench;
    const back = Promise.withResolvers<void>();
    // Killed with everything it has in memory, and started again from its files.
    proxy.break({
      text: 'INSERT INTO',
      lose,
      after: () => (killed ? server.restart() : Promise.resolve()).then(back.resolve, back.reject),
    });
    const { owner: _, ...commit } = commitOf('s', 1, { entry, keep: true });
    await store.commit({ ...commit, fence });
    await back.promise;
    expect(await store.turns('s')).toHaveLength(1);
    expect(await store.read('s')).toMatchObject({ nextTurn: 2 });
    expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: 1 });
    await expect(store.commit({ ...commit, fence })).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'order' });
  });

  it.each([
    ['request', [1, 5, 64, 1000]],
    ['answer', [1, 5, 6, 20]],
  ] as const)('issue 48: a commit whose %s is cut after some of its bytes is stored exactly once', async (lose, cuts) => {
    await using bench = await behindProxy();
    const { proxy, store, fence } = bench;
    for (const [index, bytes] of cuts.entries()) {
      const turn = index + 1;
      if (turn > 1) await store.start(started('s', turn), fence);
      proxy.break({ text: 'INSERT INTO', lose, bytes });
      const { owner: _, ...commit } = commitOf('s', turn, { entry: { ...entry, turn_index: turn }, keep: true });
      await store.commit({ ...commit, fence });
      expect(await store.turns('s')).toHaveLength(turn);
    }
    expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: cuts.length });
  });

  it.each(['request', 'answer'] as const)('issue 48: a commit whose %s comes late is stored exactly once', async (lose) => {
    await using bench = await behindProxy();
    const { proxy, store, fence } = bench;
    proxy.break({ text: 'INSERT INTO', lose, late: 300 });
    const { owner: _, ...commit } = commitOf('s', 1, { entry, keep: true });
    const begun = performance.now();
    await store.commit({ ...commit, fence });
    expect(performance.now() - begun).toBeGreaterThan(290);
    expect(await store.turns('s')).toHaveLength(1);
    expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: 1 });
  });

  it('an end between two turns whose answer is lost is logged once', async () => {
    await using bench = await behindProxy();
    const { proxy, store, fence } = bench;
    await store.withdraw('s', fence);
    proxy.break({ text: 'INSERT INTO', lose: 'answer' });
    const next = state('s', { status: 'halted', reason: 'ERR_AGENT', message: null });
    const { owner: _, ...commit } = commitOf('s', 1, { record: null, next, entry, keep: true });
    await store.commit({ ...commit, fence });
    expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: 1 });
  });

  it('a session whose creation lost its answer is there once, and another one of its id is refused', async () => {
    await using bench = await behindProxy();
    bench.proxy.break({ text: 'INSERT INTO', lose: 'answer' });
    await bench.store.create(state('t'), 1);
    await expect(bench.store.create(state('t'), 1)).rejects.toMatchObject({ code: 'ERR_SESSION_EXISTS' });
  });

  it('a database that is cut off while a turn runs gets the turn when it is back, unless another host has taken it', async () => {
    await using bench = await behindProxy();
    const { proxy, store, fence, schema } = bench;
    const { owner: _, ...commit } = commitOf('s', 1);
    proxy.cut();
    await expect(store.renew([{ sid: 's', fence }], 1000)).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'io' });
    const stored = store.commit({ ...commit, fence });
    await sleep(300);
    proxy.mend();
    await stored;
    expect(await store.turns('s')).toHaveLength(1);
    await store.start(started('s', 2), fence);
    proxy.cut();
    const { owner: __, ...late } = commitOf('s', 2);
    const refused = expect(store.commit({ ...late, fence })).rejects.toThrow(SessionLeasedError);
    await direct.query(`UPDATE ${schema}.sessions SET lease_until = 0`);
    await using other = await PostgresStore.open(direct, { schema });
    expect(await other.next({ owner: 'b', ms: 60_000 }, 9, { profiles: [''] })).toHaveLength(1);
    proxy.mend();
    await refused;
    expect(await store.turns('s')).toHaveLength(1);
  });

  it('a connection that ends in the moment in which it is handed out rejects the work, and ends no process', async () => {
    await using proxy = await FaultyProxy.open(server.url);
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    for (const use of [
      (client: PostgresClient) => client.query('SELECT 1'),
      (client: PostgresClient) => client.transaction((query) => query('SELECT 1')),
      (client: PostgresClient) =>
        client.listen(
          'work',
          () => {},
          () => {},
        ),
    ]) {
      await using pool = Object.assign(await pgPool(proxy.url(server.url), { max: 1 }), {
        [Symbol.asyncDispose]: () => pool.end(),
      });
      proxy.endReady(1);
      await expect(use(postgresClient(pool))).rejects.toThrow();
      expect(proxy.endings).toBe(0);
    }
    await sleep(50);
    process.off('uncaughtException', note);
    expect(uncaught).toEqual([]);
  });

  it('a host that waits for work hears of it again after the server was killed', async () => {
    await using pool = Object.assign(await pgPool(server.url), { [Symbol.asyncDispose]: () => pool.end() });
    const schema = `failures_${++made}`;
    await using store = await PostgresStore.open(pool, { schema });
    let heard = 0;
    const stop = store.onReady(() => {
      heard += 1;
    });
    await expect.poll(() => heard, { timeout: 30_000 }).toBeGreaterThan(0);
    await server.restart();
    const before = heard;
    await expect.poll(() => heard, { timeout: 30_000 }).toBeGreaterThan(before);
    await using other = await PostgresStore.open(direct, { schema });
    const again = heard;
    await other.create(state('s'), 1);
    await expect.poll(() => heard, { timeout: 30_000 }).toBeGreaterThan(again);
    stop();
  });

  it('a process that is stopped while it seals the log holds nobody up, and takes no connections away', async () => {
    const schema = `failures_${++made}`;
    await using pool = Object.assign(await pgPool(server.url, { max: 4 }), { [Symbol.asyncDispose]: () => pool.end() });
    await using store = await PostgresStore.open(pool, { schema });
    await store.create(state('s'), 1);
    const locked = Promise.withResolvers<void>();
    const continued = Promise.withResolvers<void>();
    const stopped = (await Database.connect(direct, { schema }))
      .transaction(async (query) => {
        await lock(query, schema, 'log');
        locked.resolve();
        await continued.promise;
      })
      .catch(() => {});
    await locked.promise;
    for (const turn of [1, 2, 3]) {
      await store.log.append({ ...entry, turn_index: turn });
      await sleep(300);
    }
    const { rows } = await direct.query(`SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
    expect(Number(rows[0]?.['n'])).toBeLessThanOrEqual(1);
    expect(await store.read('s')).toMatchObject({ status: 'open' });
    expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: 3 });
    continued.resolve();
    await stopped;
  });

  it('sessions of a host whose engine is killed twice end DONE, each turn once, the log whole', async () => {
    await using pool = Object.assign(await pgPool(server.url), { [Symbol.asyncDispose]: () => pool.end() });
    await using store = await PostgresStore.open(pool, { schema: `failures_${++made}` });
    const [sessions, turns] = [20, 5];
    const { loop } = controller({ store, log: store.log, leaseMs: 60_000 });
    const agent = programAgent(...Array.from({ length: turns - 1 }, () => 'continue'), 'done');
    const results = Promise.all(
      Array.from({ length: sessions }, (_, index) => loop.runLoop({ userdata: USERDATA, agent, sid: `s${index}` })),
    );
    for (const after of [150, 600]) {
      await sleep(after);
      await server.restart();
    }
    expect((await results).map(({ decision }) => decision)).toEqual(Array.from({ length: sessions }, () => 'DONE'));
    for (let index = 0; index < sessions; index++)
      expect((await store.turns(`s${index}`)).map(({ turn }) => turn)).toEqual(
        Array.from({ length: turns }, (_, before) => before + 1),
      );
    const log = await verifyStoredLog(store.log, 'log');
    expect(log).toMatchObject({ ok: true, lines: sessions * turns });
    expect(log).toMatchObject({ repeated: undefined });
  });

  it('a host whose clock is 20 s off takes nothing, and loses nothing', async () => {
    const schema = `failures_${++made}`;
    await using store = await PostgresStore.open(direct, { schema });
    const skewed = (by: number): Clock => ({ now: () => Date.now() + by, monotonic: () => performance.now() });
    const host = (by: number): SessionCoordinator =>
      new SessionCoordinator({
        store,
        log: store.log,
        clock: skewed(by),
        replayTtl: 600,
        owner: `off by ${by}`,
        leaseMs: 15_000,
      });
    for (const [by, other] of [
      [20_000, -20_000],
      [-20_000, 20_000],
    ] as const) {
      const sid = `s${by}`;
      const driver = host(by);
      await driver.create(state(sid));
      const [claimed] = await driver.next(9, { profiles: [''] });
      expect(claimed?.state.sid).toBe(sid);
      expect(await host(other).next(9, { profiles: [''] })).toEqual([]);
      await expect(host(other).claim(sid)).rejects.toThrow(SessionLeasedError);
      expect(await host(other).recover()).toEqual([]);
      if (claimed !== undefined) await driver.release(claimed);
      const [taken] = await host(other).next(9, { profiles: [''] });
      expect(taken?.state.sid).toBe(sid);
    }
  });

  it('100,000 sessions that are due cost a claim as many pages as 1,000 do, within twice', async () => {
    const schema = `failures_${++made}`;
    await using store = await PostgresStore.open(direct, { schema });
    await store.create(state('s'), 1);
    const fill = async (from: number, to: number): Promise<void> => {
      await direct.query(
        `INSERT INTO ${schema}.sessions (sid, status, next_turn, state, created_at, updated_at, tenant, profile, engine, reader, nested, idle_since)
         SELECT 'd' || n, 'open', 1, replace(state, '"sid":"s"', '"sid":"d' || n || '"'), 1, 1, 't' || n % 50, '', engine, 1, 0, n FROM ${schema}.sessions, generate_series($1::integer, $2) AS n WHERE sid = 's'`,
        [from, to],
      );
      await direct.query(`VACUUM ANALYZE ${schema}.sessions`);
    };
    const pages = async (): Promise<number> => {
      const values = nextValues({ owner: 'h', ms: 1000 }, 8, { profiles: [''] }, 't3');
      const { rows } = await direct.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${nextSql(schema)}`, [...values]);
      const plan = Object(rows[0]?.['QUERY PLAN'])[0].Plan;
      return Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
    };
    await fill(1, 1000);
    await pages();
    const few = await pages();
    await fill(1001, 100_000);
    await pages();
    const many = await pages();
    expect(many).toBeLessThanOrEqual(2 * few);
    const seen = new Set<string>();
    for (let round = 0; round < 20; round++)
      for (const { state: found, setup } of await store.next({ owner: 'h', ms: 60_000 }, 8, { profiles: [''] })) {
        expect(seen.has(found.sid)).toBe(false);
        seen.add(found.sid);
        expect(setup.tenant).toMatch(/^t\d+$|^$/);
      }
    expect(seen.size).toBe(160);
  });
});
