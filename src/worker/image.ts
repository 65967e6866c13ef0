import type { Callback, Context, ExternalCopy, Isolate, Reference, Script } from 'isolated-vm';
import { LOCKDOWN } from './lockdown.ts';
import { PART_NAMES, type PartName, scriptsIn } from './parts.ts';

/** The module `isolated-vm`, loaded by the caller. */
export type IsolatedVm = typeof import('isolated-vm');

/** The functions that an isolate can call. Only strings and numbers pass through them. */
export interface GuestPorts {
  /** 0: continue; 1: the CPU limit is reached; 2: the wall limit is reached. When `measured`: microseconds since the start. */
  clock(measured: boolean): number;
  /** Takes the JSON of a guest frame, and whether another frame follows at once. Returns the JSON of a reply, or ''. */
  host(frame: unknown, follows: boolean): string;
  /** The JSON of a part of this run's files by its number; '' for an unknown number. */
  tree(file: unknown, part: unknown): string;
}

/** The interpreter, ready for one run after another. */
export interface Prepared {
  /** CPU time that it has used, milliseconds. */
  readonly cpuMs: number;
  /** Bytes of its heap in use, garbage included. */
  readonly heapBytes: number;
  /** Whether V8 has disposed of it because its heap was full. */
  readonly lost: boolean;
  /** Loads these parts of the interpreter for the runs that follow, each once. */
  load(parts: readonly PartName[]): void;
  /** Takes the JSON of a `GuestInput`, and returns the JSON of a `GuestResult`. Throws when V8 stops the program, at the latest after `timeoutMs`. */
  run(input: string, timeoutMs?: number): unknown;
  dispose(): void;
}

/** Prepares the interpreter for runs. */
export interface Image {
  /** `heapMb` limits the heap of the run. */
  prepare(heapMb: number): Prepared;
}

const FILE_NAME = 'guest.js';
const partFile = (name: PartName): string => `${name}.js`;
const SCRIPT_FILES = [FILE_NAME, ...PART_NAMES.map(partFile)];

/**
 * The guest program, and V8's code caches that load it into fresh isolates quickly. They come from an earlier worker
 * (`wire/codecache.ts`), or are made from the text at its first use.
 */
export class GuestImage implements Image {
  readonly #ivm: IsolatedVm;
  readonly #script: string;
  readonly #clock: Callback;
  readonly #host: Callback;
  readonly #tree: Callback;
  readonly #parts: ReadonlyMap<PartName, string>;
  readonly #caches = new Map<string, ExternalCopy<ArrayBuffer>>();
  /** Whether V8 has rejected a cache. */
  rejected = false;

  /**
   * `guest` has the scripts of {@link scriptsIn}. The interpreter runs before the lockdown, a part when a program needs it. `caches` are
   * code caches of the interpreter and of its parts, in their order.
   */
  constructor(ivm: IsolatedVm, guest: string, ports: GuestPorts, caches: readonly Uint8Array<ArrayBuffer>[] = []) {
    this.#ivm = ivm;
    for (const [index, { buffer }] of caches.entries()) this.#caches.set(SCRIPT_FILES[index] ?? '', new ivm.ExternalCopy(buffer));
    const { own, parts } = scriptsIn(guest);
    this.#parts = parts;
    this.#script = `(() => {${own}\n;${LOCKDOWN};return (...ports) => guest.boot(...ports.map(Object.freeze), guest.kit);})()`;
    this.#clock = new ivm.Callback((measured: unknown) => ports.clock(measured === true));
    this.#host = new ivm.Callback((frame: unknown, follows: unknown) => ports.host(frame, follows === true));
    this.#tree = new ivm.Callback((file: unknown, part: unknown) => ports.tree(file, part));
  }

  /** Makes an isolate for one run. That takes about a millisecond, so it is done while the worker is idle. */
  prepare(heapMb: number): Prepared {
    const isolate = new this.#ivm.Isolate({ memoryLimit: heapMb });
    const context = isolate.createContextSync();
    const script = this.#compile(isolate, this.#script, FILE_NAME);
    const boot: Reference = script.runSync(context, { reference: true });
    const run: Reference = boot.applySync(undefined, [this.#clock, this.#host, this.#tree], {
      result: { reference: true },
    });
    boot.release();
    script.release();
    return new PreparedIsolate(isolate, run, (name) => this.#part(name, isolate, context));
  }

  /** Loads a part into an isolate; undefined when this image has no such part. */
  #part(name: PartName, isolate: Isolate, context: Context): Reference | undefined {
    const text = this.#parts.get(name);
    if (text === undefined) return undefined;
    const script = this.#compile(isolate, text, partFile(name));
    const load: Reference = script.runSync(context, { reference: true });
    script.release();
    return load;
  }

  /** The code caches of all scripts, once an isolate is prepared. */
  codeCaches(): Uint8Array[] {
    const isolate = new this.#ivm.Isolate();
    for (const [name, text] of this.#parts) this.#compile(isolate, text, partFile(name)).release();
    isolate.dispose();
    return SCRIPT_FILES.map((file) => new Uint8Array(this.#caches.get(file)?.copy() ?? new ArrayBuffer(0)));
  }

  #compile(isolate: Isolate, text: string, filename: string): Script {
    const cache = this.#caches.get(filename);
    const script = isolate.compileScriptSync(text, {
      filename,
      ...(cache === undefined ? { produceCachedData: true } : { cachedData: cache }),
    });
    // The type declarations of isolated-vm lack what it says about the cache of a compiled script.
    const made: unknown = Reflect.get(script, 'cachedData');
    if (cache !== undefined && Reflect.get(script, 'cachedDataRejected') === true) {
      this.rejected = true;
      this.#caches.delete(filename);
    }
    if (cache === undefined && made instanceof this.#ivm.ExternalCopy) this.#caches.set(filename, made);
    return script;
  }
}

class PreparedIsolate implements Prepared {
  readonly #isolate: Isolate;
  readonly #run: Reference;
  readonly #load: (part: PartName) => Reference | undefined;
  readonly #parts = new Map<PartName, Reference | undefined>();

  constructor(isolate: Isolate, run: Reference, load: (part: PartName) => Reference | undefined) {
    this.#isolate = isolate;
    this.#run = run;
    this.#load = load;
  }

  get cpuMs(): number {
    return Number(this.#isolate.cpuTime) / 1e6;
  }

  get heapBytes(): number {
    const { used_heap_size, externally_allocated_size } = this.#isolate.getHeapStatisticsSync();
    return used_heap_size + externally_allocated_size;
  }

  get lost(): boolean {
    return this.#isolate.isDisposed;
  }

  load(parts: readonly PartName[]): void {
    for (const name of parts) if (!this.#parts.has(name)) this.#parts.set(name, this.#load(name));
  }

  run(input: string, timeoutMs?: number): unknown {
    const args = [input, ...PART_NAMES.map((name) => this.#parts.get(name)?.derefInto())];
    if (timeoutMs === undefined) return this.#run.applySync(undefined, args);
    return this.#run.applySync(undefined, args, { timeout: timeoutMs });
  }

  dispose(): void {
    this.#isolate.dispose();
  }
}
