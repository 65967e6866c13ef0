/** The variables of a procedure, an event handler or all command blocks. The compiler resolves their names to slots. */
export class Scope {
  readonly #slots = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  slot(name: string): number {
    const known = this.#slots.get(name);
    return known ?? this.#bind(name);
  }

  /** A new slot for a parameter, so that arguments fill the first slots in order. The last parameter of a name wins. */
  parameter(name: string): number {
    return this.#bind(name);
  }

  /** A slot without a name, for what a loop iterates over. */
  hidden(): number {
    return this.#size++;
  }

  /** The slot of a name; undefined if the source does not mention it. */
  find(name: string): number | undefined {
    return this.#slots.get(name);
  }

  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#slots.entries();
  }

  #bind(name: string): number {
    const slot = this.#size++;
    this.#slots.set(name, slot);
    return slot;
  }
}
