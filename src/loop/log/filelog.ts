import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, renameSync, statSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { NeuroScriptError } from '../../wire/errors.ts';
import { wholeNumber } from '../../wire/options.ts';
import { chained, GENESIS, readLink } from './chain.ts';
import { FileLock } from './filelock.ts';
import { LINE_BYTES, logLines } from './lines.ts';
import type { DecisionLog, LogEntry } from './log.ts';

/** Options of a {@link FileLog}. */
export interface FileLogOptions {
  /**
   * What an appended line survives. `always` waits for the disk, once for all waiting lines, so lines survive a loss of power.
   * `never`, the default, leaves writing to the operating system, so lines survive the death of the process.
   */
  readonly fsync?: 'always' | 'never';
  /** Most bytes of a file; 64 MiB when absent. A full file is renamed to `FILE.1`, `FILE.2` …, oldest first. */
  readonly maxBytes?: number;
}

/** The file does not end with a line of a decision log, so no line can be chained to it. */
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
 * Appends one JSON line per decision to a file, each chained to the previous line. Only the owner can read the file. Several
 * processes may append to one file: a lock (`FILE.lock`) that the operating system releases when its holder dies keeps their
 * lines in one chain. A line that a killed process did not finish is removed; its `append` never resolved.
 */
export class FileLog implements DecisionLog {
  readonly #path: string;
  readonly #fsync: boolean;
  readonly #maxBytes: number;
  #waiting: Waiting[] = [];
  #pump: Promise<void> | null = null;
  #lock: Promise<FileLock> | null = null;
  #tail: Tail | null = null;

  /** Does not access the file yet. Throws `ConfigError` for a `maxBytes` that is not a whole number from 1024. */
  constructor(path: string, { fsync = 'never', maxBytes = 64 * 1024 * 1024 }: FileLogOptions = {}) {
    wholeNumber(1024)('maxBytes of a log', maxBytes);
    this.#path = path;
    this.#fsync = fsync === 'always';
    this.#maxBytes = maxBytes;
  }

  /**
   * Writes lines in the order of the calls. Rejects with {@link LogError} for a file that is not a decision log, and with the
   * file system's error; no part of the line is in the file then.
   */
  append(entry: LogEntry): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ entry, done });
    this.#pump ??= this.#drain();
    return done.promise;
  }

  /** Searches the file and the last rotated file. */
  async has(sid: string, turn: number): Promise<boolean> {
    await this.#pump;
    const place = `"SID":${JSON.stringify(sid)},"turn_index":${turn},`;
    const rotated = rotatedFiles(this.#path);
    for (const file of [...rotated.slice(-1), this.#path]) if (await contains(file, place)) return true;
    return false;
  }

  /** Searches the file and the last rotated file. */
  async goesOnAfter(sid: string): Promise<number | null> {
    await this.#pump;
    const session = `"SID":${JSON.stringify(sid)},`;
    let last: string | null = null;
    for (const file of [...rotatedFiles(this.#path).slice(-1), this.#path]) last = (await lastWith(file, session)) ?? last;
    const link = last === null ? null : readLink(last);
    if (link === null || typeof link === 'string') return null;
    const { decision, turn_index: turn } = link.entry;
    return decision === 'CONTINUE' && typeof turn === 'number' ? turn : null;
  }

  async #drain(): Promise<void> {
    // Everything that is appended in this turn of the event loop goes into one write.
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
    // In the same turn of the event loop as the last check of the queue: a later append starts a new pump.
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

  /** Runs synchronously and under the lock, so no other process can move the end of the file. */
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

  /** The end of the file. It is read again only if another process has moved it. */
  #tailOf(file: number): Tail {
    const { ino: inode, size } = fstatSync(file);
    if (this.#tail?.inode === inode && this.#tail.size === size) return this.#tail;
    const found = lastLine(file, size);
    if (found.rest !== '') {
      if (!isOurs(found.rest)) throw new LogError(`${this.#path} is not a decision log: it does not end with a line of one`);
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
    throw new LogError(`${this.#path} cannot be continued as a decision log: of its last line, ${link}`);
  }
}

/** The rotated files of a log, oldest first. */
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

/** The last complete line (null without one), its end, and the text after it. */
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

/** Whether a text is the beginning of a log line. Other text is never removed, because the file may belong to another program. */
function isOurs(rest: string): boolean {
  return rest.startsWith(BEGIN) || BEGIN.startsWith(rest);
}

/** Writes all bytes or none: on an error, such as a full disk, the file is cut back. */
function writeWhole(file: number, bytes: Buffer, before: number): void {
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  } catch (error) {
    ftruncateSync(file, before);
    throw error;
  }
}

/** The last line of a file with a text in it. */
async function lastWith(path: string, text: string): Promise<string | null> {
  let last: string | null = null;
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  for await (const line of logLines(path)) if (line.text?.includes(text)) last = line.text;
  return last;
}

async function contains(path: string, text: string): Promise<boolean> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  for await (const line of logLines(path)) if (line.text?.includes(text)) return true;
  return false;
}
