// @module-tag slow
import { afterAll, describe, inject, it } from 'vitest';
import { PostgresStorage } from '../../src/postgres/index.ts';
import { type OpenStorage, storageContract } from '../../src/testing/index.ts';
import { type OwnPool, pglite, pgPool } from './kit.ts';

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

let made = 0;
let shared: Promise<OwnPool> | null = null;
let lite: ReturnType<typeof pglite> | null = null;

const onServer: OpenStorage = async (caps = {}) => {
  shared ??= pgPool(inject('url'));
  const pool = await shared;
  if (made === 0) ends.push(() => pool.end());
  const schema = `storage_${++made}`;
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  return PostgresStorage.open(pool, { schema, caps });
};

const onPglite: OpenStorage = async (caps = {}) => {
  lite ??= pglite();
  return PostgresStorage.open(await lite, { schema: `storage_${++made}`, caps });
};

describe.each([
  ['PostgresStorage on a server', onServer],
  ['PostgresStorage on PGlite', onPglite],
] as const)('%s', (_, open) => {
  for (const { name, run } of storageContract(open)) it(name, run);
});
