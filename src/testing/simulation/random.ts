/** A 32-bit hash of a seed and a text. Similar inputs give unrelated numbers. */
export function mixed(seed: number, text: string): number {
  let hash = seed ^ 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Pseudo-random numbers that depend only on a seed. */
export class Random {
  #state: number;

  constructor(seed: number, purpose = '') {
    this.#state = mixed(seed, purpose);
  }

  /** A number from 0 and below 1. */
  readonly next = (): number => {
    // Mulberry32: all 32-bit states in one cycle.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** True in this share of all cases, from 0 to 1. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of the values. Throws `RangeError` for an empty list. */
  pick<T>(values: readonly T[]): T {
    const value = values[this.between(0, values.length - 1)];
    if (value === undefined) throw new RangeError('there is nothing to pick from');
    return value;
  }
}
