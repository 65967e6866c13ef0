import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSession, SessionCoordinator, type SessionStore, SqliteStore, systemClock } from '../src/loop/index.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { crowds, FLEET_EXECUTORS, type FleetRow, fleetFailures, measureHere, renderFleet } from './fleet.ts';
import { median } from './stats.ts';
import { short, table } from './table.ts';

/** What an operation of a store costs beside idle sessions. */
export interface ClusterRow {
  readonly engine: string;
  readonly operation: string;
  /** Sessions in the store: half of them are ready, and half wait. */
  readonly sessions: number;
  /** Milliseconds, median. */
  readonly ms: number;
  /** That, against the same in the smallest store. */
  readonly ratio: number;
}

export interface FilledStore extends AsyncDisposable {
  readonly store: SessionStore;
}

/** Opens a store of an engine that has a number of sessions of fifty tenants. */
export interface ClusterEngine {
  readonly name: string;
  open(sessions: number): Promise<FilledStore>;
}

/** How many times as much an operation may cost in the largest store. */
const FLAT = 2;

const SAMPLES = 200;
const WARM = 20;

/** Measures each operation in stores of several sizes in turn, so that a busy machine slows all of them. */
export async function benchStores(engines: readonly ClusterEngine[], sizes: readonly number[]): Promise<ClusterRow[]> {
  const rows: ClusterRow[] = [];
  for (const engine of engines) {
    await using resources = new AsyncDisposableStack();
    const stores: SessionStore[] = [];
    for (const size of sizes) stores.push(resources.use(await engine.open(size)).store);
    for (const [operation, once] of OPERATIONS) {
      const spent: number[][] = sizes.map(() => []);
      for (let sample = -WARM; sample < SAMPLES; sample++)
        for (const [index, store] of stores.entries()) {
          const ms = await once(store, sample + WARM);
          if (sample >= 0) spent[index]?.push(ms);
        }
      const medians = spent.map(median);
      for (const [index, sessions] of sizes.entries()) {
        const ms = medians[index] ?? 0;
        rows.push({ engine: engine.name, operation, sessions, ms, ratio: ms / (medians[0] ?? ms) });
      }
    }
  }
  return rows;
}

/** What a store costs beside idle sessions, and what turns cost. */
export interface ClusterReport {
  readonly rows: readonly ClusterRow[];
  readonly turns: readonly FleetRow[];
}

/** The rows of SQLite; `npm --prefix apps/lab/engines run bench` has those of the other engines. */
export async function benchCluster(quick: boolean): Promise<ClusterReport> {
  const rows = await benchStores([sqliteEngine], quick ? [100, 10_000] : [1000, 100_000]);
  return { rows, turns: [...(await turnsHere(sqliteEngine, quick)), ...(await crowdsHere(sqliteEngine, quick))] };
}

/** Turns of one host in this process, which must have no other children. */
export async function turnsHere(engine: ClusterEngine, quick: boolean): Promise<FleetRow[]> {
  const rows: FleetRow[] = [];
  for (const executor of FLEET_EXECUTORS) {
    await using filled = await engine.open(0);
    rows.push(await measureHere(engine.name, filled.store, executor, quick));
  }
  return rows;
}

/** Turns of one host in this process with few and with many sessions in flight. */
export function crowdsHere(engine: ClusterEngine, quick: boolean): Promise<FleetRow[]> {
  return crowds(quick, async (inFlight) => {
    await using filled = await engine.open(0);
    return await measureHere(engine.name, filled.store, 'sandbox', quick, inFlight);
  });
}

type Once = (store: SessionStore, sample: number) => Promise<number>;

const LEASE = { owner: 'bench', ms: 60_000 };

const STARTED = {
  ...{
    attempt: 1,
    runner: 'bench',
    nonce: 'AAAAAAAAAAAAAAAAAAAAAA',
    startedAt: 0,
    reply: null,
    agent: null,
    suspended: null,
    attempts: [],
  },
  limits: defaultLimits('turn'),
};

const OPERATIONS: ReadonlyMap<string, Once> = new Map<string, Once>([
  [
    'claim',
    async (store, sample) => {
      const sid = `idle-${2 * (sample % 50)}`;
      const begun = performance.now();
      const { fence } = await store.claim(sid, LEASE);
      const ms = performance.now() - begun;
      await store.release(sid, fence);
      return ms;
    },
  ],
  [
    'commit',
    async (store, sample) => {
      const sid = `bench-${sample}`;
      const coordinator = new SessionCoordinator({ store, log: null, clock: systemClock, owner: LEASE.owner, replayTtl: 600 });
      await coordinator.create(newSession(sid, '{}'));
      await coordinator.start({ sid, turn: 1, ...STARTED }, await coordinator.claim(sid));
      const claimed = await coordinator.claim(sid);
      const begun = performance.now();
      await coordinator.halt(claimed, 'ERR_INTERRUPTED');
      return performance.now() - begun;
    },
  ],
  [
    'next',
    async (store) => {
      const begun = performance.now();
      const claimed = await store.next(LEASE, 8, { profiles: [''] });
      const ms = performance.now() - begun;
      if (claimed.length !== 8) throw new Error(`next claimed ${claimed.length} of 8 sessions`);
      for (const { fence, state } of claimed) await store.release(state.sid, fence);
      return ms;
    },
  ],
]);

/** Sessions in a new file. */
export const sqliteEngine: ClusterEngine = {
  name: 'SQLite',
  async open(sessions) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-cluster-'));
    const path = join(folder, 'store.db');
    const store = await SqliteStore.open(path);
    if (sessions > 0) {
      await store.create(newSession('idle', '{}'), Date.now());
      const { DatabaseSync } = await import('node:sqlite');
      using file = new DatabaseSync(path);
      file.exec(
        `WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${sessions - 1}) ${copies('sessions')}`,
      );
    }
    return {
      store,
      async [Symbol.asyncDispose]() {
        store[Symbol.dispose]();
        await rm(folder, { recursive: true });
      },
    };
  },
};

/** Copies the one session many times: half of the copies are ready, and half wait for a call. */
export function copies(sessions: string): string {
  return `INSERT INTO ${sessions} (sid, status, next_turn, state, created_at, updated_at, tenant, profile, engine, reader, nested, idle_since, waits_until)
    SELECT 'idle-' || n, 'open', 1, replace(state, '"sid":"idle"', '"sid":"idle-' || n || '"'), created_at, updated_at, 'tenant-' || (n % 50), '',
    engine, reader, nested, n, CASE WHEN n % 2 = 1 THEN 9000000000000 END FROM ${sessions}, n WHERE sid = 'idle'`;
}

export function renderCluster({ rows, turns }: ClusterReport): string {
  const cells = rows.map(({ engine, operation, sessions, ms, ratio }) => [
    engine,
    operation,
    String(sessions),
    short(ms),
    short(ratio),
  ]);
  const head = ['engine', 'operation', 'sessions in the store', 'ms', 'times the smallest'];
  return `${table(head, cells)}\n\nOne caller at a time; medians. next claims eight sessions of fifty tenants.\n\n${renderFleet(turns)}`;
}

/** Why the numbers are invalid. */
export function clusterFailures({ rows, turns }: ClusterReport, quick: boolean): string[] {
  const steep = rows
    .filter(({ ratio }) => ratio > FLAT)
    .map(
      ({ engine, operation, sessions, ratio }) =>
        `${operation} of ${engine} takes ${ratio.toFixed(1)} times as long with ${sessions} sessions`,
    );
  return [...steep, ...fleetFailures(turns, quick)];
}
