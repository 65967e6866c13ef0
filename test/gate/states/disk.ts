/**
 * A disk with one directory, which the gate's code uses in place of `node:fs`. It can fail at any step, kill the process that uses it,
 * and lose what nobody waited for.
 */

/** What goes wrong at one step of one process. */
export interface Fault {
  /** Number of the step at which it happens, from 1; 0 for none. */
  readonly step: number;
  /**
   * `die`: the process dies before the step. `half`, `nearly`: it dies in a write, of which half, or all but the last byte, is done.
   * `fail`: the step fails, a write in its middle. Otherwise another process acts here.
   */
  readonly kind: 'die' | 'half' | 'nearly' | 'fail' | (() => unknown);
}

interface File {
  readonly ino: number;
  bytes: Buffer;
  /** What survives a power failure. */
  synced: Buffer;
  mtimeMs: number;
}

interface Open {
  readonly file: File | null;
  readonly changes: boolean;
}

/** What a process does between two moments at which others may act. */
interface Action {
  readonly fault: Fault | null;
  /** The names of its steps so far. */
  readonly steps: string[];
  dead: boolean;
}

const NOBODY: Action = { fault: null, steps: [], dead: false };

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: on the disk of the test`), { code });
}

/** The process does not exist any more. Its code runs on in the test, but no step has an effect. */
class Dead extends Error {}

const FLAGS = { O_RDONLY: 0, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_APPEND: 1024, O_NONBLOCK: 2048, O_NOFOLLOW: 131072 };

export class Disk {
  readonly directory: string;
  /** Steps that changed something, by anybody. */
  changes = 0;
  #names = new Map<string, File>();
  #syncedNames = new Map<string, File>();
  readonly #open = new Map<number, Open>();
  #acting: Action = NOBODY;
  readonly #outer: Action[] = [];
  #next = 1;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** A process begins an action, with a fault or none. It may do so at a step of another one. */
  enter(fault: Fault | null): void {
    this.#outer.push(this.#acting);
    this.#acting = { fault, steps: [], dead: false };
  }

  /** The action ends. */
  leave(): Action {
    const ended = this.#acting;
    this.#acting = this.#outer.pop() ?? NOBODY;
    return ended;
  }

  /** Everything since the last `fsync` is lost. */
  loseUnsynced(): void {
    this.#names = new Map(this.#syncedNames);
    for (const file of this.#names.values()) file.bytes = file.synced;
  }

  text(name: string): string | undefined {
    return this.#names.get(name)?.bytes.toString();
  }

  /** What a human writes to a file, and the disk has at once; null removes the file. */
  edit(name: string, text: string | null): void {
    if (text === null) {
      this.#names.delete(name);
      this.#syncedNames.delete(name);
      return;
    }
    const bytes = Buffer.from(text);
    const file = this.#names.get(name) ?? this.#create(name);
    Object.assign(file, { bytes, synced: bytes });
    this.#syncedNames.set(name, file);
  }

  /** All that later steps depend on. */
  state(): string {
    const of = (names: ReadonlyMap<string, File>): unknown =>
      [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { bytes, synced }]) => [name, String(bytes), String(synced)]);
    return JSON.stringify([of(this.#names), of(this.#syncedNames)]);
  }

  #step(name: string, write?: { readonly file: File; readonly bytes: Buffer }): void {
    const acting = this.#acting;
    if (acting.dead) throw new Dead();
    acting.steps.push(name);
    if (acting.fault?.step !== acting.steps.length) return;
    const { kind } = acting.fault;
    if (typeof kind === 'function') {
      kind();
      return;
    }
    if (write !== undefined && kind !== 'die')
      this.#append(write.file, write.bytes.subarray(0, kind === 'nearly' ? -1 : write.bytes.length / 2));
    if (kind === 'fail') throw systemError('EIO');
    acting.dead = true;
    throw new Dead();
  }

  #write(number: number, data: string | Uint8Array): number {
    const file = this.#fileOf(number);
    const bytes = Buffer.from(data);
    this.#step('write', { file, bytes });
    if (!this.#opened(number).changes) throw systemError('EBADF');
    this.#append(file, bytes);
    return bytes.length;
  }

  #append(file: File, bytes: Buffer): void {
    this.changes += 1;
    file.bytes = Buffer.concat([file.bytes, bytes]);
    file.mtimeMs += 1;
  }

  #create(name: string): File {
    this.#next += 1;
    const file = { ino: this.#next, bytes: Buffer.alloc(0), synced: Buffer.alloc(0), mtimeMs: 0 };
    this.#names.set(name, file);
    this.changes += 1;
    return file;
  }

  #name(path: string): string {
    return path.slice(this.directory.length + 1);
  }

  #opened(number: number): Open {
    const open = this.#open.get(number);
    if (open === undefined) throw systemError('EBADF');
    return open;
  }

  #fileOf(number: number): File {
    const { file } = this.#opened(number);
    if (file === null) throw systemError('EISDIR');
    return file;
  }

  /** The part of `node:fs` that the gate uses. */
  readonly fs = {
    constants: FLAGS,
    openSync: (path: string, flags: number | 'wx'): number => {
      this.#step(flags === 'wx' || (flags & FLAGS.O_CREAT) !== 0 ? 'create' : 'open');
      const bits = flags === 'wx' ? FLAGS.O_RDWR | FLAGS.O_CREAT | FLAGS.O_EXCL : flags;
      const name = this.#name(path);
      let file = path === this.directory ? null : this.#names.get(name);
      if (file === undefined && (bits & FLAGS.O_CREAT) === 0) throw systemError('ENOENT');
      if (file !== undefined && (bits & FLAGS.O_EXCL) !== 0) throw systemError('EEXIST');
      if (file === undefined) file = this.#create(name);
      this.#next += 1;
      this.#open.set(this.#next, { file, changes: (bits & FLAGS.O_RDWR) !== 0 });
      return this.#next;
    },
    closeSync: (number: number): void => {
      if (this.#acting.dead) throw new Dead();
      this.#open.delete(number);
    },
    readSync: (number: number, buffer: Uint8Array, offset: number, length: number, position: number): number => {
      this.#step('read');
      const part = this.#fileOf(number).bytes.subarray(position, position + length);
      buffer.set(part, offset);
      return part.length;
    },
    writeSync: (number: number, data: string | Uint8Array): number => this.#write(number, data),
    writeFileSync: (number: number, data: string | Uint8Array): void => void this.#write(number, data),
    fsyncSync: (number: number): void => {
      this.#step('sync');
      const { file } = this.#opened(number);
      this.changes += 1;
      if (file === null) this.#syncedNames = new Map(this.#names);
      else file.synced = file.bytes;
    },
    fstatSync: (number: number) => {
      this.#step('stat');
      return statsOf(this.#fileOf(number));
    },
    statSync: (path: string) => {
      this.#step('stat');
      if (path === this.directory) return statsOf(null);
      const file = this.#names.get(this.#name(path));
      return file === undefined ? undefined : statsOf(file);
    },
    lstatSync: (path: string) => this.fs.statSync(path),
    rmSync: (path: string): void => {
      this.#step('remove');
      if (!this.#names.delete(this.#name(path))) throw systemError('ENOENT');
      this.changes += 1;
    },
  };
}

function statsOf(file: File | null) {
  const { ino, bytes, mtimeMs } = file ?? { ino: 0, bytes: [], mtimeMs: 0 };
  return { dev: 1, ino, size: bytes.length, mtimeMs, isFile: () => file !== null, isDirectory: () => file === null };
}
