/** Random choices that depend on a seed alone (mulberry32): the same seed makes the same programs on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `below` − 1. */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.int(list.length)];
    if (found === undefined) throw new RangeError('nothing to pick from');
    return found;
  }

  /** From `least` to `most` things. */
  several<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.int(most - least + 1) }, make);
  }
}
