import { SqliteFile, type SqliteFileOptions } from '../../src/sqlite/file.ts';
import { SQLITE_DIALECT, SqliteSql } from '../../src/sqlite/sqlitesql.ts';
import { anything, checker } from '../../src/wire/options.ts';
import { checkCaps, type StorageCaps } from './caps.ts';
import { SqlStorage } from './sqlstorage.ts';
import { VALUES } from './tables.ts';

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

/** Keeps values in a file that several processes may share. An acknowledged write survives the death of the process. */
export class SqliteStorage extends SqlStorage implements Disposable {
  readonly #sql: SqliteSql;

  private constructor(sql: SqliteSql, caps: StorageCaps) {
    super(sql, caps);
    this.#sql = sql;
  }

  /**
   * Opens the file or makes it. Throws {@link StoreError} (`ERR_STORE`): `foreign`, `damaged`, `older`, `newer`, `busy` or `io`, and
   * `ConfigError` (`ERR_CONFIG`) for invalid caps.
   */
  static async open(path: string, options: SqliteStorageOptions = {}): Promise<SqliteStorage> {
    checkStorageOptions('the options of a storage', options);
    const { caps = {}, ...rest } = options;
    checkCaps(caps);
    const file = await SqliteFile.open(path, VALUES, rest);
    return new SqliteStorage(
      sqlOf(() => file),
      caps,
    );
  }

  /** Closes the file. Idempotent. */
  [Symbol.dispose](): void {
    this.#sql[Symbol.dispose]();
  }
}

/** Keeps values for the life of the process, in a SQLite database without a file, which is made when it is needed. */
export class MemoryStorage extends SqlStorage {
  /** Throws `ConfigError` (`ERR_CONFIG`) for a cap that is not a whole number from 1. */
  constructor(caps: StorageCaps = {}) {
    super(
      sqlOf(() => SqliteFile.memory(VALUES)),
      caps,
    );
  }
}

/** The clock of the turn decides what has expired, so no statement asks for the time. */
function sqlOf(open: () => SqliteFile): SqliteSql {
  return new SqliteSql(SQLITE_DIALECT, open, () => 0);
}
