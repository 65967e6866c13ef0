import { SqlStorage, type StorageCaps } from '../../stdlib-tools/index.ts';
import type { AnyClient } from './clients.ts';
import type { ConnectOptions } from './connect.ts';
import { Database } from './database.ts';
import { openTables } from './tables.ts';

/** How a {@link PostgresStorage} is opened, and how much it may hold. */
export interface PostgresStorageOptions extends ConnectOptions {
  /** As of the store of sessions beside it. */
  readonly schema?: string;
  /** How much the storage may hold; see {@link StorageCaps} for the defaults. */
  readonly caps?: StorageCaps;
}

/**
 * Keeps the values of tools in the schema of a store of sessions, for all hosts. One compare-and-set is done at a time, so that the caps
 * hold.
 */
export class PostgresStorage extends SqlStorage implements AsyncDisposable {
  readonly #database: Database;

  private constructor(database: Database, caps: StorageCaps) {
    super(database, caps);
    this.#database = database;
  }

  /** Throws as `PostgresStore.open` does, and `ConfigError` for invalid caps. */
  static async open(database: string | AnyClient, options: PostgresStorageOptions = {}): Promise<PostgresStorage> {
    const { caps = {}, ...rest } = options;
    const opened = await Database.connect(database, rest);
    try {
      await openTables(opened, true);
      return new PostgresStorage(opened, caps);
    } catch (error) {
      await opened.end();
      throw error;
    }
  }

  /** Closes the connections that this object made. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.end();
  }
}
