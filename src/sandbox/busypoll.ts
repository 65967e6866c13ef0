import { availableParallelism } from 'node:os';

/** A script whose last call came within this time of an answer is expected to make the next one as soon. */
const SOON_MS = 0.2;

/** End of the time for which the event loop is kept awake, as `performance.now()` counts. */
let until = 0;
let awake = false;

function stayAwake(ms: number): void {
  until = performance.now() + ms;
  if (awake) return;
  awake = true;
  setImmediate(look);
}

function look(): void {
  if (performance.now() < until) setImmediate(look);
  else awake = false;
}

/** Asked once: the system takes longer to count them than to make a turn known to a worker. */
const CORES = availableParallelism();

/** Scripts that compute at the moment, as far as this process knows. */
let computing = 0;

/**
 * Keeps the event loop awake between an answer to a script and the script's next call, when the one before came at once: to be
 * woken by another process takes the system some 50 µs, more than all the rest of a small tool's call. A script that keeps
 * silent costs 0.2 ms of this, once. Meanwhile the loop serves everything else as always. Where the scripts that compute need
 * every core, nobody watches: that would take from them what it is to give.
 */
export class Vigil {
  readonly #cores: number;
  #computes = false;
  #answeredAt: number | null = null;
  #quick = false;

  constructor(cores: number = CORES) {
    this.#cores = cores;
  }

  /** The script has been given to a worker. */
  start(): void {
    this.#count(true);
  }

  /** A call was answered; the script goes on. */
  begin(): void {
    this.#count(true);
    this.#answeredAt = performance.now();
    if (this.#quick && computing < this.#cores) stayAwake(SOON_MS);
  }

  /** The script calls again. */
  end(): void {
    this.#count(false);
    this.#quick = this.#answeredAt !== null && performance.now() - this.#answeredAt < SOON_MS;
    until = 0;
  }

  /** The script is over. */
  stop(): void {
    this.#count(false);
  }

  #count(computes: boolean): void {
    if (computes !== this.#computes) computing += computes ? 1 : -1;
    this.#computes = computes;
  }
}
