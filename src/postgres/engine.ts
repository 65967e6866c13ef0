import { type Lease, READER, READY, type Runnable, type SessionsEngine, statementsOf, Wakes } from '../loop/index.ts';
import type { Row, SqlQuery } from '../sqlite/sql.ts';
import { type Database, NOW } from './database.ts';
import { Chaining } from './log.ts';
import { dropPartitions, lock } from './tables.ts';

/** The tables with content that this role may vacuum: its own, those of its database, and from Postgres 17 on those that it maintains. */
const VACUUMED = `SELECT c.relname AS name FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname IN ('sessions', 'turns', 'steps') AND (
    pg_has_role(c.relowner, 'USAGE')
    OR pg_has_role((SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE')
    OR CASE WHEN current_setting('server_version_num')::int >= 170000 THEN has_table_privilege(c.oid, 'MAINTAIN') ELSE FALSE END)`;

/** Sessions in a schema of Postgres. */
export class PostgresEngine implements SessionsEngine, AsyncDisposable {
  readonly sql: Database;
  readonly #wakeUps: WakeUps;
  readonly #chaining: Chaining;
  readonly #lapse: string;
  readonly #next: string;
  /** The tenant that was served last. */
  #served = '';

  constructor(database: Database) {
    const { schema } = database.dialect;
    this.sql = database;
    this.#wakeUps = new WakeUps(database);
    this.#chaining = new Chaining(database);
    const [leases, waits] = statementsOf(database.dialect).lapse;
    this.#lapse = `WITH leases AS (${leases} RETURNING 1), waits AS (${waits} RETURNING 1) SELECT count(*) FROM leases, waits`;
    this.#next = nextSql(schema);
  }

  admitting(query: SqlQuery): Promise<void> {
    return lock(query, this.sql.dialect.schema, 'admission');
  }

