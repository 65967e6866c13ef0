/** Bytes by which the heap of the worker's own realm grows before the worker collects its garbage: what three texts of 5,000 lines leave. */
const MOST_GARBAGE = 24 * 1024 * 1024;

/**
 * Collects the garbage of the worker's own realm and gives unused pages back. V8 would wait until the heap is three times as large, and
 * the pool replaces a worker that has grown: every fourth text of 5,000 lines met a cold parser.
 */
export class Tidier {
  readonly #collect: NodeJS.GCFunction;
  readonly #heapBytes: () => number;
  /** Bytes of the heap after the last collection. */
  #left: number;
  #rested = false;

  constructor(collect: NodeJS.GCFunction, heapBytes: () => number) {
    this.#collect = collect;
    this.#heapBytes = heapBytes;
    this.#left = heapBytes();
  }

  /** Collects after a text was parsed, in 12 ms, if there is much garbage. Compiled code stays. */
  afterText(): void {
    if (this.#heapBytes() - this.#left >= MOST_GARBAGE) this.#run('regular');
  }

  /**
   * Collects while no run waits. The first time it also drops what V8 has compiled at the start: 3 MB of a new worker, in 30 ms. Each time
   * would be too often, because the code that is used would go as well.
   */
  atRest(): void {
    if (!this.#rested) this.#run('last-resort');
    else if (this.#heapBytes() > this.#left + MOST_GARBAGE / 8) this.#run('regular');
    this.#rested = true;
  }

  #run(flavor: 'regular' | 'last-resort'): void {
    this.#collect({ type: 'major', execution: 'sync', flavor });
    this.#left = this.#heapBytes();
  }
}
