import { afterAll, afterEach, inject } from 'vitest';
import { PostgresStore } from '../../src/postgres/index.ts';
import { storeContract } from '../loop/contract.ts';
import type { MakeStore } from '../loop/owners.ts';
import { queueContract } from '../loop/queuecontract.ts';
import { clockStatements, type OwnPool, pglite, pgPool, postgresJs } from './kit.ts';

const stores: AsyncDisposable[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
});

const pools: { end(): Promise<void> }[] = [];
afterAll(async () => {
  for (const pool of pools) await pool.end();
});

let made = 0;
const CLOCK = 'contract_clock';

type Server = { query(text: string, values?: unknown[]): Promise<unknown> };

/** An empty store in a schema of its own, whose clock a test sets. */
async function storeIn(server: Server, client: Parameters<typeof PostgresStore.open>[0]) {
  const schema = `contract_${++made}`;
  await server.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  const store = await PostgresStore.open(client, { schema });
  stores.push(store);
  return Object.assign(store, {
    at: async (now: number) => void (await server.query(`UPDATE ${CLOCK}.clock SET at = $1`, [now])),
  });
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
  const store = await storeIn(await pool(), sql);
  stores.push({ [Symbol.asyncDispose]: () => sql.end() });
  return store;
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

storeContract('PostgresStore on a server, through pg', onServer);
queueContract('PostgresStore on a server, through pg', onServer);
storeContract('PostgresStore on a server, through postgres', throughPostgresJs);
queueContract('PostgresStore on a server, through postgres', throughPostgresJs);
storeContract('PostgresStore on PGlite', onPglite);
queueContract('PostgresStore on PGlite', onPglite);
