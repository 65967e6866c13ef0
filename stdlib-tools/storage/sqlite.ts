import { StoreError } from '../../src/sqlite/error.ts';
import { type Row, SqliteFile, type SqliteFileOptions } from '../../src/sqlite/file.ts';
import type { Format } from '../../src/sqlite/format.ts';
import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { anything, checker } from '../../src/wire/options.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { checkCaps, entryBytes, excess, full, type StorageCaps } from './caps.ts';
import type { Versioned, VersionedStorage, Write, Written } from './versioned.ts';

/** Options of opening a {@link SqliteStorage}. */
export interface SqliteStorageOptions extends SqliteFileOptions {
  /** Bounds of the storage; see {@link StorageCaps} for the defaults. */
  readonly caps?: StorageCaps;
}

const checkStorageOptions = checker<SqliteStorageOptions>({
  durability: anything,
  busyMs: anything,
  mustExist: anything,
  caps: anything,
});

/** Scopes, keys and values are JSON text, so that every string survives unchanged. Triggers keep the sums that the caps compare. */
export const VALUES: Format = {
  name: 'storage of tool values',
  // The letters NSto.
  applicationId: 0x4e_53_74_6f,
  migrations: [
    `CREATE TABLE entries (
       scope TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, value TEXT NOT NULL, bytes INTEGER NOT NULL,
       expires REAL, PRIMARY KEY (scope, key)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX entries_expires ON entries (expires) WHERE expires IS NOT NULL;
     CREATE TABLE scopes (scope TEXT PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     CREATE TABLE sums (one INTEGER PRIMARY KEY CHECK (one = 1), floor INTEGER NOT NULL, scopes INTEGER NOT NULL, bytes INTEGER NOT NULL)
       STRICT;
     INSERT INTO sums VALUES (1, 0, 0, 0);
     CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
       INSERT INTO scopes VALUES (new.scope, 1, new.bytes)
         ON CONFLICT (scope) DO UPDATE SET entries = entries + 1, bytes = bytes + new.bytes;
       UPDATE sums SET bytes = bytes + new.bytes;
     END;
     CREATE TRIGGER entry_changed AFTER UPDATE ON entries BEGIN
       UPDATE scopes SET bytes = bytes + new.bytes - old.bytes WHERE scope = new.scope;
       UPDATE sums SET bytes = bytes + new.bytes - old.bytes;
     END;
     CREATE TRIGGER entry_dropped AFTER DELETE ON entries BEGIN
       UPDATE scopes SET entries = entries - 1, bytes = bytes - old.bytes WHERE scope = old.scope;
       DELETE FROM scopes WHERE scope = old.scope AND entries = 0;
       UPDATE sums SET bytes = bytes - old.bytes, floor = max(floor, old.version);
     END;
     CREATE TRIGGER scope_added AFTER INSERT ON scopes BEGIN UPDATE sums SET scopes = scopes + 1; END;
     CREATE TRIGGER scope_dropped AFTER DELETE ON scopes BEGIN UPDATE sums SET scopes = scopes - 1; END;`,
    // The key of the call that wrote the entry last.
    'ALTER TABLE entries ADD COLUMN call TEXT',
  ],
};

/**
 * Keeps values in a file that several processes may share. A compare-and-set is one transaction, and an acknowledged write
 * survives the death of the process. Every write drops the expired entries.
 */
export class SqliteStorage implements VersionedStorage, Disposable {
  readonly #file: SqliteFile;
  readonly #caps: Required<StorageCaps>;

  private constructor(file: SqliteFile, caps: Required<StorageCaps>) {
    this.#file = file;
    this.#caps = caps;
  }

  /**
   * Opens the file or makes it. Throws {@link StoreError} (`ERR_STORE`): `foreign`, `damaged`, `newer`, `busy` or `io`, and
   * `ConfigError` (`ERR_CONFIG`) for invalid caps.
   */
  static async open(path: string, options: SqliteStorageOptions = {}): Promise<SqliteStorage> {
    checkStorageOptions('the options of a storage', options);
    const { caps = {}, ...rest } = options;
    const checked = checkCaps(caps);
    return new SqliteStorage(await SqliteFile.open(path, VALUES, rest), checked);
  }

