import type { Image, Prepared } from './image.ts';

/** A prepared isolate. */
export interface Ready {
  readonly prepared: Prepared;
  /** CPU time that its preparation took, milliseconds. It is read ahead of the run, because reading takes as long as a statement. */
  readonly startCpu: number;
  /** Whether the warm-up program has run in it. */
  readonly warm: boolean;
}

/** Number of isolates that a worker keeps ready: the next one, and a spare for a run that follows soon. */
const KEPT = 2;

/** Most bytes of the heap of an isolate that is kept after a run: six times the heap of a fresh one. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** An isolate that is kept for the next run of its owner. */
type Kept = Ready & { readonly heapMb: number };

/**
 * The isolates for the next runs of a worker: those that are prepared, in which no program has run, and those that the host has numbered,
 * which serve one run after another.
 */
export class PreparedIsolates {
  readonly #image: Image;
  readonly #warmUp: (isolate: Prepared) => boolean;
  readonly #ready: Ready[] = [];
  readonly #kept = new Map<number, Kept>();
  /** Heap limit of the last run, because the next run most often has the same. */
  #heapMb: number;

  /** `warmUp` returns false while there is no warm-up program yet. */
  constructor(image: Image, heapMb: number, warmUp: (isolate: Prepared) => boolean) {
    this.#image = image;
    this.#heapMb = heapMb;
    this.#warmUp = warmUp;
  }

  /**
   * Takes the next step: makes an isolate when there is none, warms it up when it is cold, else makes a warm spare. Warming up takes a
   * quarter of the time of making an isolate and saves less than that, so a waiting run gets a cold one.
   */
  step(): void {
    const [next] = this.#ready;
    if (next === undefined) this.#ready.push(this.#make());
    else if (!next.warm) this.#ready[0] = this.#warmed(next);
    else if (this.#ready.length < KEPT) this.#ready.push(this.#warmed(this.#make()));
  }

  /**
   * The kept isolate of this number, else the last made one, which is still in the processor's caches, if its heap limit suits this run;
   * else a new one.
   */
  take(heapMb: number, number?: number): Ready {
    const kept = number === undefined ? undefined : this.#kept.get(number);
    if (number !== undefined) this.#kept.delete(number);
    if (kept?.heapMb === heapMb) return kept;
    kept?.prepared.dispose();
    if (heapMb !== this.#heapMb) for (const { prepared } of this.#ready.splice(0)) prepared.dispose();
    this.#heapMb = heapMb;
    return this.#ready.pop() ?? this.#make();
  }

  /** Keeps an isolate under a number for a later run, or gives it up when its heap has grown too much. */
  keep(number: number, prepared: Prepared, heapMb: number): void {
    if (prepared.heapBytes > MAX_KEPT_BYTES) this.giveUp(prepared);
    else this.#kept.set(number, { ...ready(prepared, true), heapMb });
  }

  /** Disposes of an isolate that should have been kept, and takes a step at once: the host relies on it and sends no `prepare`. */
  giveUp(prepared: Prepared): void {
    prepared.dispose();
    this.step();
  }

  /** Disposes of kept isolates. */
  discard(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#kept.get(number)?.prepared.dispose();
      this.#kept.delete(number);
    }
  }

  #make(): Ready {
    return ready(this.#image.prepare(this.#heapMb), false);
  }

  #warmed({ prepared }: Ready): Ready {
    return ready(prepared, this.#warmUp(prepared));
  }
}

function ready(prepared: Prepared, warm: boolean): Ready {
  return { prepared, startCpu: prepared.cpuMs, warm };
}
