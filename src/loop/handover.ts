import { RuntimeClosedError } from '../wire/errors.ts';
import type { Pace } from './progress.ts';

/** The work of a controller that is under way, until the controller hands its sessions over. */
export class Handover {
  readonly #work = new Set<Promise<void>>();
  /** Ends the waits for readers of streams. */
  readonly #pauses = new Set<() => void>();
  #begun = false;

  /** Whether the sessions are being handed over. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Counts as work under way until the result is disposed of. Throws {@link RuntimeClosedError} once the sessions are handed over. */
  working(): Disposable {
    if (this.#begun) throw new RuntimeClosedError('the controller has handed its sessions over');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#work.add(promise);
    void promise.then(() => this.#work.delete(promise));
    return { [Symbol.dispose]: () => resolve() };
  }

  /** Waits for the reader of a stream, unless the sessions are handed over first. */
  async pause(pace: Pace): Promise<void> {
    const cut = Promise.withResolvers<void>();
    this.#pauses.add(cut.resolve);
    try {
      await Promise.race([pace(), cut.promise]);
    } finally {
      this.#pauses.delete(cut.resolve);
    }
  }

  /** Begins, ends the pauses, and resolves when no work is left. */
  async complete(): Promise<void> {
    this.#begun = true;
    for (const end of this.#pauses) end();
    await Promise.all(this.#work);
  }
}