  async lapse(): Promise<void> {
    await this.sql.query(this.#lapse);
  }

  async next(lease: Lease, most: number, runnable: Runnable): Promise<readonly Row[]> {
    await this.lapse();
    const rows = await this.sql.query(this.#next, ...nextValues(lease, most, runnable, this.#served));
    const sorted = rows.toSorted(inOrder);
    this.#served = String(sorted.at(-1)?.['tenant'] ?? this.#served);
    return sorted;
  }

  onReady(wake: () => void): () => void {
    return this.#wakeUps.on(wake);
  }

  wake(): void {
    this.#wakeUps.tell();
  }

  logged(): void {
    this.#chaining.soon();
  }

  seal(): Promise<void> {
    return this.#chaining.now();
  }

  /** Drops the parts of the table of turns that are wholly old; the space of single turns is free after the next vacuum. */
  async pruning(query: SqlQuery, before: number): Promise<void> {
    await dropPartitions(query, this.sql.dialect.schema, before);
  }

  /**
   * What was erased stays in old versions of rows until this vacuum, and in the write-ahead log until it is recycled. A role that may not
   * vacuum a table leaves that to the server, which would only warn.
   */
  async scrub(): Promise<void> {
    const { schema } = this.sql.dialect;
    for (const { name } of await this.sql.query(VACUUMED, schema)) await this.sql.query(`VACUUM ${schema}."${name}"`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wakeUps.close();
    await this.#chaining.close();
    await this.sql.end();
  }
}

/** The order in which sessions were claimed: by round, and in a round by tenant, from the one that follows the last served one. */
function inOrder(a: Row, b: Row): number {
  const [tenant, other] = [String(a['tenant']), String(b['tenant'])];
  return Number(a['round']) - Number(b['round']) || Number(a['part']) - Number(b['part']) || (tenant < other ? -1 : 1);
}

/**
 * Claims sessions that are ready. $1: owner, $2: length of the lease, $3: most, $4: profiles, $5: reader, $6: the tenant that was served last,
 * $7: tenants to leave out. Each tenant is found by one probe of the index, beginning after the one that was served last.
 */
export function nextSql(schema: string): string {
  const sessions = `${schema}.sessions`;
  const lane = `${READY} AND profile = lane.profile AND reader = lane.reader`;
  const tenantAfter = (comparison: string): string =>
    `(SELECT min(one.tenant) FROM lanes AS lane CROSS JOIN LATERAL
       (SELECT tenant FROM ${sessions} WHERE ${lane} AND tenant ${comparison} ORDER BY tenant LIMIT 1) AS one)`;
  const walk = (name: string, begin: string): string =>
    `${name} (tenant, n) AS (SELECT ${tenantAfter(begin)}, 1
       UNION ALL SELECT ${tenantAfter(`> ${name}.tenant`)}, n + 1 FROM ${name} WHERE tenant IS NOT NULL AND n < $3::integer + cardinality($7::text[]))`;
  return `WITH RECURSIVE lanes AS (
      SELECT profile COLLATE "C" AS profile, reader FROM unnest($4::text[]) AS profile CROSS JOIN generate_series(1, $5::integer) AS reader
    ), ${walk('ahead', '> $6::text COLLATE "C"')}, ${walk('behind', `>= ''`)},
    tenants AS (
      SELECT tenant, 0 AS part FROM ahead WHERE tenant IS NOT NULL
      UNION ALL SELECT tenant, 1 FROM behind WHERE tenant <= $6::text COLLATE "C"
    ), served AS (
      SELECT tenant, part FROM tenants WHERE tenant <> ALL ($7::text[]) ORDER BY part, tenant LIMIT $3::integer
    ), picked AS (
      SELECT pick.sid, served.part, served.tenant, row_number() OVER (PARTITION BY served.tenant ORDER BY pick.idle_since, pick.sid) AS round
      FROM served CROSS JOIN LATERAL (
        SELECT own.sid, own.idle_since FROM lanes AS lane CROSS JOIN LATERAL (
          SELECT sid, idle_since FROM ${sessions} WHERE ${lane} AND tenant = served.tenant ORDER BY idle_since, sid
          LIMIT (SELECT ceil($3::numeric / count(*))::bigint FROM served) FOR UPDATE SKIP LOCKED
        ) AS own
      ) AS pick
    ), chosen AS (
      SELECT sid, part, tenant, round FROM picked ORDER BY round, part, tenant LIMIT $3::integer
    )
    UPDATE ${sessions} AS s SET fence = fence + 1, lease_owner = $1, lease_until = ${NOW} + $2::bigint
    FROM chosen WHERE s.sid = chosen.sid RETURNING s.*, chosen.part AS part, chosen.round AS round`;
}

/** The values of {@link nextSql}. */
export function nextValues(
  lease: Lease,
  most: number,
  { profiles, reader = READER, without = [] }: Runnable,
  served: string,
): readonly unknown[] {
  return [lease.owner, Math.floor(lease.ms), most, profiles, reader, served, without];
}

/** Milliseconds in which wake-ups of this process are gathered before other processes hear of them. */
const GATHER_MS = 10;

/** Wakes the hosts that wait for sessions of one schema: those of this process at once, and those of others through the database. */
class WakeUps {
  readonly #database: Database;
  readonly #channel: string;
  readonly #wakes = new Wakes();
  #stopListening: (() => void) | null = null;
  #telling: NodeJS.Timeout | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.#channel = `neuroscript_${database.dialect.schema}`;
  }

  /** Calls `wake` when a session may be ready; the returned function ends that. Listens to the database while anybody waits. */
  on(wake: () => void): () => void {
    const stop = this.#wakes.on(wake);
    this.#stopListening ??= this.#database.listen(this.#channel, () => this.#wakes.wake());
    return () => {
      stop();
      if (this.#wakes.size === 0) this.#stop();
    };
  }

  /** Wakes this process now and the others in a moment. It notifies outside of transactions, because a notification delays their commit. */
  tell(): void {
    this.#wakes.wake();
    this.#telling ??= setTimeout(() => {
      this.#telling = null;
      // Hosts that miss it poll from time to time.
      this.#database.query('SELECT pg_notify($1, $2)', this.#channel, '').catch(() => {});
    }, GATHER_MS).unref();
  }

  /** Stops listening and telling. */
  close(): void {
    this.#stop();
    if (this.#telling !== null) clearTimeout(this.#telling);
  }

  #stop(): void {
    this.#stopListening?.();
    this.#stopListening = null;
  }
}
