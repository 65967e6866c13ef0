import type { Callback, Context, ExternalCopy, Isolate, Reference, Script } from 'isolated-vm';
import { LOCKDOWN } from './lockdown.ts';

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

/** The interpreter, ready for one run. No untrusted code has run in it. */
export interface Prepared {
  /** CPU time that it has used, milliseconds. */
  readonly cpuMs: number;
  /** Whether V8 has disposed of it because its heap was full. */
  readonly lost: boolean;
  /** Loads the pure tools. Returns whether it has any. */
  loadPure(): boolean;
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
const PURE_FILE_NAME = 'pure.js';

/** Separates the interpreter from the pure tools in the built file. */
export const PURE_MARK = '\n//# pure tools\n';

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
  readonly #pure: string | null;
  readonly #caches = new Map<string, ExternalCopy<ArrayBuffer>>();
  /** Whether V8 has rejected a cache. */
  rejected = false;

  /**
   * `guest` is the text of a script that declares `var guest = { boot }` and runs before the lockdown. After a mark it may have a
   * second script, which declares `var pure = { tools }`, uses `guest.kit` and runs when a program needs it. `caches` are code caches of
   * the two.
   */
  constructor(ivm: IsolatedVm, guest: string, ports: GuestPorts, caches: readonly Uint8Array<ArrayBuffer>[] = []) {
    this.#ivm = ivm;
    for (const [index, { buffer }] of caches.entries())
      this.#caches.set(index === 0 ? FILE_NAME : PURE_FILE_NAME, new ivm.ExternalCopy(buffer));
    const [own = '', pure] = guest.split(PURE_MARK);
    this.#pure = pure === undefined ? null : `((kit) => { const guest = { kit };${pure}\n;return pure.tools; })`;
    this.#script = `(() => {${own}\n;${LOCKDOWN};return (clock, host, tree) => guest.boot(clock, host, tree);})()`;
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
    return new PreparedIsolate(isolate, run, () => this.#pureTools(isolate, context));
  }

  /** Loads the pure tools into an isolate; undefined when this image has none. */
  #pureTools(isolate: Isolate, context: Context): Reference | undefined {
    if (this.#pure === null) return undefined;
    const script = this.#compile(isolate, this.#pure, PURE_FILE_NAME);
    const install: Reference = script.runSync(context, { reference: true });
    script.release();
    return install;
  }

  /** The code caches of the two scripts, once an isolate is prepared. */
  codeCaches(): Uint8Array[] {
    if (this.#pure !== null) {
      const isolate = new this.#ivm.Isolate();
      this.#compile(isolate, this.#pure, PURE_FILE_NAME).release();
      isolate.dispose();
    }
    return [FILE_NAME, PURE_FILE_NAME].map((name) => new Uint8Array(this.#caches.get(name)?.copy() ?? new ArrayBuffer(0)));
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

/** A fresh isolate with the interpreter. */
class PreparedIsolate implements Prepared {
  readonly #isolate: Isolate;
  readonly #run: Reference;
  readonly #load: () => Reference | undefined;
  #pure: Reference | undefined;

  constructor(isolate: Isolate, run: Reference, load: () => Reference | undefined) {
    this.#isolate = isolate;
    this.#run = run;
    this.#load = load;
  }

  get cpuMs(): number {
    return Number(this.#isolate.cpuTime) / 1e6;
  }

  get lost(): boolean {
    return this.#isolate.isDisposed;
  }

  loadPure(): boolean {
    this.#pure = this.#load();
    return this.#pure !== undefined;
  }

  run(input: string, timeoutMs?: number): unknown {
    const args = [input, this.#pure?.derefInto()];
    if (timeoutMs === undefined) return this.#run.applySync(undefined, args);
    return this.#run.applySync(undefined, args, { timeout: timeoutMs });
  }

  dispose(): void {
    this.#isolate.dispose();
  }
}