  async get(scope: string, key: string, at: number): Promise<Versioned | null> {
    return asToolError(() =>
      this.#file.read(() => {
        const row = this.#live(JSON.stringify(scope), JSON.stringify(key), at);
        return row === undefined ? null : { value: storedValue(row), version: Number(row['version']) };
      }),
    );
  }

  async keys(scope: string, at: number): Promise<readonly string[]> {
    const live = 'SELECT key FROM entries WHERE scope = ? AND (expires IS NULL OR expires > ?)';
    const rows = asToolError(() => this.#file.read(() => this.#file.all(live, JSON.stringify(scope), at)));
    return rows.map(({ key }) => String(JSON.parse(String(key)))).sort();
  }

  async cas(write: Write): Promise<Written> {
    const { expected, ttlMs, at, call = null } = write;
    const [scope, key, value] = [JSON.stringify(write.scope), JSON.stringify(write.key), JSON.stringify(write.value)];
    return asToolError(() =>
      this.#file.write((): Written => {
        const before = this.#live(scope, key, at);
        const stored = Number(before?.['version'] ?? 0);
        if (call !== null && before?.['call'] === call) return { ok: true, version: stored };
        if (stored !== expected) return { ok: false, version: stored };
        const bytes = entryBytes(write, this.#caps);
        this.#file.run('DELETE FROM entries WHERE expires <= ?', at);
        const sums = this.#file.get('SELECT floor, scopes, bytes FROM sums');
        this.#fit(scope, bytes, before, sums);
        const version = (before === undefined ? Number(sums?.['floor'] ?? 0) : stored) + 1;
        this.#file.run(
          `INSERT INTO entries (scope, key, version, value, bytes, expires, call) VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (scope, key) DO UPDATE SET version = excluded.version, value = excluded.value, bytes = excluded.bytes,
           expires = excluded.expires, call = excluded.call`,
          ...[scope, key, version, value, bytes, ttlMs === null ? null : at + ttlMs, call],
        );
        return { ok: true, version };
      }),
    );
  }

  async forget(scope: string): Promise<void> {
    asToolError(() => this.#file.write(() => this.#file.run('DELETE FROM entries WHERE scope = ?', JSON.stringify(scope))));
  }

  /** Closes the file. Idempotent. */
  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #live(scope: string, key: string, at: number): Row | undefined {
    return this.#file.get(
      'SELECT version, value, bytes, call FROM entries WHERE scope = ? AND key = ? AND (expires IS NULL OR expires > ?)',
      ...[scope, key, at],
    );
  }

  #fit(scope: string, bytes: number, before: Row | undefined, sums: Row | undefined): void {
    const scoped = this.#file.get('SELECT entries, bytes FROM scopes WHERE scope = ?', scope);
    const taken = {
      replaced: before === undefined ? null : Number(before['bytes']),
      entries: Number(scoped?.['entries'] ?? 0),
      scopeBytes: Number(scoped?.['bytes'] ?? 0),
      scopes: Number(sums?.['scopes'] ?? 0),
      totalBytes: Number(sums?.['bytes'] ?? 0),
    };
    const problem = excess(bytes, taken, this.#caps);
    if (problem !== null) throw full(problem);
  }
}

function storedValue(row: Row): TaggedJson {
  // Only this class writes values, as the JSON of a TaggedJson. A file with damaged pages does not open.
  return JSON.parse(String(row['value'])) as TaggedJson;
}

/** Turns a failure of the storage into an error that a script can catch and that names no path of the host. */
function asToolError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ToolError(NS_CODES.IOFailed, `the storage cannot be used (${error.detail})`, undefined, { cause: error });
  }
}
