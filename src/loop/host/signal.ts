/** Wakes one waiter. A call without a waiter ends the next wait at once. */
export class Signal {
  #called = false;
  #resolve: (() => void) | null = null;

  /** Ends the wait, or the next one. */
  call = (): void => {
    this.#called = true;
    this.#resolve?.();
  };

  /** Resolves at the next call, or after `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    if (!this.#called) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
      this.#resolve = null;
    }
    this.#called = false;
  }
}
