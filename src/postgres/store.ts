import { SqlSessions } from '../loop/index.ts';
import type { AnyClient } from './clients.ts';
import type { ConnectOptions } from './connect.ts';
import { Database } from './database.ts';
import { PostgresEngine } from './engine.ts';
import { openTables } from './tables.ts';

/** How a {@link PostgresStore} is opened. */
export interface PostgresStoreOptions extends ConnectOptions {
  /** The schema of the tables: lower-case letters, digits and `_`; `neuroscript` when absent. */
  readonly schema?: string;
  /** Whether missing tables are made; true when absent. If not, a database without them is refused. */
  readonly migrate?: boolean;
}

/**
 * Keeps sessions in a database that many hosts use at once. Each call is one statement or one transaction, with the clock of the database,
 * and leaves nothing in its connection. A write whose connection was lost is tried again: the store then sees by its stamp whether it had
 * been done.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'neuroscript-runtime';
 * import { LoopController } from 'neuroscript-runtime/loop';
 * import { PostgresStore } from 'neuroscript-runtime/postgres';
 *
 * await using runtime = await createRuntime();
 * await using store = await PostgresStore.open('postgres://user:password@127.0.0.1:5432/app');
 * const controller = new LoopController({ runtime, store, log: store.log });
 * ```
 */
export class PostgresStore extends SqlSessions implements AsyncDisposable {
  readonly #engine: PostgresEngine;

  private constructor(engine: PostgresEngine) {
    super(engine);
    this.#engine = engine;
  }

  /**
   * Opens the store of a database: by its URL, or through a client of the application, which stays open when the store is closed.
   * Throws `StoreError`: `io`, `busy`, `foreign`, `older`, `newer`; and `ConfigError` for a URL or a schema of another form. No message
   * has the password.
   */
  static async open(database: string | AnyClient, options: PostgresStoreOptions = {}): Promise<PostgresStore> {
    const opened = await Database.connect(database, options);
    try {
      await openTables(opened, options.migrate ?? true);
      return new PostgresStore(new PostgresEngine(opened));
    } catch (error) {
      await opened.end();
      throw error;
    }
  }

  /** Chains the log, stops listening, and closes the connections that this object made. Leases that are still held expire. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
  }
}
