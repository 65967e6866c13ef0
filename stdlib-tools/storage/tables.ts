import type { Format } from '../../src/sqlite/format.ts';
import type { ColumnWords, Dialect } from '../../src/sqlite/sql.ts';
import { SQLITE_COLUMNS } from '../../src/sqlite/sqlitesql.ts';

/**
 * The statements that make the tables of tool values. Scopes, keys and values are JSON text, so that every string survives unchanged.
 * `scopes` and `sums` count the entries, for the caps; `floor` is the highest version that was ever dropped.
 */
export function valueTables({ name, whole, real, end }: ColumnWords): readonly string[] {
  return [
    `CREATE TABLE entries (
       scope ${name} NOT NULL, key ${name} NOT NULL, version ${whole} NOT NULL, value TEXT NOT NULL, bytes ${whole} NOT NULL,
       expires ${real}, call TEXT, PRIMARY KEY (scope, key)
     )${end}`,
    'CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL',
    `CREATE TABLE scopes (scope ${name} PRIMARY KEY, entries ${whole} NOT NULL, bytes ${whole} NOT NULL)${end}`,
    `CREATE TABLE sums (one INTEGER PRIMARY KEY CHECK (one = 1), floor ${whole} NOT NULL, scopes ${whole} NOT NULL, bytes ${whole} NOT NULL)${end}`,
    'INSERT INTO sums VALUES (1, 0, 0, 0)',
  ];
}

export const VALUES: Format = {
  name: 'storage of tool values',
  // The letters NSto.
  applicationId: 0x4e_53_74_6f,
  forms: [valueTables(SQLITE_COLUMNS).join(';\n')],
};

/** The statements of a storage, in the words of a database. */
export type ValueStatements = ReturnType<typeof valueStatements>;

export function valueStatements({ schema, lock }: Dialect) {
  const [entries, scopes, sums] = ['entries', 'scopes', 'sums'].map((table) => `${schema}.${table}`);
  const live = (at: string): string => `(expires IS NULL OR expires > ${at})`;
  return {
    entry: `SELECT version, value, bytes, call FROM ${entries} WHERE scope = $1 AND key = $2 AND ${live('$3')}`,
    keys: `SELECT key FROM ${entries} WHERE scope = $1 AND ${live('$2')}`,
    put: `INSERT INTO ${entries} (scope, key, version, value, bytes, expires, call) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (scope, key) DO UPDATE SET version = excluded.version, value = excluded.value, bytes = excluded.bytes,
       expires = excluded.expires, call = excluded.call`,
    dropExpired: `DELETE FROM ${entries} WHERE expires <= $1 RETURNING scope, version, bytes`,
    dropScope: `DELETE FROM ${entries} WHERE scope = $1 RETURNING scope, version, bytes`,
    scope: `SELECT entries, bytes FROM ${scopes} WHERE scope = $1`,
    count: `INSERT INTO ${scopes} AS s (scope, entries, bytes) VALUES ($1, $2, $3)
       ON CONFLICT (scope) DO UPDATE SET entries = s.entries + excluded.entries, bytes = s.bytes + excluded.bytes RETURNING entries`,
    forgetScope: `DELETE FROM ${scopes} WHERE scope = $1`,
    /** Locked, so that one write is done at a time and the caps hold. */
    sums: `SELECT floor, scopes, bytes FROM ${sums} ${lock.update}`,
    putSums: `UPDATE ${sums} SET floor = $1, scopes = $2, bytes = $3`,
  } as const;
}
