/** Measures claim, commit and next of SQLite, PGlite and a server of Postgres; `--long` adds a million sessions. */
import { benchStores, type ClusterEngine, clusterFailures, copies, renderCluster, sqliteEngine } from '../../bench/cluster.ts';
import { newSession } from '../../src/loop/index.ts';
import { type AnyClient, PostgresStore } from '../../src/postgres/index.ts';
import { pglite, pgPool } from '../../test/engines/kit.ts';
import { postgresUrl } from './server.ts';

/** Sessions in a schema of their own, which is dropped at the end. */
function postgresEngine(name: string, client: AnyClient, run: (text: string) => Promise<unknown>): ClusterEngine {
  return {
    name,
    async open(sessions) {
      const schema = `bench_${process.pid}_${sessions}`;
      const store = await PostgresStore.open(client, { schema });
      await store.create(newSession('idle', '{}'), Date.now());
      await run(`WITH n AS (SELECT n FROM generate_series(0, ${sessions - 1}) AS n (n)) ${copies(`${schema}.sessions`)}`);
      await run(`VACUUM ANALYZE ${schema}.sessions`);
      return {
        store,
        async [Symbol.asyncDispose]() {
          await store[Symbol.asyncDispose]();
          await run(`DROP SCHEMA ${schema} CASCADE`);
        },
      };
    },
  };
}

await using server = await postgresUrl();
const pool = await pgPool(server.url);
const lite = await pglite();
const engines = [
  sqliteEngine,
  postgresEngine('pglite', lite, (text) => lite.query(text)),
  postgresEngine('postgres', pool, (text) => pool.query(text)),
];
const rows = await benchStores(engines, process.argv.includes('--long') ? [1000, 100_000, 1_000_000] : [1000, 100_000]);
process.stdout.write(renderCluster(rows));
for (const failure of clusterFailures(rows)) {
  process.stderr.write(`${failure}\n`);
  process.exitCode = 1;
}
await pool.end();
await lite.close();
