/** A lock that either many hold together or one holds alone. It admits in order of arrival, so neither kind of holder can starve. */
export class SharedLock {
  readonly #waiting = new Set<{ readonly alone: boolean; readonly admit: () => void }>();
  #holders = 0;
  #heldAlone = false;

  /**
   * Resolves under the lock, with no other holder if `alone` is set; disposing of the result releases the lock. Once `signal` is aborted,
   * it resolves without the lock, so that the caller can end its work.
   */
  async hold(alone: boolean, signal: AbortSignal | undefined): Promise<Disposable> {
    const admitted = await this.#admission(alone, signal);
    return { [Symbol.dispose]: () => admitted && this.#release() };
  }

  /** Resolves with true under the lock, and with false when `signal` is aborted first. */
  #admission(alone: boolean, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { alone, admit: () => resolve(true) };
    const leave = (): void => {
      if (!this.#waiting.delete(waiter)) return;
      resolve(false);
      this.#admit();
    };
    this.#waiting.add(waiter);
    this.#admit();
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      if (this.#heldAlone || (waiter.alone && this.#holders > 0)) return;
      this.#waiting.delete(waiter);
      this.#holders += 1;
      this.#heldAlone = waiter.alone;
      waiter.admit();
    }
  }

  #release(): void {
    this.#holders -= 1;
    this.#heldAlone = false;
    this.#admit();
  }
}
