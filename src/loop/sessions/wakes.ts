/**
 * Listeners for sessions that become ready. They run outside of the write that caused the call, because an error of a listener must not
 * fail the write.
 */
export class Wakes {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a listener. The returned function removes it. */
  on(wake: () => void): () => void {
    const own = (): void => wake();
    this.#waiting.add(own);
    return () => void this.#waiting.delete(own);
  }

  clear(): void {
    this.#waiting.clear();
  }

  /** Calls all listeners after the current task. */
  wake(): void {
    for (const each of this.#waiting) queueMicrotask(each);
  }
}
