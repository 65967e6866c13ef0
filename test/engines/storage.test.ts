import { afterAll, inject } from 'vitest';
import { PostgresStorage } from '../../src/postgres/index.ts';
import { storageContract } from '../stdlib-tools/storagecontract.ts';
import { type OwnPool, pglite, pgPool } from './kit.ts';

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

let made = 0;
let shared: Promise<OwnPool> | null = null;
let lite: ReturnType<typeof pglite> | null = null;

storageContract('PostgresStorage on a server', async (caps = {}) => {
  shared ??= pgPool(inject('url'));
  const pool = await shared;
  if (made === 0) ends.push(() => pool.end());
  const schema = `storage_${++made}`;
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  return PostgresStorage.open(pool, { schema, caps });
});

storageContract('PostgresStorage on PGlite', async (caps = {}) => {
  lite ??= pglite();
  return PostgresStorage.open(await lite, { schema: `storage_${++made}`, caps });
});
