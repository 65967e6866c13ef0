import { valueTables } from '../../stdlib-tools/storage/tables.ts';
import { type SessionWords, sessionTables } from '../loop/index.ts';
import { StoreError } from '../sqlite/error.ts';
import { otherForm } from '../sqlite/format.ts';
import type { SqlQuery } from '../sqlite/sql.ts';
import type { Database } from './database.ts';

const WORDS: SessionWords = {
  name: 'text COLLATE "C"',
  whole: 'bigint',
  real: 'double precision',
  end: '',
  // Room beside each row, because every turn changes it.
  sessionsEnd: ' WITH (fillfactor = 70)',
  turnsEnd: 'at timestamptz NOT NULL DEFAULT statement_timestamp(), PRIMARY KEY (sid, turn, at)) PARTITION BY RANGE (at)',
  decisionsStart: 'number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, line bigint UNIQUE',
};

/** The forms of a schema: the statements that make the first one, and each later one of the one before. Released statements never change. */
type Forms = readonly (readonly string[])[];

/** The forms of a schema that this version knows; it reads and writes the last one. */
export const FORMS: Forms = [
  [
    ...sessionTables(WORDS),
    'CREATE TABLE turns_rest PARTITION OF turns DEFAULT',
    // Entries without a line are chained later, in the order of their numbers.
    'CREATE INDEX decisions_unchained ON decisions (number) WHERE line IS NULL',
    ...valueTables(WORDS),
  ],
];

/** The form that this version reads and writes. */
export const FORM = FORMS.length;

/** Months whose partition is made before they begin. */
const MONTHS_AHEAD = 2;

/** The form of a schema; 0 for one without a store. */
export async function formOf({ query, dialect: { schema } }: Database): Promise<number> {
  const [found] = await query('SELECT to_regclass($1) IS NOT NULL AS there', `${schema}.forms`);
  if (found?.['there'] !== true) return 0;
  const [row] = await query(`SELECT form FROM ${schema}.forms`);
  return Number(row?.['form'] ?? 0);
}

/** Throws {@link StoreError} for a schema without a store of this form: `older`, `newer`, or `foreign` for none. */
export function mustBePresent(form: number, place: string, newest = FORM): void {
  if (form === 0) throw new StoreError('foreign', `${place} has no store yet: run neuroscript store migrate --store ${place}`);
  if (form !== newest) throw otherForm(place, form, newest);
}

/**
 * Opens the tables of a database, and makes them where there are none, unless `makes` is false. Tries again when a connection is lost, but
 * not where nothing answers. Throws as {@link mustBePresent} does.
 */
export function openTables(database: Database, makes: boolean): Promise<void> {
  return database.patiently(
    async () => {
      const form = await formOf(database);
      if (form > 0 || !makes) mustBePresent(form, database.place);
      if (form === 0) await migrate(database);
      else await keepPartitions(database);
    },
    (lost) => !lost.isAbsent,
  );
}

/** Brings a schema to the last form, in one transaction and one process at a time. Resolves with the form that it had. */
export function migrate(database: Database, forms: Forms = FORMS): Promise<number> {
  const { schema } = database.dialect;
  return database.transaction(async (query) => {
    await lock(query, schema);
    await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await query(`CREATE TABLE IF NOT EXISTS ${schema}.forms (one integer PRIMARY KEY CHECK (one = 1), form integer NOT NULL)`);
    await query(`INSERT INTO ${schema}.forms VALUES (1, 0) ON CONFLICT DO NOTHING`);
    const [row] = await query(`SELECT form FROM ${schema}.forms`);
    const form = Number(row?.['form']);
    if (form > forms.length) mustBePresent(form, database.place, forms.length);
    // For this transaction alone: the statements name their tables without a schema.
    await query(`SELECT set_config('search_path', $1 || ', ' || current_setting('search_path'), true)`, schema);
    for (const statement of forms.slice(form).flat()) await query(statement);
    await query(`UPDATE ${schema}.forms SET form = $1`, forms.length);
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
export async function lock(query: SqlQuery, schema: string, what = 'form'): Promise<void> {
  await query(
    `SELECT set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock(hashtextextended($1, 0))`,
    `neuroscript ${what} ${schema}`,
    String(STOPPED_MS),
  );
}

/** Makes the partitions of this month and the next ones. A month without one goes into the partition for the rest. */
async function makePartitions(query: SqlQuery, schema: string): Promise<void> {
  const rows = await query(
    `SELECT to_char(month, '"turns_"YYYY_MM') AS name, month::text AS since, (month + interval '1 month')::text AS until
     FROM generate_series(date_trunc('month', statement_timestamp()),
       date_trunc('month', statement_timestamp()) + interval '${MONTHS_AHEAD} months', interval '1 month') AS month
     WHERE to_regclass($1 || '.' || to_char(month, '"turns_"YYYY_MM')) IS NULL`,
    schema,
  );
  for (const { name, since, until } of rows) {
    const text = `SELECT 1 FROM ${schema}.turns_rest WHERE at >= $1::timestamptz AND at < $2::timestamptz LIMIT 1`;
    if ((await query(text, since, until)).length > 0) continue;
    await query(
      `CREATE TABLE ${schema}.${String(name)} PARTITION OF ${schema}.turns FOR VALUES FROM ('${String(since)}') TO ('${String(until)}')`,
    );
  }
}

/** Makes the partitions that are missing, when it is time. A user who does not own the tables leaves that to those who do. */
async function keepPartitions(database: Database): Promise<void> {
  const { schema } = database.dialect;
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
export async function dropPartitions(query: SqlQuery, schema: string, before: number): Promise<readonly string[]> {
  await lock(query, schema);
  const rows = await query(
    `SELECT c.relname AS name FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass AND c.relname ~ '^turns_[0-9]{4}_[0-9]{2}$'
     AND to_timestamp(substr(c.relname, 7), 'YYYY_MM') + interval '1 month' <= to_timestamp($2::double precision / 1000) ORDER BY 1`,
    `${schema}.turns`,
    before,
  );
  const dropped: string[] = [];
  for (const { name } of rows) {
    const table = `${schema}.${String(name)}`;
    const left = await query(`SELECT 1 FROM ${table} AS t JOIN ${schema}.sessions AS s ON s.sid = t.sid LIMIT 1`);
    if (left.length > 0) continue;
    await query(`DROP TABLE ${table}`);
    dropped.push(String(name));
  }
  return dropped;
}
