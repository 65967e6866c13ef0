import { NeuroScriptError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { chained, GENESIS, readLink } from './chain.ts';
import { type FileLock, type LogDisk, rotationOf } from './disk.ts';
import { LINE_BYTES } from './lines.ts';
import type { LogEntry } from './log.ts';

/** The file cannot be written, or does not end with a line of a decision log, so that no line can be chained to it. */
export class LogError extends NeuroScriptError {
  static readonly code = 'ERR_LOG';
  constructor(message: string, options?: ErrorOptions) {
    super(LogError.code, message, options);
  }
}

/** The error of a log whose file the system does not write. */
export function unwritable(path: string, cause: unknown): LogError {
  return new LogError(`the decision log ${path} cannot be written: ${messageOf(cause)}`, { cause });
}

interface Waiting {
  readonly entry: LogEntry;
  readonly done: PromiseWithResolvers<void>;
}

/** Where a file ends, and the hash of its last line. */
interface Tail {
  readonly inode: number;
  readonly size: number;
  readonly hash: string;
}

interface ChainedFileOptions {
  /** Whether an append waits for the disk. */
  readonly isSynced: boolean;
  /** Most bytes of the file before it is renamed. */
  readonly maxBytes: number;
  readonly disk: LogDisk;
}

/** The file of a `FileLog` on a disk. */
export class ChainedFile {
  readonly #path: string;
  readonly #disk: LogDisk;
  readonly #isSynced: boolean;
  readonly #maxBytes: number;
  #waiting: Waiting[] = [];
  #pump: Promise<void> | null = null;
  #lock: Promise<Pick<FileLock, 'during'>> | null = null;
  #tail: Tail | null = null;

  constructor(path: string, { isSynced, maxBytes, disk }: ChainedFileOptions) {
    this.#path = path;
    this.#disk = disk;
    this.#isSynced = isSynced;
    this.#maxBytes = maxBytes;
  }

  append(entry: LogEntry): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ entry, done });
    this.#pump ??= this.#drain();
    return done.promise;
  }

  async has(sid: string, turn: number): Promise<boolean> {
    await this.#pump;
    const place = `"SID":${JSON.stringify(sid)},"turn_index":${turn},`;
    return (await this.#lastWith(place)) !== null;
  }

  async goesOnAfter(sid: string): Promise<number | null> {
    await this.#pump;
    const session = `"SID":${JSON.stringify(sid)},`;
    const last = await this.#lastWith(session);
    const link = last === null ? null : readLink(last);
    if (link === null || typeof link === 'string') return null;
    const { decision, turn_index: turn } = link.entry;
    return decision === 'CONTINUE' && typeof turn === 'number' ? turn : null;
  }

  async #drain(): Promise<void> {
    // Waits for the current task to end, so that all entries appended in it go into one write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch.map(({ entry }) => entry));
        for (const { done } of batch) done.resolve();
      } catch (cause) {
        // The message of the system names no file.
        const error = cause instanceof NeuroScriptError ? cause : unwritable(this.#path, cause);
        for (const { done } of batch) done.reject(error);
      }
    }
    // Set in the same turn of the event loop as the last check of the queue, so that a later append starts a new pump.
    this.#pump = null;
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    this.#lock ??= this.#disk.lock(`${this.#path}.lock`);
    let lock: Pick<FileLock, 'during'>;
    try {
      lock = await this.#lock;
    } catch (error) {
      this.#lock = null;
      throw error;
    }
    lock.during(() => this.#append(entries));
    if (this.#isSynced) await this.#disk.sync(this.#path);
  }

  /** Runs synchronously and under the lock, so no other process can move the end of the file. */
  #append(entries: readonly LogEntry[]): void {
    const disk = this.#disk;
    let file = disk.open(this.#path);
    try {
      let tail = this.#tailOf(file);
      const links: string[] = [];
      let { hash } = tail;
      for (const entry of entries) {
        const link = chained(entry, hash);
        links.push(`${link.text}\n`);
        hash = link.hash;
      }
      const bytes = Buffer.from(links.join(''));
      if (tail.size > 0 && tail.size + bytes.length > this.#maxBytes) {
        disk.rename(this.#path, `${this.#path}.${rotationOf(disk.rotated(this.#path).at(-1)) + 1}`);
        disk.close(file);
        file = disk.open(this.#path);
        tail = { inode: disk.stat(file).inode, size: 0, hash: tail.hash };
      }
      writeWhole(disk, file, bytes, tail.size);
      this.#tail = { inode: tail.inode, size: tail.size + bytes.length, hash };
    } finally {
      disk.close(file);
    }
  }

  /** The end of the file. It is read again only if another process has moved it. */
  #tailOf(file: number): Tail {
    const { inode, size } = this.#disk.stat(file);
    if (this.#tail?.inode === inode && this.#tail.size === size) return this.#tail;
    const found = lastLine(this.#disk, file, size);
    if (found.rest !== '') {
      if (!isOurs(found.rest)) throw new LogError(`${this.#path} is not a decision log: it does not end with a line of one`);
      this.#disk.truncate(file, found.end);
    }
    if (found.text !== null) return { inode, size: found.end, hash: this.#hashOf(found.text) };
    const last = this.#disk.rotated(this.#path).at(-1);
    return { inode, size: 0, hash: last === undefined ? GENESIS : this.#hashOfLast(last) };
  }

  #hashOfLast(path: string): string {
    const file = this.#disk.open(path);
    try {
      return this.#hashOf(lastLine(this.#disk, file, this.#disk.stat(file).size).text ?? '');
    } finally {
      this.#disk.close(file);
    }
  }

  #hashOf(line: string): string {
    const link = readLink(line);
    if (typeof link !== 'string') return link.hash;
    throw new LogError(`${this.#path} cannot be continued as a decision log, because of its last line: ${link}`);
  }

  /**
   * The last line that contains a text, in the file and the last rotated file. Ignores a line that a killed process did not finish,
   * because the next append removes it.
   */
  async #lastWith(text: string): Promise<string | null> {
    let last: string | null = null;
    for (const file of [...this.#disk.rotated(this.#path).slice(-1), this.#path])
      for await (const { text: line, finished } of this.#disk.lines(file)) if (finished && line?.includes(text)) last = line;
    return last;
  }
}

/** The last complete line (null without one), its end, and the text after it. */
function lastLine(
  disk: LogDisk,
  file: number,
  size: number,
): { readonly text: string | null; readonly end: number; readonly rest: string } {
  const from = Math.max(0, size - LINE_BYTES);
  const bytes = Buffer.alloc(size - from);
  disk.read(file, bytes, from);
  const end = bytes.lastIndexOf(0x0a);
  const rest = bytes.toString('utf8', end + 1);
  if (end < 0) return { text: null, end: from, rest };
  const start = end === 0 ? 0 : bytes.lastIndexOf(0x0a, end - 1) + 1;
  return { text: bytes.toString('utf8', start, end), end: from + end + 1, rest };
}

const BEGIN = '{"ts":"';

/** Whether a text is the beginning of a log line. Other text is never removed, because the file may belong to another program. */
function isOurs(rest: string): boolean {
  return rest.startsWith(BEGIN) || BEGIN.startsWith(rest);
}

/** Writes all bytes or none: on an error, such as a full disk, the file is cut back. */
function writeWhole(disk: LogDisk, file: number, bytes: Buffer, before: number): void {
  try {
    for (let done = 0; done < bytes.length; ) done += disk.write(file, bytes, done);
  } catch (error) {
    disk.truncate(file, before);
    throw error;
  }
}
