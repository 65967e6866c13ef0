/**
 * Measures claim, commit and next of SQLite, PGlite and a server of Postgres beside 1,000 and 100,000 sessions, and turns of one to three
 * hosts, which claim their sessions or which Restate calls. `--long` adds a million sessions, and `--quick` takes few of everything: do not quote its numbers.
 */
import {
  benchStores,
  type ClusterEngine,
  clusterFailures,
  copies,
  crowdsHere,
  renderCluster,
  sqliteEngine,
  turnsHere,
} from '../../../bench/cluster.ts';
import { CONCURRENCY, crowds, FLEET_EXECUTORS } from '../../../bench/fleet.ts';
import { newSession } from '../../../src/loop/index.ts';
import { type AnyClient, PostgresStore } from '../../../src/postgres/index.ts';
import { pglite, pgPool } from '../../../test/engines/kit.ts';
import { measurePostgres } from './fleet.ts';
import { measureRestate } from './fleetrestate.ts';
import { startRestate } from './restate.ts';
import { postgresUrl } from './server.ts';

/** Sessions in a schema of their own, which is dropped at the end. */
function postgresEngine(name: string, client: AnyClient, run: (text: string) => Promise<unknown>): ClusterEngine {
  return {
    name,
    async open(sessions) {
      const schema = `bench_${process.pid}_${sessions}`;
      const store = await PostgresStore.open(client, { schema });
      if (sessions > 0) {
        await store.create(newSession('idle', '{}'), Date.now());
        await run(`WITH n AS (SELECT n FROM generate_series(0, ${sessions - 1}) AS n (n)) ${copies(`${schema}.sessions`)}`);
        await run(`VACUUM ANALYZE ${schema}.sessions`);
      }
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

const has = (flag: string): boolean => process.argv.includes(flag);
const quick = has('--quick');
const sizes = quick ? [100, 10_000] : has('--long') ? [1000, 100_000, 1_000_000] : [1000, 100_000];

const lite = await pglite();
const liteEngine = postgresEngine('PGlite', lite, (text) => lite.query(text));
// Before the server is a child of this process, whose time counts.
const turns = [
  ...(await turnsHere(sqliteEngine, quick)),
  ...(await turnsHere(liteEngine, quick)),
  ...(await crowdsHere(sqliteEngine, quick)),
];
await using server = await postgresUrl();
const pool = await pgPool(server.url);
const place = { url: server.url, pid: server.pid, pool };
const parts = FLEET_EXECUTORS.flatMap((executor) => [1, 2, 3].map((hosts) => ({ executor, hosts, inFlight: CONCURRENCY })));
for (const logs of [false, true]) for (const part of parts) turns.push(await measurePostgres(place, { ...part, logs }, quick));
turns.push(
  ...(await crowds(quick, (inFlight) => measurePostgres(place, { executor: 'sandbox', hosts: 1, logs: true, inFlight }, quick))),
);
{
  await using restate = await startRestate();
  for (const part of parts) turns.push(await measureRestate(restate, place, { ...part, logs: true }, quick));
}
const engines = [sqliteEngine, liteEngine, postgresEngine('Postgres', pool, (text) => pool.query(text))];
const report = { rows: await benchStores(engines, sizes), turns };
process.stdout.write(renderCluster(report));
for (const failure of clusterFailures(report, quick)) {
  process.stderr.write(`${failure}\n`);
  process.exitCode = 1;
}
await pool.end();
await lite.close();
