import { availableParallelism } from 'node:os';

/** A script whose last call came within this time after an answer is expected to call again as soon. */
const SOON_MS = 0.2;
/**
 * Quick calls of a script after which the polling begins. In the first milliseconds the system runs both processes on one core, where waking
 * takes less than keeping them apart: a burst of 50 calls takes up to 1.3 times as long with polling, a stream of 3,000 two thirds.
 */
export const QUICK_CALLS = 16;

/** End of the polling, on the clock of `performance.now()`. */
let until = 0;
let polling = false;

function poll(ms: number): void {
  until = performance.now() + ms;
  if (polling) return;
  polling = true;
  setImmediate(tick);
}

function tick(): void {
  if (performance.now() < until) setImmediate(tick);
  else polling = false;
}

/** Read once, because counting the cores takes longer than sending a run to a worker. */
const CORES = availableParallelism();

/** Scripts of this process that compute at the moment. */
let computing = 0;

/**
 * Polls the event loop between the answer to a call and the next call of the script, when the last one came within {@link SOON_MS}, as
 * {@link QUICK_CALLS} of the script did. Waking a sleeping process takes the system some 50 µs, more than everything else in the call of a
 * small tool. A script that does not call again costs 0.2 ms once. The loop serves everything else meanwhile. There is no polling while
 * scripts compute on every core, because it would slow them down.
 */
export class BusyPoll {
  readonly #cores: number;
  #computes = false;
  #answeredAt: number | null = null;
  /** Whether the last call came soon after an answer. */
  #isQuick = false;
  /** Calls of the script that came soon after an answer. */
  #quickCalls = 0;

  constructor(cores: number = CORES) {
    this.#cores = cores;
  }

  /** The script was given to a worker. */
  onStart(): void {
    this.#count(true);
  }

  /** A call was answered; the script computes. */
  onAnswer(): void {
    this.#count(true);
    this.#answeredAt = performance.now();
    if (this.#isQuick && this.#quickCalls >= QUICK_CALLS && computing < this.#cores) poll(SOON_MS);
  }

  /** The script calls the host. */
  onCall(): void {
    this.#count(false);
    this.#isQuick = this.#answeredAt !== null && performance.now() - this.#answeredAt < SOON_MS;
    if (this.#isQuick) this.#quickCalls++;
    until = 0;
  }

  /** The script has ended. */
  onEnd(): void {
    this.#count(false);
  }

  #count(computes: boolean): void {
    if (computes !== this.#computes) computing += computes ? 1 : -1;
    this.#computes = computes;
  }
}
