// @module-tag slow
import { expect, inject, it } from 'vitest';
import { verifyStoredLog } from '../../src/loop/index.ts';
import { endEntry } from '../../src/loop/log/log.ts';
import { type PostgresClient, postgresClient } from '../../src/postgres/clients.ts';
import { Database } from '../../src/postgres/database.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import { Chaining } from '../../src/postgres/log.ts';
import { programAgent, USERDATA } from '../loop/fake.ts';
import { controller } from '../loop/host.ts';
import { pgPool } from './kit.ts';

let made = 0;

it('issue 48: a turn takes at most three round trips to Postgres, the chain of the log among them, and a session one claim', async () => {
  await using pool = Object.assign(await pgPool(inject('url'), { max: 4 }), { [Symbol.asyncDispose]: () => pool.end() });
  const client = postgresClient(pool);
  const sent: string[] = [];
  const counting: PostgresClient = {
    ...client,
    query: (text, values) => {
      sent.push(text);
      return client.query(text, values);
    },
    transaction: (work) =>
      client.transaction((query) => {
        sent.push('BEGIN', 'COMMIT');
        return work((text, values) => {
          sent.push(text);
          return query(text, values);
        });
      }),
  };
  const schema = `trips_${process.pid}_${++made}`;
  await using store = await PostgresStore.open(counting, { schema });
  const { loop } = controller({ store, log: store.log });
  const turns = 30;
  sent.length = 0;
  const { decision } = await loop.runLoop({
    userdata: USERDATA,
    agent: programAgent(...Array.from({ length: turns - 1 }, () => 'continue'), 'done'),
    sid: 's',
    maxTurns: turns,
  });
  expect(decision).toBe('DONE');
  expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: turns });
  const others = sent.filter((text) => !text.includes('fence = fence + 1'));
  expect(sent.length - others.length).toBe(1);
  expect(sent.length / turns).toBeLessThanOrEqual(3);
  await pool.query(`DROP SCHEMA ${schema} CASCADE`);
});

it('issue 48: many processes that chain the log at once give one chain', async () => {
  await using pool = Object.assign(await pgPool(inject('url'), { max: 12 }), { [Symbol.asyncDispose]: () => pool.end() });
  const schema = `trips_${process.pid}_${++made}`;
  await using store = await PostgresStore.open(pool, { schema });
  const chainers = await Promise.all(
    Array.from({ length: 6 }, async () => new Chaining(await Database.connect(pool, { schema }))),
  );
  let turn = 0;
  const add = async (): Promise<void> => {
    for (let n = 0; n < 40; n++)
      await store.log.append(endEntry({ sid: 's', nextTurn: ++turn, reason: 'ERR_AGENT', message: null }, 5));
  };
  const chain = async (one: Chaining): Promise<void> => {
    for (let n = 0; n < 60; n++) await one.now();
  };
  await Promise.all([add(), add(), add(), ...chainers.map(chain)]);
  expect(await verifyStoredLog(store.log, 'log')).toMatchObject({ ok: true, lines: 120 });
  await pool.query(`DROP SCHEMA ${schema} CASCADE`);
});
