import { DATA_FUEL, textBytes, VALUE_BYTES } from '../../wire/costs.ts';
import { Dict, type List, listBytes, newList, payLookup, payRound, plainSlice, share, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

// The parts that results are made of, each paid for before it is made.

/** A map with string keys that pays for its lookups: long keys take time to hash and compare. */
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

  add(text: string, value: T): void {
    this.#held += text.length;
    this.#values.set(text, value);
  }

  /** The entries in insertion order. */
  entries(): Iterable<readonly [string, T]> {
    return this.#values;
  }
}

/** An array of nil values, paid for. The caller sets the items and makes a list of them with `newList`. */
export function newItems(meter: Meter, items: number): Value[] {
  payList(meter, items);
  return new Array<Value>(items).fill(null);
}

/** Pays for a list of existing values. */
export function payList(meter: Meter, items: number): void {
  meter.pay(WORK.list);
  meter.pay(WORK.copy, items);
  meter.allocate(listBytes(items));
  meter.checkItems(items);
}

/** A list of existing values, which become shared, paid for. */
export function listOf(meter: Meter, values: readonly Value[]): List {
  const items = newItems(meter, values.length);
  for (let index = 0; index < values.length; index++) {
    payRound(meter, index);
    items[index] = share(values[index] ?? null);
  }
  return newList(meter, items);
}

/** An empty map, paid for. */
export function newMap(meter: Meter): Dict {
  meter.allocate(VALUE_BYTES.map.amount);
  return new Dict(new Map());
}

/** Items that are copied for a unit of fuel. */
const COPIED = DATA_FUEL.copy.amount;

/** A slice of a text, paid for. It keeps no text alive that is much longer than itself. */
export function paidSlice(meter: Meter, whole: string, start: number, end: number): string {
  const units = Math.max(0, end - start);
  meter.allocate(textBytes(units));
  meter.pay(WORK.scan, units);
  return plainSlice(whole, start, end);
}

/** Builds a list of unknown length and pays for each item before it is added. */
export class ListBuilder {
  readonly #meter: Meter;
  readonly #items: Value[] = [];
  /** Bytes of the texts among the items. */
  #held = 0;
  #hasOnlyTexts = true;

  constructor(meter: Meter) {
    this.#meter = meter;
    meter.allocate(VALUE_BYTES.list.amount);
  }

  get count(): number {
    return this.#items.length;
  }

  /** Adds a slice of a text. */
  add(whole: string, start: number, end: number): void {
    this.value(paidSlice(this.#meter, whole, start, end));
  }

  /**
   * Adds a few texts shorter than {@link SHORT_TEXT}, of so many units in all, and pays for them together, for a visit of each and for so much other
   * fuel. Returns false, and does nothing, where a limit or a census is near.
   */
  texts(texts: readonly string[], units: number, more = 0): boolean {
    const { length: count } = this.#items;
    const after = count + texts.length;
    const fuel = more + texts.length + Math.floor(after / COPIED) - Math.floor(count / COPIED);
    const held = texts.length * textBytes(0) + VALUE_BYTES.unit.amount * units;
    const bytes = held + texts.length * VALUE_BYTES.item.amount;
    if (!this.#meter.covers(fuel, bytes, after)) return false;
    this.#meter.pay(WORK.visit, fuel);
    this.#meter.allocate(bytes);
    this.#items.push(...texts);
    this.#held += held;
    return true;
  }

  /** Adds a value that nothing else refers to, or that is shared already. */
  value(value: Value): void {
    this.#meter.allocate(VALUE_BYTES.item.amount);
    this.#meter.checkItems(this.#items.length + 1);
    this.#items.push(value);
    if (typeof value === 'string') this.#held += textBytes(value.length);
    else this.#hasOnlyTexts = false;
    if (this.#items.length % COPIED === 0) this.#meter.pay(WORK.visit);
  }

  finish(): List {
    return newList(this.#meter, this.#items, this.#hasOnlyTexts ? this.#held : undefined);
  }
}
