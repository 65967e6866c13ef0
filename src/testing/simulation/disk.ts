import { ChainedFile, type DecisionLog, type LogDisk, type LogEntry } from '../../loop/index.ts';
import type { Process } from './process.ts';
import type { Watch } from './watch.ts';

/** A file of a world, with the number of its lines that the watch has seen. */
interface WorldFile {
  readonly inode: number;
  bytes: Buffer;
  seen: number;
}

export class Files {
  readonly byPath = new Map<string, WorldFile>();
  readonly #watch: Watch;
  #made = 0;

  constructor(watch: Watch) {
    this.#watch = watch;
  }

  /** The number of the file at a path. Creates the file if there is none. */
  open(path: string): number {
    const file = this.byPath.get(path) ?? { inode: ++this.#made, bytes: Buffer.alloc(0), seen: 0 };
    this.byPath.set(path, file);
    return file.inode;
  }

  at(inode: number): WorldFile {
    for (const file of this.byPath.values()) if (file.inode === inode) return file;
    throw new Error('EBADF: bad file descriptor');
  }

  /** Passes complete lines to the watch. From now on no process may remove them. */
  show(): void {
    for (const file of this.byPath.values()) {
      if (file.bytes.length < file.seen) this.#watch.cut();
      for (let end = file.bytes.indexOf(LF, file.seen); end >= 0; end = file.bytes.indexOf(LF, file.seen)) {
        const text = file.bytes.toString('utf8', file.seen, end);
        file.seen = end + 1;
        this.#watch.line(text);
      }
    }
  }
}

const LF = 0x0a;

/** The disk of a world, as one process reaches it. Writes may be short or fail, and are torn when the process dies within one. */
export class WorldDisk implements LogDisk {
  readonly #process: Process;
  readonly #files: Files;

  constructor(process: Process, files: Files) {
    this.#process = process;
    this.#files = files;
  }

  open(path: string): number {
    this.#mustLive();
    return this.#files.open(path);
  }

  close(): void {}

  stat(inode: number): { readonly inode: number; readonly size: number } {
    return { inode, size: this.#files.at(inode).bytes.length };
  }

  read(inode: number, into: Buffer, position: number): void {
    this.#files.at(inode).bytes.copy(into, 0, position);
  }

  write(inode: number, bytes: Buffer, from: number): number {
    this.#mustLive();
    const { fault, share } = this.#process.writes('log.write');
    const file = this.#files.at(inode);
    const most = bytes.length - from;
    const count = fault === null ? most : Math.floor(most * share);
    file.bytes = Buffer.concat([file.bytes, bytes.subarray(from, from + count)]);
    if (fault === 'torn') this.#process.die();
    this.#mustLive();
    if (count === 0) throw new Error('ENOSPC: no space left on device');
    return count;
  }

  truncate(inode: number, size: number): void {
    this.#mustLive();
    const file = this.#files.at(inode);
    file.bytes = file.bytes.subarray(0, size);
  }

  rename(from: string, to: string): void {
    this.#mustLive();
    const { byPath } = this.#files;
    const file = byPath.get(from);
    if (file === undefined) throw new Error(`ENOENT: no such file ${from}`);
    byPath.delete(from);
    byPath.set(to, file);
  }

  async sync(): Promise<void> {
    this.#mustLive();
  }

  rotated(path: string): readonly string[] {
    // Files are renamed in the order of their numbers; a world has few.
    return [...this.#files.byPath.keys()].filter((name) => name.startsWith(`${path}.`)).sort();
  }

  async *lines(path: string): AsyncGenerator<{ readonly text: string; readonly finished: boolean }> {
    const texts = this.#files.byPath.get(path)?.bytes.toString().split('\n') ?? [];
    const rest = texts.pop() ?? '';
    for (const text of texts) yield { text, finished: true };
    if (rest !== '') yield { text: rest, finished: false };
  }

  /** Work under a lock is one step of the world, so no other process can hold the lock meanwhile. */
  async lock(): Promise<{ readonly during: <T>(work: () => T) => T }> {
    return {
      during: (work) => {
        this.#mustLive();
        try {
          return work();
        } finally {
          this.#files.show();
        }
      },
    };
  }

  #mustLive(): void {
    if (!this.#process.alive) throw new Error(`the process ${this.#process.name} is dead`);
  }
}

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
