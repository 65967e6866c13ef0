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

/** The isolates that are prepared for the next runs of a worker. No program has run in them. */
export class Shelf {
  readonly #image: Image;
  readonly #warmUp: (isolate: Prepared) => boolean;
  readonly #ready: Ready[] = [];
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

  /** The last made isolate, which is still in the processor's caches, if its heap limit suits this run; else a new one. */
  take(heapMb: number): Ready {
    if (heapMb !== this.#heapMb) for (const { prepared } of this.#ready.splice(0)) prepared.dispose();
    this.#heapMb = heapMb;
    return this.#ready.pop() ?? this.#make();
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
