import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { FLEET_SESSIONS, type FleetExecutor, type FleetRow, measureFleet, openFleetSessions } from '../../bench/fleet.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import type { OwnPool } from '../../test/engines/kit.ts';
import type { FleetPlan, FleetTold } from './fleethost.ts';
import type { PostgresServer } from './server.ts';

const HOST = fileURLToPath(new URL('fleethost.ts', import.meta.url));

/** One row of Postgres. */
export interface PostgresFleet {
  readonly executor: FleetExecutor;
  readonly hosts: number;
  readonly logs: boolean;
}

/** Measures hosts, each a process, on a schema of their own, which is dropped at the end. */
export async function measurePostgres(
  { url, pid }: Pick<PostgresServer, 'url' | 'pid'>,
  pool: OwnPool,
  { executor, hosts: count, logs }: PostgresFleet,
  quick: boolean,
): Promise<FleetRow> {
  const sessions = FLEET_SESSIONS[quick ? 'quick' : 'whole'];
  const schema = `fleet_${process.pid}`;
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await PostgresStore.open(pool, { schema }));
  resources.defer(async () => void (await pool.query(`DROP SCHEMA ${schema} CASCADE`)));
  const hosts = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const plan: FleetPlan = { url, schema, owner: `host-${index + 1}`, executor, logs };
      const host = fork(HOST, [JSON.stringify(plan)], { execArgv: ['--no-warnings'] });
      resources.defer(() => void host.kill('SIGKILL'));
      await ready(host);
      return host;
    }),
  );
  await openFleetSessions(store, sessions);
  const pids = { hosts: hosts.flatMap((host) => host.pid ?? []), server: pid };
  const row = { engine: logs ? 'Postgres, log' : 'Postgres', executor, hosts: count };
  const measured = await measureFleet(row, store, sessions, pids, async () => {
    let ended = 0;
    const all = Promise.withResolvers<void>();
    for (const host of hosts) {
      host.on('message', (message: FleetTold) => {
        if (message === 'ended' && ++ended === sessions) all.resolve();
      });
      host.once('exit', () => all.reject(new Error('a host has ended too early')));
      host.send('go');
    }
    await all.promise;
  });
  await Promise.all(
    hosts.map(async (host) => {
      host.kill('SIGTERM');
      await once(host, 'exit');
    }),
  );
  return measured;
}

/** Resolves when a host can be measured. */
function ready(host: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    host.once('message', () => resolve());
    host.once('exit', (code) => reject(new Error(`a host has ended with ${code}`)));
  });
}
