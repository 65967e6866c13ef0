import { textBytes, VALUE_BYTES } from '../../wire/costs.ts';
import { Dict, type List, listBytes, payLookup, payRound, sealed, share, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

// What the tools pay, and how they make what they give back.

/** Texts that were met before, and what is known of each: a map that may be slow, and lets the clocks be looked at then. */
export class TextMap<T> {
  readonly #meter: Meter;
  readonly #values = new Map<string, T>();
  #held = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  get size(): number {
    return this.#values.size;
  }

  get(text: string): T | undefined {
    payLookup(this.#meter, text, this.#held);
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

/** Room for so many items, paid for, all nil at first: `sealed` makes a list of it once they are set. */
export function newItems(meter: Meter, items: number): Value[] {
  meter.pay(WORK.copy, items);
  meter.allocate(listBytes(items));
  meter.checkItems(items);
  return new Array<Value>(items).fill(null);
}

/** A list of values that may have another place already, paid for. */
export function listOf(meter: Meter, values: readonly Value[]): List {
  const items = newItems(meter, values.length);
  for (let index = 0; index < values.length; index++) {
    payRound(meter, index);
    items[index] = share(values[index] ?? null);
  }
  return sealed(meter, items);
}

/** An empty map, paid for. */
export function newMap(meter: Meter): Dict {
  meter.allocate(VALUE_BYTES.map.amount);
  return new Dict(new Map());
}

/** V8 copies shorter parts of a text, and makes longer ones point into it. */
const SLICED = 13;

/**
 * A part of a text, paid for. It keeps the whole alive, so a part that is much smaller is made a text of its own: otherwise a
 * program could hold on to far more than it is charged for.
 */
export function paidSlice(meter: Meter, whole: string, start: number, end: number): string {
  const units = Math.max(0, end - start);
  meter.allocate(textBytes(units));
  meter.pay(WORK.scan, units);
  return plainSlice(whole, start, end);
}

/** As {@link part}, paid for by whoever adds it to a text. */
export function plainSlice(whole: string, start: number, end: number): string {
  const slice = whole.slice(start, end);
  return slice.length < SLICED || whole.length <= 4 * slice.length ? slice : ` ${slice}`.slice(1);
}

/** Collects texts of which nobody knows how many there will be, and pays for each before it is made. */
export class ListBuilder {
  readonly #meter: Meter;
  readonly #items: Value[] = [];

  constructor(meter: Meter) {
    this.#meter = meter;
    meter.allocate(VALUE_BYTES.list.amount);
  }

  get count(): number {
    return this.#items.length;
  }

  /** Adds a part of a text. */
  add(whole: string, start: number, end: number): void {
    this.value(paidSlice(this.#meter, whole, start, end));
  }

  /** Adds a value that is new. */
  value(value: Value): void {
    this.#meter.allocate(VALUE_BYTES.item.amount);
    this.#meter.checkItems(this.#items.length + 1);
    this.#items.push(value);
    if (this.#items.length % WORK.copy.per === 0) this.#meter.pay(WORK.visit);
  }

  finish(): List {
    return sealed(this.#meter, this.#items);
  }
}
