import { READY, shownStatus } from '../loop/index.ts';
import { Database, NOW } from './database.ts';
import { FORM, formOf, migrate, mustBePresent } from './tables.ts';

/** What `migrateStore` did. */
export interface MigrationReport {
  /** Host, port and database. */
  readonly place: string;
  /** The form before; 0 for a schema without a store. */
  readonly from: number;
  /** The form now. */
  readonly to: number;
}

/** The state of a store on Postgres. */
export interface StoreReport {
  /** Address and database, without the password. */
  readonly place: string;
  /** The form of its tables. */
  readonly form: number;
  /** The form that this version needs. */
  readonly newest: number;
  /** Version of the server. */
  readonly server: string;
  /** How far the clock of this host is ahead of the database, in milliseconds. */
  readonly aheadMs: number;
  /** Sessions by their status. */
  readonly sessions: Readonly<Record<string, number>>;
  /** Sessions that a host could claim now, and sessions under a lease. */
  readonly ready: number;
  /** Sessions that a host drives at the moment. */
  readonly leased: number;
  /** Decisions that are not known to be in the log, and entries of the log that are not chained yet. */
  readonly owed: number;
  /** Decisions in the log without a line of the chain yet. */
  readonly unsealed: number;
  /** The parts of the table of turns, with their sizes in bytes. */
  readonly partitions: readonly { readonly name: string; readonly bytes: number }[];
}

/** Brings the tables of a database to the present form. Throws as `PostgresStore.open` does. */
export async function migrateStore(url: string, schema?: string): Promise<MigrationReport> {
  return withDatabase(url, schema, async (database) => ({ place: database.place, from: await migrate(database), to: FORM }));
}

/** Reads the state of a store. Counting reads the whole table of sessions. Throws as `PostgresStore.open` does. */
export async function storeStatus(url: string, schemaName?: string): Promise<StoreReport> {
  return withDatabase(url, schemaName, async (database) => {
    const { schema } = database.dialect;
    const form = await formOf(database);
    mustBePresent(form, database.place);
    const before = Date.now();
    const [server] = await database.query(`SELECT current_setting('server_version') AS version, ${NOW} AS now`);
    const after = Date.now();
    const [counts] = await database.query(
      `SELECT count(*) FILTER (WHERE ${READY}) AS ready, count(*) FILTER (WHERE lease_until > ${NOW}) AS leased,
       coalesce(sum(owed + end_owed), 0) AS owed, (SELECT count(*) FROM ${schema}.decisions WHERE line IS NULL) AS unsealed FROM ${schema}.sessions`,
    );
    const statuses = await database.query(
      `SELECT ${shownStatus(NOW)} AS word, count(*) AS n FROM ${schema}.sessions GROUP BY word ORDER BY word LIMIT 10`,
    );
    const partitions = await database.query(
      `SELECT inhrelid::regclass::text AS name, pg_total_relation_size(inhrelid) AS bytes FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1`,
      `${schema}.turns`,
    );
    return {
      place: database.place,
      form,
      newest: FORM,
      server: String(server?.['version']),
      aheadMs: Math.round((before + after) / 2 - Number(server?.['now'])),
      sessions: Object.fromEntries(statuses.map(({ word, n }) => [String(word), Number(n)])),
      ready: Number(counts?.['ready']),
      leased: Number(counts?.['leased']),
      owed: Number(counts?.['owed']),
      unsealed: Number(counts?.['unsealed']),
      partitions: partitions.map(({ name, bytes }) => ({ name: String(name), bytes: Number(bytes) })),
    };
  });
}

async function withDatabase<T>(url: string, schema: string | undefined, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.connect(url, { schema, connections: 1 });
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}
