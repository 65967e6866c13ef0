import { textBytes, VALUE_BYTES } from '../../wire/costs.ts';
import { Dict, type List, listBytes, payLookup, payRound, sealed, share, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

// What the tools pay, and how they make what they give back.

/** Pays for looking through a text. */
export function scan(machine: Meter, units: number): void {
  machine.pay(WORK.scan, units);
}

/** Texts that were met before, and what is known of each: a map that may be slow, and lets the clocks be looked at then. */
export class Known<T> {
  readonly #machine: Meter;
  readonly #values = new Map<string, T>();
  #held = 0;

  constructor(machine: Meter) {
    this.#machine = machine;
  }

  get size(): number {
    return this.#values.size;
  }

  get(text: string): T | undefined {
    payLookup(this.#machine, text, this.#held);
    return this.#values.get(text);
  }

  /** For a text that is not known yet. */
  add(text: string, value: T): void {
    this.#held += text.length;
    this.#values.set(text, value);
  }

  /** In the order in which they were met. */
  entries(): Iterable<readonly [string, T]> {
    return this.#values;
  }
}

/** Pays for putting items together. */
export function copy(machine: Meter, items: number): void {
  machine.pay(WORK.copy, items);
}

/** Room for so many items, paid for, all nil at first: `sealed` makes a list of it once they are set. */
export function room(machine: Meter, items: number): Value[] {
  copy(machine, items);
  machine.allocate(listBytes(items));
  machine.checkItems(items);
  return new Array<Value>(items).fill(null);
}

/** A list of values that may have another place already, paid for. */
export function listOf(machine: Meter, values: readonly Value[]): List {
  const items = room(machine, values.length);
  for (let index = 0; index < values.length; index++) {
    payRound(machine, index);
    items[index] = share(values[index] ?? null);
  }
  return sealed(machine, items);
}

/** An empty map, paid for. */
export function newMap(machine: Meter): Dict {
  machine.allocate(VALUE_BYTES.map.amount);
  return new Dict(new Map());
}

/** V8 copies shorter parts of a text, and makes longer ones point into it. */
const SLICED = 13;

/**
 * A part of a text, paid for. It keeps the whole alive, so a part that is much smaller is made a text of its own: otherwise a
 * program could hold on to far more than it is charged for.
 */
export function part(machine: Meter, whole: string, start: number, end: number): string {
  const units = Math.max(0, end - start);
  machine.allocate(textBytes(units));
  scan(machine, units);
  return piece(whole, start, end);
}

/** As {@link part}, paid for by whoever adds it to a text. */
export function piece(whole: string, start: number, end: number): string {
  const slice = whole.slice(start, end);
  return slice.length < SLICED || whole.length <= 4 * slice.length ? slice : ` ${slice}`.slice(1);
}

/** Collects texts of which nobody knows how many there will be, and pays for each before it is made. */
export class Parts {
  readonly #machine: Meter;
  readonly #items: Value[] = [];

  constructor(machine: Meter) {
    this.#machine = machine;
    machine.allocate(VALUE_BYTES.list.amount);
  }

  get count(): number {
    return this.#items.length;
  }

  /** Adds a part of a text. */
  add(whole: string, start: number, end: number): void {
    this.value(part(this.#machine, whole, start, end));
  }

  /** Adds a value that is new. */
  value(value: Value): void {
    this.#machine.allocate(VALUE_BYTES.item.amount);
    this.#machine.checkItems(this.#items.length + 1);
    this.#items.push(value);
    if (this.#items.length % WORK.copy.per === 0) this.#machine.pay(WORK.visit);
  }

  finish(): List {
    return sealed(this.#machine, this.#items);
  }
}
