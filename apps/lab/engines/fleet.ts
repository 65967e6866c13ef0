import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  FLEET_SESSIONS,
  type FleetExecutor,
  type FleetPlace,
  type FleetRow,
  fleetSids,
  measureFleet,
  openFleetSessions,
} from '../../../bench/fleet.ts';
import { PostgresStore } from '../../../src/postgres/index.ts';
import type { OwnPool } from '../../../test/engines/kit.ts';
import type { FleetPlan, FleetTold } from './fleetchild.ts';
import type { PostgresServer } from './server.ts';

/** A server of Postgres, and connections to it. */
export interface FleetServer extends Pick<PostgresServer, 'url' | 'pid'> {
  readonly pool: OwnPool;
}

/** One row. */
export interface FleetPart {
  readonly executor: FleetExecutor;
  readonly hosts: number;
  readonly logs: boolean;
  readonly inFlight: number;
}

/** A process of a fleet that is ready. */
export interface FleetProcess {
  readonly child: ChildProcess;
  /** Where it listens; 0 if it does not. */
  readonly port: number;
}

let made = 0;

/** Processes that take the turns of one store, in a schema of its own, which is dropped at the end. */
export class Fleet implements AsyncDisposable {
  readonly store: PostgresStore;
  /** Different for every fleet. */
  readonly name: string;
  readonly hosts: readonly FleetProcess[];
  readonly #resources: AsyncDisposableStack;

  private constructor(store: PostgresStore, name: string, hosts: readonly FleetProcess[], resources: AsyncDisposableStack) {
    this.store = store;
    this.name = name;
    this.hosts = hosts;
    this.#resources = resources;
  }

  /** Starts processes of a script of this folder. */
  static async open(
    script: string,
    { url, pool }: FleetServer,
    { executor, hosts: count, logs, inFlight }: FleetPart,
    execArgv: readonly string[] = [],
  ): Promise<Fleet> {
    const schema = `fleet_${process.pid}_${++made}`;
    const resources = new AsyncDisposableStack();
    const store = resources.use(await PostgresStore.open(pool, { schema }));
    resources.defer(async () => void (await pool.query(`DROP SCHEMA ${schema} CASCADE`)));
    const path = fileURLToPath(new URL(script, import.meta.url));
    const hosts = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const plan: FleetPlan = { url, schema, owner: `${schema}-${index + 1}`, executor, logs, inFlight };
        const child = fork(path, [JSON.stringify(plan)], { execArgv: ['--no-warnings', ...execArgv] });
        resources.defer(async () => {
          if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit');
        });
        return { child, port: await ready(child) };
      }),
    );
    return new Fleet(store, schema, hosts, resources);
  }

  /** Resolves when so many sessions have ended. `onEnded` receives the place of each one's host among the hosts. */
  async ended(sessions: number, onEnded: (host: number) => void = () => {}): Promise<void> {
    const all = Promise.withResolvers<void>();
    let count = 0;
    const forget = this.hosts.map(({ child }, index) => {
      const hear = (told: FleetTold): void => {
        if (told.kind === 'failed') all.reject(new Error(told.message));
        if (told.kind !== 'ended') return;
        onEnded(index);
        if (++count === sessions) all.resolve();
      };
      const gone = (): void => all.reject(new Error('a host has ended too early'));
      child.on('message', hear).once('exit', gone);
      return () => child.off('message', hear).off('exit', gone);
    });
    try {
      await all.promise;
    } finally {
      for (const each of forget) each();
    }
  }

  /** Measures what happens until all `sessions` have ended. */
  measure(row: FleetPlace, sessions: number, servers: readonly number[], drive: () => Promise<void>): Promise<FleetRow> {
    const hosts = this.hosts.flatMap(({ child }) => child.pid ?? []);
    return measureFleet(row, this.store, sessions, { hosts, servers }, drive);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** Measures hosts that claim sessions. */
export async function measurePostgres(server: FleetServer, part: FleetPart, quick: boolean): Promise<FleetRow> {
  const sessions = FLEET_SESSIONS[quick ? 'quick' : 'whole'];
  await using fleet = await Fleet.open('fleethost.ts', server, part);
  await openFleetSessions(fleet.store, fleetSids('fleet', sessions));
  const { executor, hosts, inFlight } = part;
  const row = { engine: part.logs ? 'Postgres, log' : 'Postgres', executor, hosts, inFlight };
  return await fleet.measure(row, sessions, server.pid === null ? [] : [server.pid], async () => {
    const ended = fleet.ended(sessions);
    for (const { child } of fleet.hosts) child.send('go');
    await ended;
  });
}

/** Resolves with its port when a host can be measured. */
function ready(host: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    host.once('message', (told: FleetTold) =>
      told.kind === 'ready' ? resolve(told.port) : reject(new Error(`a host said ${JSON.stringify(told)}`)),
    );
    host.once('exit', (code) => reject(new Error(`a host has ended with ${code}`)));
  });
}
