import type { Format } from '../../sqlite/format.ts';

/**
 * The tables of a store of sessions. External data is stored as JSON text, which preserves every string, including lone
 * surrogates and NUL. A turn's `owed` column is 1 until its decision is logged. `decisions` are the lines of the log that the
 * store itself keeps.
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
    // The columns that `next` uses, and indexes with only the sessions that it may claim.
    `ALTER TABLE sessions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
   ALTER TABLE sessions ADD COLUMN profile TEXT NOT NULL DEFAULT '';
   ALTER TABLE sessions ADD COLUMN configuration TEXT;
   ALTER TABLE sessions ADD COLUMN engine TEXT NOT NULL DEFAULT '0.1.0';
   ALTER TABLE sessions ADD COLUMN reader INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE sessions ADD COLUMN nested INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE sessions ADD COLUMN parent_sid TEXT;
   ALTER TABLE sessions ADD COLUMN idle_since INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE sessions ADD COLUMN waits_until INTEGER;
   UPDATE sessions SET idle_since = updated_at;
   UPDATE sessions SET nested = 1, parent_sid = json_extract(state, '$.parent.sid')
     WHERE json_valid(state) AND json_type(state, '$.parent') = 'object';
   UPDATE sessions SET waits_until = (
     SELECT CAST(json_extract(waits, '$.expiresAt') AS INTEGER) FROM started
     WHERE started.sid = sessions.sid AND json_valid(waits) AND json_extract(waits, '$.completed') IS NOT 1
   );
   CREATE INDEX sessions_ready ON sessions (profile, reader, tenant, idle_since, sid)
     WHERE status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NULL;
   CREATE INDEX sessions_leased ON sessions (lease_until) WHERE status = 'open' AND nested = 0 AND lease_owner IS NOT NULL;
   CREATE INDEX sessions_waiting ON sessions (waits_until)
     WHERE status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NOT NULL;
   CREATE INDEX sessions_nested ON sessions (sid) WHERE status = 'open' AND nested = 1;
   CREATE INDEX sessions_parent ON sessions (parent_sid) WHERE parent_sid IS NOT NULL;
   CREATE INDEX sessions_owing ON sessions (sid) WHERE end_owed = 1;
   CREATE TABLE steps (
     sid TEXT NOT NULL REFERENCES sessions, turn INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (sid, seq)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE decisions (line INTEGER PRIMARY KEY, sid TEXT NOT NULL, turn INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
   CREATE INDEX decisions_turn ON decisions (sid, turn);`,
    // The orders of \`recent\`.
    `CREATE INDEX sessions_recent ON sessions (updated_at, sid);
   CREATE INDEX sessions_status ON sessions (status, updated_at, sid);
   CREATE INDEX sessions_reason ON sessions (reason, updated_at, sid) WHERE reason IS NOT NULL;`,
  ],
};
