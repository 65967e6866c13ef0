import type { RunResult } from '../wire/result.ts';
import { NO_USAGE } from '../wire/result.ts';

/** Ids that are remembered; a repetition that comes later than so many other events is delivered again. */
const MAX_KNOWN = 10_000;

/** What a repetition of an event gives: nothing was run. */
const NOTHING_RUN: RunResult = Object.freeze({
  ok: true,
  phase: 'events',
  emits: [],
  values: [],
  whispers: [],
  result: null,
  eventErrors: [],
  error: null,
  usage: NO_USAGE,
  journal: [],
});

/**
 * Delivers every event once, however often it is sent (AL1-2.12-2): the same id in the same session and turn is the same event.
 * An event that could not be delivered is not taken for delivered, so that nothing is lost either.
 */
export class Deliveries {
  /** Null: delivered; else the delivery under way. The oldest first. */
  readonly #known = new Map<string, Promise<RunResult> | null>();

  /** Runs `deliver` unless this event was delivered; waits for a delivery under way, and takes over when that fails. */
  async once(id: string, session: string | null, turn: number | null, deliver: () => Promise<RunResult>): Promise<RunResult> {
    const key = JSON.stringify([id, session, turn]);
    for (let known = this.#known.get(key); known !== undefined; known = this.#known.get(key)) {
      if (known === null) return NOTHING_RUN;
      // Whoever began it hears of its failure.
      await known.catch(() => null);
    }
    const delivery = deliver();
    this.#known.set(key, delivery);
    try {
      const result = await delivery;
      // Refused before it began: no handler has seen the event.
      if (result.phase === 'request') this.#known.delete(key);
      else this.#delivered(key);
      return result;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  #delivered(key: string): void {
    this.#known.set(key, null);
    for (const [oldest, delivery] of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      if (delivery === null) this.#known.delete(oldest);
    }
  }
}
