import type { DatabaseSync } from 'node:sqlite';
import { makeOrdinary } from '../../files/ordinary.ts';
import { onlyOrdinaryBeside, sqlite } from '../../sqlite/module.ts';

/** Most milliseconds to wait for the lock. */
const WAIT_MS = 5000;

/**
 * A lock between processes. It is the write lock of an empty SQLite file, because Node offers no other lock that the operating
 * system releases when its holder is killed.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens or creates the lock file. Rejects with the file system's error. */
  static async open(path: string): Promise<FileLock> {
    makeOrdinary(path);
    onlyOrdinaryBeside(path);
    return new FileLock(new (sqlite().DatabaseSync)(path, { timeout: WAIT_MS }));
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
