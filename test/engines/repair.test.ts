// @module-tag slow
import { describe, expect, inject, it } from 'vitest';
import { LoopController } from '../../src/loop/index.ts';
import { type AnyClient, PostgresStore } from '../../src/postgres/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { USERDATA } from '../loop/fake.ts';
import { Desk, expectRepaired, REASONS } from '../loop/repair/reasons.ts';
import { workersAre } from '../workers.ts';
import { pglite, pgPool } from './kit.ts';

const SCHEMA = 'repair';

// The stores are the subject here, and not the workers.
workersAre('shared');

/** Corrects a turn for each reason in a session of its own, and looks at it in another store of the database. */
async function repairAll(client: AnyClient): Promise<void> {
  await using store = await PostgresStore.open(client, { schema: SCHEMA });
  await using other = await PostgresStore.open(client, { schema: SCHEMA });
  for (const [index, [, text, told]] of REASONS.entries()) {
    const desk = new Desk(text);
    await using runtime = await createRuntime(desk.options);
    const sid = `s${index}`;
    const loop = new LoopController({ runtime, store });
    expect(await loop.runLoop({ sid, userdata: USERDATA, agent: desk.agent })).toMatchObject({ decision: 'DONE' });
    expectRepaired(await desk.driven(other, sid), told);
  }
}

describe('issue 43: a turn is corrected for each reason', () => {
  it('in sessions on PGlite', async () => {
    const client = await pglite();
    await repairAll(client);
    await client.close();
  });

  it('in sessions on a server of Postgres', async () => {
    const pool = await pgPool(inject('url'));
    await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
    await repairAll(pool);
    await pool.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
    await pool.end();
  });
});
