/** A mutex per key; waiters run in order of arrival. A key that is neither held nor awaited takes no memory. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Resolves after every earlier holder of `key` has released it. Disposing of the result releases it. */
  async hold(key: string): Promise<Disposable> {
    const before = this.#tails.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, promise);
    await before;
    return {
      [Symbol.dispose]: () => {
        resolve();
        if (this.#tails.get(key) === promise) this.#tails.delete(key);
      },
    };
  }

  /** Number of keys that are held or awaited. */
  get size(): number {
    return this.#tails.size;
  }
}
