import { WORK } from '../../kit.ts';
import type { Meter } from '../../meter.ts';
import type { Work } from '../../work.ts';
import type { Chars } from './chars.ts';

/** The number of steps that are paid for together. */
export const BATCH = 1024;

/** Counts the steps of a search and pays for them as they are taken. */
export class Steps {
  readonly #meter: Meter;
  readonly #work: Work;
  #taken = 0;

  constructor(meter: Meter, work: Work) {
    this.#meter = meter;
    this.#work = work;
  }

  /** Counts steps that are taken at once. */
  add(steps: number): void {
    this.#taken += steps;
    if (this.#taken >= BATCH) this.pay();
  }

  /** Counts steps that are taken one by one. */
  each(steps: number): void {
    for (this.#taken += steps; this.#taken >= BATCH; this.#taken -= BATCH) this.#meter.pay(this.#work, BATCH);
  }

  /** Steps that are not paid for yet. */
  get taken(): number {
    return this.#taken;
  }

  /** Notes that all steps are paid for but these. */
  leave(taken: number): void {
    this.#taken = taken;
  }

  /** Pays for all steps so far, but for a remainder that costs nothing. */
  pay(): void {
    const steps = this.#taken;
    this.#taken %= this.#work.per;
    this.#meter.pay(this.#work, steps);
  }

  /** Pays for the time of the steps that are not paid for yet. */
  settle(): void {
    this.#meter.pay(WORK.unpaidMatch, this.#taken);
  }

  /** Pays for the time of testing a character for the Unicode properties of a class. */
  ask({ asked }: Chars, code: number): void {
    if (asked > 1 && code >= 128) this.#meter.pay(WORK.property, asked);
  }
}
