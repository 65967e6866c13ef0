import type { Callback, Context, ExternalCopy, Isolate, Reference, Script } from 'isolated-vm';
import { LOCKDOWN } from './lockdown.ts';

/** The module `isolated-vm`, loaded by the caller. */
export type IsolatedVm = typeof import('isolated-vm');

/** The ways out of an isolate; only strings and numbers go through them. */
export interface GuestPorts {
  /** 0: go on; 1: the CPU limit is reached; 2: the wall limit is. */
  clock(): number;
  /** Takes the JSON of a guest frame, and whether another one follows at once; returns the JSON of a reply, or ''. */
  host(frame: unknown, follows: boolean): string;
  /** The JSON of a part of this run's files that the guest was given the number of; '' for any other. */
  tree(file: unknown, part: unknown): string;
}

/** A fresh isolate in which the interpreter stands ready and nothing untrusted has been yet. */
export interface Prepared {
  readonly isolate: Isolate;
  readonly context: Context;
  /** Takes the JSON of a `GuestInput`, and the pure tools where it names any; returns the JSON of a `GuestResult`. */
  readonly run: Reference;
  /** Heap limit of the isolate, in MB. */
  readonly heapMb: number;
}

const FILE_NAME = 'guest.js';
const PURE_FILE_NAME = 'pure.js';

/** What stands between the interpreter and the pure tools in the file that the build makes. */
const PURE_MARK = '\n//# pure tools\n';

/**
 * The guest program and everything needed to put it into fresh isolates quickly. V8's code cache is made here, from the
 * text, when the worker starts; one from outside could be forged and is never accepted.
 */
export class GuestImage {
  readonly #ivm: IsolatedVm;
  readonly #script: string;
  readonly #clock: Callback;
  readonly #host: Callback;
  readonly #tree: Callback;
  readonly #pure: string | null;
  readonly #caches = new Map<string, ExternalCopy<ArrayBuffer>>();

  /**
   * `guest` is the text of a script that declares `var guest = { boot }`; it runs before the lockdown. Behind a mark it may have
   * another one that declares `var pure = { tools }` and stands on `guest.kit`; it runs when a program needs it.
   */
  constructor(ivm: IsolatedVm, guest: string, ports: GuestPorts) {
    this.#ivm = ivm;
    const [own = '', pure] = guest.split(PURE_MARK);
    this.#pure = pure === undefined ? null : `((kit) => { const guest = { kit };${pure}\n;return pure.tools; })`;
    this.#script = `(() => {${own}\n;${LOCKDOWN};return (clock, host, tree) => guest.boot(clock, host, tree);})()`;
    this.#clock = new ivm.Callback(() => ports.clock());
    this.#host = new ivm.Callback((frame: unknown, follows: unknown) => ports.host(frame, follows === true));
    this.#tree = new ivm.Callback((file: unknown, part: unknown) => ports.tree(file, part));
  }

  /** Makes an isolate ready for one run. Costs about a millisecond, so it is done while nobody waits. */
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
    return { isolate, context, run, heapMb };
  }

  /** Puts the pure tools into an isolate: what `run` needs to have them, or undefined when this image has none. */
  pureTools({ isolate, context }: Prepared): Reference | undefined {
    if (this.#pure === null) return undefined;
    const script = this.#compile(isolate, this.#pure, PURE_FILE_NAME);
    const install: Reference = script.runSync(context, { reference: true });
    script.release();
    return install;
  }

  #compile(isolate: Isolate, text: string, filename: string): Script {
    const cache = this.#caches.get(filename);
    const script = isolate.compileScriptSync(text, {
      filename,
      ...(cache === undefined ? { produceCachedData: true } : { cachedData: cache }),
    });
    // The declarations of isolated-vm do not say that a compiled script carries the cache it was asked to produce.
    const made: unknown = Reflect.get(script, 'cachedData');
    if (cache === undefined && made instanceof this.#ivm.ExternalCopy) this.#caches.set(filename, made);
    return script;
  }
}
