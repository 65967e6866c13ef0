import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeOrdinary } from '../../files/ordinary.ts';
import { onlyOrdinaryBeside, sqlite } from '../../sqlite/module.ts';
import { type LogLine, logLines } from './lines.ts';

/** The file system functions of a decision log. Each throws the file system's error. */
export interface LogDisk {
  /** Opens a file for reading and appending. A new file can be read only by its owner. */
  open(path: string): number;
  close(file: number): void;
  stat(file: number): { readonly inode: number; readonly size: number };
  /** Fills the buffer with the bytes of the file from `position`. */
  read(file: number, into: Buffer, position: number): void;
  /** Appends the bytes from `from`, or some of them. Returns their number. */
  write(file: number, bytes: Buffer, from: number): number;
  truncate(file: number, size: number): void;
  rename(from: string, to: string): void;
  /** Waits until the written bytes are on the disk. */
  sync(path: string): Promise<void>;
  /** The rotated files of a log, oldest first. */
  rotated(path: string): readonly string[];
  /** The lines of a file; none when there is no such file. */
  lines(path: string): AsyncIterable<LogLine>;
  /** A lock between processes. */
  lock(path: string): Promise<Pick<FileLock, 'during'>>;
}

/** The file system of the operating system. */
export const REAL_DISK: LogDisk = {
  open: (path) => openSync(path, 'a+', 0o600),
  close: closeSync,
  stat(file) {
    const { ino: inode, size } = fstatSync(file);
    return { inode, size };
  },
  read: (file, into, position) => void readSync(file, into, 0, into.length, position),
  write: (file, bytes, from) => writeSync(file, bytes, from),
  truncate: ftruncateSync,
  rename: renameSync,
  async sync(path) {
    const file = await open(path, 'r+');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  },
  rotated: rotatedFiles,
  async *lines(path) {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
    yield* logLines(path);
  },
  lock: (path) => FileLock.open(path),
};

/** The rotated files of a log, oldest first. */
export function rotatedFiles(path: string): readonly string[] {
  const name = `${basename(path)}.`;
  const found = readdirSync(dirname(path)).filter(
    (file) => file.startsWith(name) && /^[1-9]\d{0,14}$/.test(file.slice(name.length)),
  );
  return found.map((file) => join(dirname(path), file)).sort((a, b) => rotationOf(a) - rotationOf(b));
}

/** The number of a rotated file; 0 without one. */
export function rotationOf(rotated: string | undefined): number {
  return rotated === undefined ? 0 : Number(rotated.slice(rotated.lastIndexOf('.') + 1));
}

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
