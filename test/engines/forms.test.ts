// @module-tag slow
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Database } from '../../src/postgres/database.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import { FORMS, migrate } from '../../src/postgres/tables.ts';
import { state } from '../../src/testing/contracts/samples.ts';
import { type OwnPool, pgPool } from './kit.ts';

let pool: OwnPool;
beforeAll(async () => {
  pool = await pgPool(inject('url'));
});
afterAll(() => pool.end());

it('a schema of an earlier form is refused with the command that migrates it, and migrated with all its rows', async () => {
  const schema = 'forms_1';
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`, []);
  {
    await using store = await PostgresStore.open(pool, { schema });
    await store.create(state('s'), 1);
  }
  const later = [...FORMS, [`ALTER TABLE sessions ADD COLUMN colour text NOT NULL DEFAULT 'blue'`]];
  const database = await Database.connect(pool, { schema });
  expect(await migrate(database, later)).toBe(FORMS.length);
  expect(await migrate(database, later)).toBe(later.length);
  expect((await pool.query(`SELECT sid, colour FROM ${schema}.sessions`)).rows).toEqual([{ sid: 's', colour: 'blue' }]);
  await expect(PostgresStore.open(pool, { schema })).rejects.toMatchObject({
    detail: 'newer',
    message: `the database was written by a newer version (form ${later.length}; this one knows ${FORMS.length}): use that version, or a newer one`,
  });
  await pool.query(`UPDATE ${schema}.forms SET form = 0`);
  await expect(PostgresStore.open(pool, { schema, migrate: false })).rejects.toMatchObject({
    detail: 'foreign',
    message: expect.stringContaining('run neuroscript store migrate'),
  });
});
