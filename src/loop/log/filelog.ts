import {
  closeSync,
  createReadStream,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ConfigError, NeuroScriptError } from '../../wire/errors.ts';
import { chained, GENESIS, readLink } from './chain.ts';
import { FileLock } from './filelock.ts';
import type { DecisionLog, LogEntry } from './log.ts';

/** How a {@link FileLog} keeps its lines. */
export interface FileLogOptions {
  /**
   * What an appended line survives: `always` waits for the disk, once for all lines that are waiting, so that also a loss of
   * power loses none; `never`, the default, leaves it to the operating system, which is enough when the process alone dies.
   */
  readonly fsync?: 'always' | 'never';
  /** A file that would grow beyond so many bytes is put aside as `FILE.1`, `FILE.2` …, oldest first. Default 64 MiB. */
  readonly maxBytes?: number;
}

/** The file holds something that is no line of a chained decision log, so nothing can be chained to it. */
export class LogError extends NeuroScriptError {
  static readonly code = 'ERR_LOG';
  constructor(message: string) {
    super(LogError.code, message);
  }
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

/**
 * Appends one JSON line per decision to a file, each chained to the one before (see `chain.ts`), readable by its owner
 * only. Several processes may append to one file: a lock that the operating system takes back when its holder dies
 * (`FILE.lock`) keeps their lines in one chain. A line that a killed process did not finish is cut off: nobody was told that
 * it was kept.
 */
export class FileLog implements DecisionLog {
  readonly #path: string;
  readonly #fsync: boolean;
  readonly #maxBytes: number;
  #waiting: Waiting[] = [];
  #pump: Promise<void> | null = null;
  #lock: Promise<FileLock> | null = null;
  #tail: Tail | null = null;

  /** Touches no file yet. Throws {@link ConfigError} for a size that is no whole number from 1024. */
  constructor(path: string, { fsync = 'never', maxBytes = 64 * 1024 * 1024 }: FileLogOptions = {}) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1024)
      throw new ConfigError(`maxBytes of a log must be a whole number from 1024, got ${String(maxBytes)}`);
    this.#path = path;
    this.#fsync = fsync === 'always';
    this.#maxBytes = maxBytes;
  }

  /**
   * Lines reach the file in the order of the calls. Rejects with {@link LogError} for a file that is no decision log, and
   * with the file system's error; then no part of the line is in the file.
   */
  append(entry: LogEntry): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ entry, done });
    this.#pump ??= this.#drain();
    return done.promise;
  }

  /** Looks through the file and the one that was put aside last. */
  async has(sid: string, turn: number): Promise<boolean> {
    await this.#pump;
    const place = `"SID":${JSON.stringify(sid)},"turn_index":${turn},`;
    const rotated = rotatedFiles(this.#path);
    for (const file of [...rotated.slice(-1), this.#path]) if (await contains(file, place)) return true;
    return false;
  }

  async #drain(): Promise<void> {
    // Lets everything that is appended in this turn of the event loop go into one write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(batch.map(({ entry }) => entry));
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    // Together with the last look at what is waiting: what comes later starts a pump of its own.
    this.#pump = null;
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    this.#lock ??= FileLock.open(`${this.#path}.lock`);
    let lock: FileLock;
    try {
      lock = await this.#lock;
    } catch (error) {
      this.#lock = null;
      throw error;
    }
    lock.during(() => this.#append(entries));
    if (!this.#fsync) return;
    const file = await open(this.#path, 'r+');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** Under the lock, and without a pause: nobody else moves the file or its end. */
  #append(entries: readonly LogEntry[]): void {
    let file = openSync(this.#path, 'a+', 0o600);
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
        renameSync(this.#path, `${this.#path}.${numberOf(rotatedFiles(this.#path).at(-1)) + 1}`);
        closeSync(file);
        file = openSync(this.#path, 'a+', 0o600);
        tail = { inode: fstatSync(file).ino, size: 0, hash: tail.hash };
      }
      writeWhole(file, bytes, tail.size);
      this.#tail = { inode: tail.inode, size: tail.size + bytes.length, hash };
    } finally {
      closeSync(file);
    }
  }

  /** The end of the file; read again only when another process has moved it. */
  #tailOf(file: number): Tail {
    const { ino: inode, size } = fstatSync(file);
    if (this.#tail?.inode === inode && this.#tail.size === size) return this.#tail;
    const found = lastLine(file, size);
    if (found.rest !== '') {
      if (!isOurs(found.rest)) throw new LogError(`${this.#path} is no decision log: it does not end with a line of one`);
      ftruncateSync(file, found.end);
    }
    if (found.text !== null) return { inode, size: found.end, hash: this.#hashOf(found.text) };
    const last = rotatedFiles(this.#path).at(-1);
    return { inode, size: 0, hash: last === undefined ? GENESIS : this.#hashOfLast(last) };
  }

  #hashOfLast(path: string): string {
    const file = openSync(path, 'r');
    try {
      return this.#hashOf(lastLine(file, fstatSync(file).size).text ?? '');
    } finally {
      closeSync(file);
    }
  }

  #hashOf(line: string): string {
    const link = readLink(line);
    if (typeof link !== 'string') return link.hash;
    throw new LogError(`${this.#path} is no decision log that can be continued: of its last line, ${link}`);
  }
}

/** The files of a log that were put aside, oldest first. */
export function rotatedFiles(path: string): readonly string[] {
  const name = `${basename(path)}.`;
  const found = readdirSync(dirname(path)).filter(
    (file) => file.startsWith(name) && /^[1-9]\d{0,14}$/.test(file.slice(name.length)),
  );
  return found.map((file) => join(dirname(path), file)).sort((a, b) => numberOf(a) - numberOf(b));
}

function numberOf(rotated: string | undefined): number {
  return rotated === undefined ? 0 : Number(rotated.slice(rotated.lastIndexOf('.') + 1));
}

/** Most bytes of one line: ids and codes are short. */
const LINE_BYTES = 64 * 1024;

/** The last whole line (null: there is none), where it ends, and what stands after it. */
function lastLine(file: number, size: number): { readonly text: string | null; readonly end: number; readonly rest: string } {
  const from = Math.max(0, size - LINE_BYTES);
  const bytes = Buffer.alloc(size - from);
  readSync(file, bytes, 0, bytes.length, from);
  const end = bytes.lastIndexOf(0x0a);
  const rest = bytes.toString('utf8', end + 1);
  if (end < 0) return { text: null, end: from, rest };
  const start = end === 0 ? 0 : bytes.lastIndexOf(0x0a, end - 1) + 1;
  return { text: bytes.toString('utf8', start, end), end: from + end + 1, rest };
}

const BEGIN = '{"ts":"';

/** Whether a text is the beginning of a line of ours: what is not is never cut off, whoever's file it is. */
function isOurs(rest: string): boolean {
  return rest.startsWith(BEGIN) || BEGIN.startsWith(rest);
}

/** All or nothing: what a full disk took of the bytes is taken back. */
function writeWhole(file: number, bytes: Buffer, before: number): void {
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  } catch (error) {
    ftruncateSync(file, before);
    throw error;
  }
}

async function contains(path: string, text: string): Promise<boolean> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  for await (const line of createInterface({ input: createReadStream(path, 'utf8') })) if (line.includes(text)) return true;
  return false;
}
