/** Waiters for sessions that become ready. A wake-up that fails must not fail the write that caused it, so it runs by itself. */
export class Wakes {
  readonly #waiting = new Set<() => void>();

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Calls `wake` from now on until the result is called. */
  on(wake: () => void): () => void {
    const own = (): void => wake();
    this.#waiting.add(own);
    return () => void this.#waiting.delete(own);
  }

  /** Wakes all, after the present work. */
  wake(): void {
    for (const each of this.#waiting) queueMicrotask(each);
  }
}
