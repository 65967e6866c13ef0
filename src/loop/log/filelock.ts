import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';

/** Most milliseconds that a process waits for the lock. */
const WAIT_MS = 5000;

/**
 * A lock between processes. It is the write lock of an empty SQLite file: the one lock that Node can take which the operating
 * system takes back when its holder is killed.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Makes the lock's file where there is none. Rejects with the file system's error. */
  static async open(path: string): Promise<FileLock> {
    await (await open(path, 'a', 0o600)).close();
    const { DatabaseSync: Database } = await import('node:sqlite');
    return new FileLock(new Database(path, { timeout: WAIT_MS }));
  }

  /** Runs `work` while no other process holds the lock. */
  during<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      return work();
    } finally {
      this.#database.exec('ROLLBACK');
    }
  }
}
