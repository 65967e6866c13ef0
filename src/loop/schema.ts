import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store.ts';

/** Marks a SQLite file as a store of sessions: the letters NSst, in the field that SQLite keeps for this purpose. */
const APPLICATION_ID = 0x4e_53_73_74;

/**
 * The steps from an empty file to the form that this version uses; `user_version` counts those that were taken. A step that
 * was ever released is never changed: a new form is a new step. Whatever came from outside is JSON text, so that any string
 * comes back as it was, lone surrogates and NUL included.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE sessions (
     sid TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT, next_turn INTEGER NOT NULL, state TEXT NOT NULL,
     created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
     lease_owner TEXT, lease_until INTEGER, cancelled INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE started (sid TEXT PRIMARY KEY REFERENCES sessions, turn INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
   CREATE TABLE turns (
     sid TEXT NOT NULL REFERENCES sessions, turn INTEGER NOT NULL,
     decision TEXT NOT NULL, nonce TEXT NOT NULL, digest TEXT, record TEXT NOT NULL, owed INTEGER NOT NULL,
     PRIMARY KEY (sid, turn)
   ) STRICT;
   CREATE INDEX turns_owed ON turns (sid, turn) WHERE owed = 1;
   CREATE TABLE used (
     sid TEXT NOT NULL REFERENCES sessions, jti TEXT NOT NULL, second INTEGER NOT NULL, PRIMARY KEY (sid, jti)
   ) STRICT, WITHOUT ROWID;`,
];

/** The form that this version reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Makes a new file a store, brings an older one to the present form, and refuses every other file with {@link StoreError}
 * (`foreign`, `newer`, `damaged`). All in one transaction: a file is never left between two forms.
 */
export function prepareSchema(database: DatabaseSync, name: string): void {
  const problem = integrityProblem(database);
  if (problem !== null) throw new StoreError('damaged', `${name} is damaged: ${problem}`);
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = pragma(database, 'user_version');
    const application = pragma(database, 'application_id');
    if (application !== APPLICATION_ID && !(application === 0 && version === 0 && isEmpty(database)))
      throw new StoreError('foreign', `${name} is a SQLite file of another program, not a store of sessions`);
    if (version > SCHEMA_VERSION)
      throw new StoreError('newer', `${name} was written by a newer version (form ${version}; this one knows ${SCHEMA_VERSION})`);
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
    if (version < SCHEMA_VERSION)
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function integrityProblem(database: DatabaseSync): string | null {
  const [found] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {});
  return found === 'ok' ? null : String(found);
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}
