import { SqliteFile, type SqliteFileOptions } from '../../sqlite/file.ts';
import { IN_MEMORY } from '../../sqlite/module.ts';
import { type Clock, systemClock } from '../clock.ts';
import { SqliteEngine } from './sqliteengine.ts';
import { SqlSessions } from './sqlsessions.ts';
import { SESSIONS } from './tables.ts';

export interface MemoryStoreOptions {
  /** Measures leases. The default is the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** How a {@link SqliteStore} is opened. */
export interface SqliteStoreOptions extends SqliteFileOptions, MemoryStoreOptions {}

/**
 * Keeps sessions in a file that several processes may use at once, in write-ahead mode. Every call is one transaction: a process
 * that is killed at any moment leaves the session as it was before the call or as it is after the call.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'neuroscript-runtime';
 * import { LoopController, SqliteStore } from 'neuroscript-runtime/loop';
 *
 * await using runtime = await createRuntime();
 * using store = await SqliteStore.open('sessions.db');
 * const controller = new LoopController({ runtime, store });
 * for (const sid of await controller.recover()) console.log(`${sid} can be resumed`);
 * ```
 */
export class SqliteStore extends SqlSessions implements Disposable {
  readonly #engine: SqliteEngine;

  private constructor(engine: SqliteEngine) {
    super(engine);
    this.#engine = engine;
  }

  /** Opens or creates the file. Throws {@link StoreError}: `foreign`, `damaged`, `older`, `newer`, `busy`, `io`. */
  static async open(path: string, { clock = systemClock, ...options }: SqliteStoreOptions = {}): Promise<SqliteStore> {
    const file = await SqliteFile.open(path, SESSIONS, options);
    return new SqliteStore(new SqliteEngine(path, () => file, clock));
  }

  /** Closes the file. Leases that are still held expire. */
  [Symbol.dispose](): void {
    this.#engine[Symbol.dispose]();
  }
}

/** Keeps sessions in memory, for the lifetime of the process: a SQLite database without a file, which is made when it is needed. */
export class MemoryStore extends SqlSessions {
  readonly #engine: SqliteEngine;

  constructor({ clock = systemClock }: MemoryStoreOptions = {}) {
    const engine = new SqliteEngine(IN_MEMORY, () => SqliteFile.memory(SESSIONS), clock);
    super(engine);
    this.#engine = engine;
  }

  /** Forgets all sessions, the decision log and every listener: as a new store, which costs more. No call may be under way. */
  clear(): void {
    this.#engine.clear();
  }
}
