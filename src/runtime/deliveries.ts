import { NO_USAGE, type RunResult } from '../wire/result.ts';

/** Most remembered ids. A repeated event is delivered again after this many others. */
const MAX_KNOWN = 10_000;

/** The result for a repeated event: nothing was run. */
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
 * Delivers every event once, even if it is sent repeatedly: the same id in the same session and turn is the same event. An event whose
 * delivery failed counts as not delivered, so it can be sent again.
 */
export class Deliveries {
  /** By id, the oldest first: null for a delivered event, else its running delivery. */
  readonly #known = new Map<string, Promise<RunResult> | null>();

  /** Runs `deliver` unless this event was delivered. Waits for a running delivery, and delivers when that fails. */
  async once(id: string, session: string | null, turn: number | null, deliver: () => Promise<RunResult>): Promise<RunResult> {
    const key = JSON.stringify([id, session, turn]);
    for (let known = this.#known.get(key); known !== undefined; known = this.#known.get(key)) {
      if (known === null) return NOTHING_RUN;
      // The failure is reported to the caller of the running delivery.
      await known.catch(() => null);
    }
    const delivery = deliver();
    this.#known.set(key, delivery);
    try {
      const result = await delivery;
      // The run was refused before it began: no handler has seen the event.
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
