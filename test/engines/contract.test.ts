// @module-tag slow
import { afterAll, describe, inject, it } from 'vitest';
import { PostgresStore } from '../../src/postgres/index.ts';
import { logContract, type MakeStore, type StoreToTest, storeContract } from '../../src/testing/index.ts';
import { clockStatements, type OwnPool, pglite, pgPool, postgresJs } from './kit.ts';

const pools: { end(): Promise<void> }[] = [];
afterAll(async () => {
  for (const pool of pools) await pool.end();
});

let made = 0;
const CLOCK = 'contract_clock';

type Server = { query(text: string, values?: unknown[]): Promise<unknown> };

/** An empty store in a schema of its own, whose clock a test sets. */
async function storeIn(
  server: Server,
  client: Parameters<typeof PostgresStore.open>[0],
): Promise<Required<Omit<StoreToTest, 'wakesWithinMs'>>> {
  const schema = `contract_${++made}`;
  await server.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  const store = await PostgresStore.open(client, { schema });
  return {
    store,
    setTime: async (now) => void (await server.query(`UPDATE ${CLOCK}.clock SET at = $1`, [now])),
    close: () => store[Symbol.asyncDispose](),
  };
}

let shared: Promise<OwnPool> | null = null;
const pool = (): Promise<OwnPool> =>
  (shared ??= (async () => {
    const made = await pgPool(inject('url'), { path: `${CLOCK},pg_catalog` });
    pools.push(made);
    for (const statement of clockStatements(CLOCK)) await made.query(statement);
    return made;
  })());

const onServer: MakeStore = async () => storeIn(await pool(), await pool());
const throughPostgresJs: MakeStore = async () => {
  const url = new URL(inject('url'));
  url.searchParams.set('search_path', `${CLOCK},pg_catalog`);
  const sql = await postgresJs(url.href);
  const made = await storeIn(await pool(), sql);
  return {
    ...made,
    close: async () => {
      await made.close();
      await sql.end();
    },
  };
};
let lite: ReturnType<typeof pglite> | null = null;
const onPglite: MakeStore = async () => {
  lite ??= (async () => {
    const made = await pglite();
    pools.push({ end: () => made.close() });
    for (const statement of clockStatements(CLOCK)) await made.query(statement);
    await made.query(`SET search_path = ${CLOCK}, pg_catalog`);
    return made;
  })();
  return storeIn(await lite, await lite);
};

const stores: readonly (readonly [string, MakeStore])[] = [
  ['PostgresStore on a server, through pg', onServer],
  ['PostgresStore on a server, through postgres', throughPostgresJs],
  ['PostgresStore on PGlite', onPglite],
];

describe.each(stores)('%s', (_, make) => {
  for (const { name, run } of storeContract(make)) it(name, run);
});

describe('the log of a PostgresStore', () => {
  const make = async () => {
    const { store, setTime } = await storeIn(await pool(), await pool());
    await setTime(0);
    if (store.log === undefined) throw new Error('the store has no log');
    return store.log;
  };
  for (const { name, run } of logContract(make)) it(name, run);
});
