import { ChainedFile, type DecisionLog, type LogEntry } from '../../loop/index.ts';
import type { WorldDisk } from './disk.ts';
import type { Process } from './process.ts';

const PATH = 'decisions.log';
/**
 * Most bytes of a file: few, so that a world rotates files. A process searches the last two files for an uncertain decision; they cover a
 * lease.
 */
const MOST_BYTES = 4096;

/** The decision log of a process, in files that all processes share. */
export class DiskLog implements DecisionLog {
  readonly #process: Process;
  readonly #file: ChainedFile;

  constructor(process: Process, disk: WorldDisk) {
    this.#process = process;
    this.#file = new ChainedFile(PATH, { isSynced: false, maxBytes: MOST_BYTES, disk });
  }

  append(entry: LogEntry): Promise<void> {
    return this.#process.local('log.append', () => this.#file.append(entry));
  }

  has(sid: string, turn: number): Promise<boolean> {
    return this.#process.local('log.has', () => this.#file.has(sid, turn));
  }
}
