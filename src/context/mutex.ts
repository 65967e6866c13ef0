/**
 * One holder per key, waiters served in the order they came (AMB-35). Keys are forgotten as soon as nobody holds or
 * waits for them, so an idle session costs nothing.
 */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` when every earlier holder of `key` is done; the lock is released however `work` ends. */
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

  /** Keys that are held or waited for. */
  get size(): number {
    return this.#tails.size;
  }
}
