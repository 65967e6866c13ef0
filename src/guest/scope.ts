/** The variables of a procedure, an event handler, or all command blocks: names resolved to slots at compile time. */
export class Scope {
  readonly #slots = new Map<string, number>();
  #size = 0;

  /** Slots needed. */
  get size(): number {
    return this.#size;
  }

  /** The slot of a name, made at its first use. */
  slot(name: string): number {
    const known = this.#slots.get(name);
    return known ?? this.#bind(name);
  }

  /** A parameter's slot: always a new one, so that arguments fill the first slots in order; the last of a name wins. */
  parameter(name: string): number {
    return this.#bind(name);
  }

  /** A slot that no name reaches: what a loop iterates over. */
  hidden(): number {
    return this.#size++;
  }

  /** The slot of a name that the source mentions. */
  find(name: string): number | undefined {
    return this.#slots.get(name);
  }

  /** All names with their slots. */
  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#slots.entries();
  }

  #bind(name: string): number {
    const slot = this.#size++;
    this.#slots.set(name, slot);
    return slot;
  }
}
