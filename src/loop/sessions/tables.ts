import type { Format } from '../../sqlite/format.ts';
import type { ColumnWords } from '../../sqlite/sql.ts';
import { SQLITE_COLUMNS } from '../../sqlite/sqlitesql.ts';

/** The conditions of the indexes of these names, in the same words: a database then finds that a query can use them. */
export const READY = `status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NULL`;
export const LEASED = `status = 'open' AND nested = 0 AND lease_owner IS NOT NULL`;
export const WAITING = `status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NOT NULL`;
export const NESTED = `status = 'open' AND nested = 1`;
export const OPEN = `status = 'open' AND nested = 0`;
export const OWING = '(owed > 0 OR end_owed > 0)';

/** The status of a row at the time that the SQL `now` gives: that of an open session is `waiting`, `running` or `open`, as `status:` of a query says it. */
export const shownStatus = (now: string): string =>
  `CASE WHEN status <> 'open' THEN status WHEN waits LIKE '%"completed":false%' THEN 'waiting' WHEN lease_until > ${now} THEN 'running' ELSE 'open' END`;

/** The columns of tables of sessions, where databases differ. */
export interface SessionWords extends ColumnWords {
  /** The end of the table of sessions. */
  readonly sessionsEnd: string;
  /** The last columns and the end of the table of turns. */
  readonly turnsEnd: string;
  /** The first columns of the table of decisions. */
  readonly decisionsStart: string;
}

/**
 * The statements that make the tables of sessions and of their log. External data is stored as JSON text, in which every NUL and lone
 * surrogate is escaped. All that a claim sees stands in one row of `sessions`, so that one statement sees it as one moment: `waits` is
 * the public form of the suspension of the started turn, `owed` the number of turns that are not known to be in the log. A turn's `owed`
 * is 1 until its decision is logged. `stamp` tells the statement that wrote a row last from all others.
 */
export function sessionTables({ name, whole, end, sessionsEnd, turnsEnd, decisionsStart }: SessionWords): readonly string[] {
  return [
    `CREATE TABLE sessions (
       sid ${name} PRIMARY KEY, status TEXT NOT NULL, reason TEXT, next_turn ${whole} NOT NULL,
       created_at ${whole} NOT NULL, updated_at ${whole} NOT NULL,
       lease_owner TEXT, lease_until ${whole}, fence ${whole} NOT NULL DEFAULT 0, cancelled ${whole} NOT NULL DEFAULT 0,
       started_turn ${whole}, started_nonce TEXT, waits_until ${whole},
       owed ${whole} NOT NULL DEFAULT 0, end_owed ${whole} NOT NULL DEFAULT 0,
       tenant ${name} NOT NULL, profile ${name} NOT NULL, engine TEXT NOT NULL, reader ${whole} NOT NULL,
       nested ${whole} NOT NULL, parent_sid ${name}, idle_since ${whole} NOT NULL, stamp TEXT,
       configuration TEXT, state TEXT NOT NULL, waits TEXT, used TEXT NOT NULL DEFAULT '[]', started TEXT
     )${sessionsEnd}`,
    `CREATE INDEX sessions_ready ON sessions (profile, reader, tenant, idle_since, sid) WHERE ${READY}`,
    `CREATE INDEX sessions_leased ON sessions (lease_until) WHERE ${LEASED}`,
    `CREATE INDEX sessions_waiting ON sessions (waits_until) WHERE ${WAITING}`,
    // What admission counts.
    `CREATE INDEX sessions_open ON sessions (tenant) WHERE ${OPEN}`,
    `CREATE INDEX sessions_nested ON sessions (sid) WHERE ${NESTED}`,
    'CREATE INDEX sessions_parent ON sessions (parent_sid, sid) WHERE parent_sid IS NOT NULL',
    `CREATE INDEX sessions_owing ON sessions (sid) WHERE ${OWING}`,
    // The orders of `recent`. Sessions of other tenants are passed over without a look into the table.
    'CREATE INDEX sessions_recent ON sessions (updated_at, sid, tenant)',
    'CREATE INDEX sessions_status ON sessions (status, updated_at, sid, tenant)',
    'CREATE INDEX sessions_reason ON sessions (reason, updated_at, sid) WHERE reason IS NOT NULL',
    `CREATE TABLE turns (
       sid ${name} NOT NULL, turn ${whole} NOT NULL, decision TEXT NOT NULL, nonce TEXT NOT NULL, digest TEXT, owed ${whole} NOT NULL,
       record TEXT NOT NULL, ${turnsEnd}`,
    'CREATE INDEX turns_owed ON turns (sid, turn) WHERE owed = 1',
    `CREATE TABLE steps (
       sid ${name} NOT NULL, nonce TEXT NOT NULL, turn ${whole} NOT NULL, seq ${whole} NOT NULL, body TEXT NOT NULL, PRIMARY KEY (sid, nonce, seq)
     )${end}`,
    `CREATE TABLE decisions (${decisionsStart}, sid ${name} NOT NULL, turn ${whole} NOT NULL, text TEXT NOT NULL)${end}`,
    'CREATE INDEX decisions_turn ON decisions (sid, turn)',
    `CREATE TABLE hosts (instance ${name} PRIMARY KEY, owner TEXT NOT NULL, kids TEXT NOT NULL, until ${whole} NOT NULL)${end}`,
  ];
}

const ON_SQLITE: SessionWords = {
  ...SQLITE_COLUMNS,
  sessionsEnd: SQLITE_COLUMNS.end,
  turnsEnd: `PRIMARY KEY (sid, turn))${SQLITE_COLUMNS.end}`,
  decisionsStart: 'line INTEGER PRIMARY KEY',
};

export const SESSIONS: Format = {
  name: 'store of sessions',
  // The letters NSst in ASCII.
  applicationId: 0x4e_53_73_74,
  forms: [sessionTables(ON_SQLITE).join(';\n')],
};
