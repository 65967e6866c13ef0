import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../queue.ts';
import { ExecutorError } from './error.ts';
import { timestampOf } from './timestamp.ts';

/** Name of the lock file. It exists while a process executes an intent, and after that process died. */
export const LOCK = 'executed.lock';

/**
 * The exclusive right of one process to execute intents of a queue. The check, the execution and the record happen under it,
 * so that two executors never both find an intent unexecuted. The lock of a process that died stays until a human has found
 * out what it did and removes the file. Network file systems are not supported.
 */
export class QueueLock {
  /** The queue directory. */
  readonly queue: string;
  readonly #path: string;
  readonly #content: string;

  /**
   * Takes the lock without waiting. `now` is Unix milliseconds. Throws {@link ExecutorError} `ERR_GATE_LOCKED` when it is held, and for
   * anything but a path and a time.
   */
  constructor(queue: string, now: number, name: string = LOCK) {
    if (typeof queue !== 'string' || typeof name !== 'string')
      throw new ExecutorError('ERR_GATE_LOCKED', 'the queue cannot be locked: it must be the path of a directory');
    this.queue = queue;
    this.#path = join(queue, name);
    const holder = { pid: process.pid, since: timestampOf(now, 'ERR_GATE_LOCKED'), token: randomUUID() };
    this.#content = `${JSON.stringify(holder)}\n`;
    try {
      const file = openSync(this.#path, 'wx', 0o644);
      try {
        writeFileSync(file, this.#content);
      } catch (error) {
        // A lock without a holder, as of a full disk, would hold for ever.
        rmSync(this.#path, { force: true });
        throw error;
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      throw new ExecutorError('ERR_GATE_LOCKED', `the queue cannot be locked: ${holderOf(this.#path) ?? reasonOf(cause)}`, {
        cause,
      });
    }
  }

  /** Whether this process still holds the lock. A human may have removed the file, and another process may have taken it. */
  isHeld(): boolean {
    try {
      return contentOf(this.#path) === this.#content;
    } catch {
      return false;
    }
  }

  /**
   * Releases the lock. Call it when the execution is completely recorded. Throws {@link ExecutorError} `ERR_GATE_RECORD` when the
   * file cannot be removed: the lock then stays until a human removes it.
   */
  release(): void {
    if (!this.isHeld()) return;
    try {
      rmSync(this.#path);
    } catch (cause) {
      throw new ExecutorError('ERR_GATE_RECORD', `the lock of the queue cannot be removed: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** The beginning of a file, more than a lock has. Never waits for the writer of a named pipe. */
function contentOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(4096);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

/** A sentence about the holder of the lock; null when the file cannot be read. */
function holderOf(path: string): string | null {
  try {
    const holder: unknown = JSON.parse(contentOf(path));
    if (typeof holder !== 'object' || holder === null || !('pid' in holder) || !('since' in holder)) return null;
    return `process ${Number(holder.pid)} has had it since ${new Date(String(holder.since)).toISOString()}`;
  } catch {
    return null;
  }
}
