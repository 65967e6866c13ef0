import { StoreError } from '../sqlite/error.ts';
import type { PostgresQuery } from './clients.ts';
import type { Database } from './database.ts';

/** The conditions of the indexes of the same names, in the same words. */
export const READY = `status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NULL`;
export const LEASED = `status = 'open' AND nested = 0 AND lease_owner IS NOT NULL`;
export const WAITING = `status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NOT NULL`;

/** Unix milliseconds by the clock of the database, which is the only clock of a store. */
export const NOW = '(floor(extract(epoch FROM statement_timestamp()) * 1000))::bigint';

/**
 * The statements from an empty schema to the present form. A released form never changes: a new version adds one. External data is
 * stored as JSON text in which every NUL and lone surrogate is escaped, because Postgres refuses them. Everything that a claim
 * sees stands in one row of `sessions`, so that one statement sees it as one moment.
 */
const FORMS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE sessions (
       sid text COLLATE "C" PRIMARY KEY, status text NOT NULL, reason text, next_turn bigint NOT NULL, state text NOT NULL,
       created_at bigint NOT NULL, updated_at bigint NOT NULL,
       lease_owner text, lease_until bigint, fence bigint NOT NULL DEFAULT 0, cancelled smallint NOT NULL DEFAULT 0,
       started_turn bigint, started_nonce text, started text, waits text, waits_until bigint,
       used text NOT NULL DEFAULT '[]', owed bigint NOT NULL DEFAULT 0, end_owed smallint NOT NULL DEFAULT 0,
       tenant text COLLATE "C" NOT NULL, profile text COLLATE "C" NOT NULL, configuration text, engine text NOT NULL, reader integer NOT NULL,
       nested smallint NOT NULL, parent_sid text COLLATE "C", idle_since bigint NOT NULL, stamp text
     ) WITH (fillfactor = 70)`,
    `CREATE INDEX sessions_ready ON sessions (profile, reader, tenant, idle_since, sid) WHERE ${READY}`,
    `CREATE INDEX sessions_leased ON sessions (lease_until) WHERE ${LEASED}`,
    `CREATE INDEX sessions_waiting ON sessions (waits_until) WHERE ${WAITING}`,
    `CREATE INDEX sessions_nested ON sessions (sid) WHERE status = 'open' AND nested = 1`,
    'CREATE INDEX sessions_parent ON sessions (parent_sid) WHERE parent_sid IS NOT NULL',
    'CREATE INDEX sessions_owing ON sessions (sid) WHERE owed > 0 OR end_owed > 0',
    `CREATE INDEX sessions_ended ON sessions (updated_at) WHERE status <> 'open'`,
    `CREATE TABLE turns (
       sid text COLLATE "C" NOT NULL, turn bigint NOT NULL, decision text NOT NULL, nonce text NOT NULL, digest text, record text NOT NULL,
       owed smallint NOT NULL, at timestamptz NOT NULL DEFAULT statement_timestamp(), PRIMARY KEY (sid, turn, at)
     ) PARTITION BY RANGE (at)`,
    'CREATE TABLE turns_rest PARTITION OF turns DEFAULT',
    `CREATE TABLE steps (
       sid text COLLATE "C" NOT NULL, nonce text NOT NULL, turn bigint NOT NULL, seq bigint NOT NULL, body text NOT NULL, PRIMARY KEY (sid, nonce, seq)
     )`,
    // Entries without a line are sealed later, in the order of their numbers.
    `CREATE TABLE decisions (
       number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sid text COLLATE "C" NOT NULL, turn bigint NOT NULL, text text NOT NULL, line bigint UNIQUE
     )`,
    'CREATE INDEX decisions_turn ON decisions (sid, turn)',
    'CREATE INDEX decisions_unsealed ON decisions (number) WHERE line IS NULL',
    `CREATE TABLE entries (
       scope text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, version bigint NOT NULL, value text NOT NULL, bytes bigint NOT NULL,
       expires double precision, call text, PRIMARY KEY (scope, key)
     )`,
    'CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL',
    'CREATE TABLE sums (one integer PRIMARY KEY CHECK (one = 1), floor bigint NOT NULL, bytes bigint NOT NULL)',
    'INSERT INTO sums VALUES (1, 0, 0)',
  ],
  // The orders of `recent`.
  [
    'CREATE INDEX sessions_recent ON sessions (updated_at, sid)',
    'CREATE INDEX sessions_status ON sessions (status, updated_at, sid)',
    'CREATE INDEX sessions_reason ON sessions (reason, updated_at, sid) WHERE reason IS NOT NULL',
  ],
];

/** The form that this version reads and writes. */
export const FORM = FORMS.length;

/** Months whose partition is made before they begin. */
const MONTHS_AHEAD = 2;

/** The form of a schema; 0 for one without a store. */
export async function formOf(database: Database, schema: string): Promise<number> {
  const [found] = await database.query('SELECT to_regclass($1) IS NOT NULL AS there', `${schema}.forms`);
  if (found?.['there'] !== true) return 0;
  const [row] = await database.query(`SELECT form FROM ${schema}.forms`);
  return Number(row?.['form'] ?? 0);
}

/** Throws {@link StoreError} for a schema without a store of this form: `newer` for a later one, `foreign` for none or an earlier one. */
export function mustBePresent(form: number, place: string): void {
  if (form > FORM)
    throw new StoreError('newer', `${place} was written by a newer version (form ${form}; this one knows ${FORM})`);
  if (form === 0) throw new StoreError('foreign', `${place} has no store of sessions yet: run neuroscript store migrate`);
  if (form < FORM)
    throw new StoreError(
      'foreign',
      `${place} has form ${form} of a store, and this version needs ${FORM}: run neuroscript store migrate`,
    );
}

/** Brings a schema to the present form, in one transaction and one process at a time. Resolves with the form that it had. */
export function migrate(database: Database, schema: string): Promise<number> {
  return database.transaction(async (query) => {
    await lock(query, schema);
    await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await query(`CREATE TABLE IF NOT EXISTS ${schema}.forms (one integer PRIMARY KEY CHECK (one = 1), form integer NOT NULL)`);
    await query(`INSERT INTO ${schema}.forms VALUES (1, 0) ON CONFLICT DO NOTHING`);
    const form = Number((await query(`SELECT form FROM ${schema}.forms`)).rows[0]?.['form']);
    if (form > FORM) mustBePresent(form, database.place);
    // For this transaction alone: the statements name their tables without a schema.
    await query(`SELECT set_config('search_path', $1 || ', ' || current_setting('search_path'), true)`, [schema]);
    for (const statement of FORMS.slice(form).flat()) await query(statement);
    await query(`UPDATE ${schema}.forms SET form = $1`, [FORM]);
    await makePartitions(query, schema);
    return form;
  });
}

/** Milliseconds after which the server ends a transaction under a lock whose process has stopped. */
const STOPPED_MS = 5000;

/**
 * Locks the tables of a schema against other processes until the transaction ends. The server ends it for a process that says nothing for
 * five seconds, because a process that is stopped would hold all others up.
 */
export async function lock(query: PostgresQuery, schema: string, what = 'form'): Promise<void> {
  await query(
    `SELECT set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock(hashtextextended($1, 0))`,
    [`neuroscript ${what} ${schema}`, String(STOPPED_MS)],
  );
}

/** Makes the partitions of this month and the next ones. A month without one goes into the partition for the rest. */
async function makePartitions(query: PostgresQuery, schema: string): Promise<void> {
  const { rows } = await query(
    `SELECT to_char(month, '"turns_"YYYY_MM') AS name, month::text AS since, (month + interval '1 month')::text AS until
     FROM generate_series(date_trunc('month', statement_timestamp()),
       date_trunc('month', statement_timestamp()) + interval '${MONTHS_AHEAD} months', interval '1 month') AS month
     WHERE to_regclass($1 || '.' || to_char(month, '"turns_"YYYY_MM')) IS NULL`,
    [schema],
  );
  for (const { name, since, until } of rows) {
    const rest = await query(`SELECT 1 FROM ${schema}.turns_rest WHERE at >= $1::timestamptz AND at < $2::timestamptz LIMIT 1`, [
      since,
      until,
    ]);
    if (rest.rows.length > 0) continue;
    await query(
      `CREATE TABLE ${schema}.${String(name)} PARTITION OF ${schema}.turns FOR VALUES FROM ('${String(since)}') TO ('${String(until)}')`,
    );
  }
}

/** Makes the partitions that are missing, when it is time. A user who does not own the tables leaves that to those who do. */
export async function keepPartitions(database: Database, schema: string): Promise<void> {
  const [row] = await database.query(
    `SELECT to_regclass($1 || '.' || to_char(statement_timestamp() + interval '1 month', '"turns_"YYYY_MM')) IS NULL
       AND has_schema_privilege($1, 'CREATE') AND pg_has_role(relowner, 'USAGE') AS missing
     FROM pg_class WHERE oid = to_regclass($1 || '.turns')`,
    schema,
  );
  if (row?.['missing'] !== true) return;
  await database.transaction(async (query) => {
    await lock(query, schema);
    await makePartitions(query, schema);
  });
}

/**
 * Drops the partitions that are wholly before a moment and hold no turn of a session that is left. Resolves with their names. Their
 * space is free at once, which it is not after deleting rows.
 */
export async function dropPartitions(query: PostgresQuery, schema: string, before: number): Promise<readonly string[]> {
  await lock(query, schema);
  const { rows } = await query(
    `SELECT c.relname AS name FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass AND c.relname ~ '^turns_[0-9]{4}_[0-9]{2}$'
     AND to_timestamp(substr(c.relname, 7), 'YYYY_MM') + interval '1 month' <= to_timestamp($2::double precision / 1000) ORDER BY 1`,
    [`${schema}.turns`, before],
  );
  const dropped: string[] = [];
  for (const { name } of rows) {
    const table = `${schema}.${String(name)}`;
    const left = await query(`SELECT 1 FROM ${table} AS t JOIN ${schema}.sessions AS s ON s.sid = t.sid LIMIT 1`);
    if (left.rows.length > 0) continue;
    await query(`DROP TABLE ${table}`);
    dropped.push(String(name));
  }
  return dropped;
}
