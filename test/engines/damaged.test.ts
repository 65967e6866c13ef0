// @module-tag slow
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { MemoryLog, SessionCoordinator, systemClock } from '../../src/loop/index.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import { started, state } from '../../src/testing/contracts/samples.ts';
import { type OwnPool, pgPool } from './kit.ts';

let pool: OwnPool;
beforeAll(async () => {
  pool = await pgPool(inject('url'));
});
afterAll(() => pool.end());

let made = 0;
/** A store with the open session `s` in a turn. */
async function stored() {
  const schema = `damaged_${++made}`;
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`, []);
  const store = await PostgresStore.open(pool, { schema });
  await store.create(state('s'), 1);
  const { fence } = await store.claim('s', { owner: 'a', ms: 1000 });
  await store.start(started('s'), fence);
  await store.release('s', fence);
  const rows = async () => (await pool.query(`SELECT state, started FROM ${schema}.sessions`, [])).rows;
  return { schema, store, rows, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

it.each([
  ['state', `state = 'x'`],
  ['status', `status = 'opne'`],
  ['started turn', `started = '{'`],
])('a session with a damaged %s can be cancelled: what is stored of it stays, its end is logged', async (_, set) => {
  for (const own of [true, false]) {
    await using kept = await stored();
    const { store, schema, rows } = kept;
    await pool.query(`UPDATE ${schema}.sessions SET ${set}`, []);
    const [before] = await rows();
    const memory = new MemoryLog();
    const log = own ? store.log : memory;
    const coordinator = new SessionCoordinator({ store, log, clock: systemClock, replayTtl: 300 });
    const problems: string[] = [];
    expect(await coordinator.cancel('s', ({ message }) => problems.push(message))).toBe(true);
    expect(problems).toEqual([expect.stringContaining('session "s"')]);
    const [after] = await rows();
    expect(after?.['started']).toBe(before?.['started']);
    if (set.startsWith('state')) expect(after?.['state']).toBe('x');
    expect(await store.summary('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED', lease: null, owed: 0 });
    const lines: unknown[] = [];
    for await (const { text } of store.log.lines()) lines.push(JSON.parse(text));
    const logged = own ? lines : memory.entries;
    expect(logged).toMatchObject([{ SID: 's', turn_index: 1, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
    expect(await coordinator.cancel('s')).toBe(false);
    await store.erase(['s']);
  }
});

it('a session that can be read is not ended as a damaged one', async () => {
  await using kept = await stored();
  const end = { reason: 'ERR_CANCELLED', at: 1, log: 'own' } as const;
  expect(await kept.store.endDamaged('s', { owner: 'me', ms: 10 }, end)).toBeNull();
  expect(await kept.store.summary('s')).toMatchObject({ status: 'open', lease: null, started: 1 });
});
