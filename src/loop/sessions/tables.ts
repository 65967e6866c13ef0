import type { Format } from '../../sqlite/format.ts';

/**
 * The tables of a store of sessions. External data is stored as JSON text, which preserves every string, including lone
 * surrogates and NUL. A turn's `owed` column is 1 until its decision is logged.
 */
export const SESSIONS: Format = {
  name: 'store of sessions',
  // The letters NSst in ASCII.
  applicationId: 0x4e_53_73_74,
  migrations: [
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
    // The public form of a suspension, as JSON, so that a list of sessions need not read the suspension itself.
    `ALTER TABLE started ADD COLUMN waits TEXT;`,
    'ALTER TABLE sessions ADD COLUMN end_owed INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE sessions ADD COLUMN fence INTEGER NOT NULL DEFAULT 0',
  ],
};
