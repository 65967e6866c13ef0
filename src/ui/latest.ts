import { setTimeout as sleep } from 'node:timers/promises';

/** Times as long as the last answer took, after which the next one is made. */
const RATIO = 3;

/**
 * Answers that are expensive to make, as those that read a whole log. One is made at a time, with pauses: however often a page asks, most
 * of the time is left for other requests. An answer is given again as long as its source is unchanged.
 */
export class Latest {
  #last: Promise<unknown> = Promise.resolve();
  #made: { readonly key: string; readonly answer: object } | null = null;
  #pausedUntil = 0;

  /** The answer for a key, which changes with what it is made from; null for an answer that may always be another one. */
  async get(key: string | null, signal: AbortSignal, make: () => Promise<object>): Promise<object> {
    const before = this.#last;
    const mine = (async (): Promise<object> => {
      await before;
      if (key !== null && this.#made?.key === key) return this.#made.answer;
      await sleep(Math.max(0, this.#pausedUntil - performance.now()), undefined, { signal });
      const begun = performance.now();
      const answer = await make();
      const now = performance.now();
      this.#pausedUntil = now + RATIO * (now - begun);
      if (key !== null) this.#made = { key, answer };
      return answer;
    })();
    this.#last = mine.catch(() => {});
    return mine;
  }
}
