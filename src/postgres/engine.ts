import { type Lease, type Runnable, type SessionsEngine, statementsOf } from '../loop/index.ts';
import type { Row, SqlQuery } from '../sqlite/sql.ts';
import type { Database } from './database.ts';
import { Chaining } from './log.ts';
import { nextSql, nextValues } from './queue.ts';
import { dropPartitions, lock } from './tables.ts';
import { WakeUps } from './wakeups.ts';

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
