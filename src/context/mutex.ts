/** A mutex per key; waiters run in order of arrival. A key that is neither held nor awaited takes no memory. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` after every earlier holder of `key`. The lock is released when `work` returns or throws. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const { promise: mine, resolve: release } = Promise.withResolvers<void>();
    const tail = before.then(() => mine);
    this.#tails.set(key, tail);
    await before;
    try {
      return await work();
    } finally {
      release();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /** Number of keys that are held or awaited. */
  get size(): number {
    return this.#tails.size;
  }
}
