import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../queue.ts';
import { ExecutorError } from './error.ts';

/** Name of the file that is there while somebody executes, or died executing. */
export const LOCK = 'executed.lock';

/**
 * The exclusive right to execute intents of a queue, for all processes: the gate, the execution and the record happen under
 * it, so that two executors never both find an intent unexecuted. A lock whose holder died stays: only a human can say what
 * the dead one had done, and removes the file then. Not for network file systems.
 */
export class QueueLock {
  /** The queue directory. */
  readonly queue: string;
  readonly #path: string;
  readonly #content: string;

  private constructor(queue: string, path: string, content: string) {
    this.queue = queue;
    this.#path = path;
    this.#content = content;
  }

  /** Takes the lock at once or throws {@link ExecutorError} `ERR_GATE_LOCKED`: nobody waits. `now` is Unix milliseconds. */
  static take(queue: string, now: number, name: string = LOCK): QueueLock {
    const path = join(queue, name);
    const holder = { pid: process.pid, since: new Date(now).toISOString(), token: randomUUID() };
    const content = `${JSON.stringify(holder)}\n`;
    try {
      const file = openSync(path, 'wx', 0o644);
      try {
        writeSync(file, content);
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      throw new ExecutorError('ERR_GATE_LOCKED', `the queue cannot be locked: ${holderOf(path) ?? reasonOf(cause)}`, { cause });
    }
    return new QueueLock(queue, path, content);
  }

  /** Whether the lock's file is still ours; somebody may have removed it by hand, and somebody else taken it since. */
  isHeld(): boolean {
    try {
      return readFileSync(this.#path, 'utf8') === this.#content;
    } catch {
      return false;
    }
  }

  /** Gives the lock up, when nothing of the execution is left undone. */
  release(): void {
    if (this.isHeld()) rmSync(this.#path);
  }
}

/** Who has the lock, in words; null when that cannot be read. */
function holderOf(path: string): string | null {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof holder !== 'object' || holder === null || !('pid' in holder) || !('since' in holder)) return null;
    return `process ${Number(holder.pid)} has had it since ${new Date(String(holder.since)).toISOString()}`;
  } catch {
    return null;
  }
}
