import { rm, writeFile } from 'node:fs/promises';
import { checker, checkText, oneOf, wholeNumber } from '../../wire/options.ts';
import { ChainedFile, unwritable } from './chainedfile.ts';
import { REAL_DISK } from './disk.ts';
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

/** Room for the decisions of many turns, and more than a file system keeps beside the name of a file. */
const PROBE_BYTES = 65_536;

const checkOptions = checker<FileLogOptions>({ fsync: oneOf('never', 'always'), maxBytes: wholeNumber(1024) });

/**
 * Appends one JSON line per decision to a file, each chained to the previous line. Only the owner can read the file. Several
 * processes may append to one file: a lock (`FILE.lock`) that the operating system releases when its holder dies keeps their
 * lines in one chain. A line that a killed process did not finish is removed; its `append` never resolved.
 */
export class FileLog implements DecisionLog {
  readonly #file: ChainedFile;
  readonly #path: string;

  /** Does not access the file yet. Throws `ConfigError` for a path that is not a text and for options that are unknown or wrong. */
  constructor(path: string, options: FileLogOptions = {}) {
    checkText('the path of a log', path);
    checkOptions('the options of a log', options);
    const { fsync = 'never', maxBytes = 64 * 1024 * 1024 } = options;
    this.#path = path;
    this.#file = new ChainedFile(path, { isSynced: fsync === 'always', maxBytes, disk: REAL_DISK });
  }

  /**
   * Writes lines in the order of the calls. Rejects with {@link LogError} for a file that is not a decision log or cannot be
   * written; no part of the line is in the file then.
   */
  append(entry: LogEntry): Promise<void> {
    return this.#file.append(entry);
  }

  /** Writes a file beside the log, and removes it. Rejects with {@link LogError} when that fails, for instance on a full disk. */
  async ping(): Promise<void> {
    const probe = `${this.#path}.probe-${process.pid}`;
    try {
      await writeFile(probe, new Uint8Array(PROBE_BYTES), { mode: 0o600 });
    } catch (error) {
      throw unwritable(this.#path, error);
    } finally {
      await rm(probe, { force: true });
    }
  }

  /** Searches the file and the last rotated file. */
  has(sid: string, turn: number): Promise<boolean> {
    return this.#file.has(sid, turn);
  }

  /** Searches the file and the last rotated file. */
  goesOnAfter(sid: string): Promise<number | null> {
    return this.#file.goesOnAfter(sid);
  }
}
