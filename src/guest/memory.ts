import { textBytes, VALUE_BYTES } from '../wire/costs.ts';
import type { Constants } from './constants.ts';
import type { Frame } from './frame.ts';
import type { Meter } from './meter.ts';
import { Bytes, type Container, Dict, Fault, Handle, List, Time, type Value } from './values.ts';
import { WORK } from './work.ts';

const ITEM = VALUE_BYTES.item.amount;
const ENTRY = VALUE_BYTES.entry.amount;
const OTHER = VALUE_BYTES.other.amount;

/** Bytes of a list, without those of its items' values. */
export function listBytes(items: number): number {
  return VALUE_BYTES.list.amount + ITEM * items;
}

/** Bytes of an entry in a map, without those of its value. */
export function entryBytes(key: string): number {
  return ENTRY + VALUE_BYTES.unit.amount * key.length;
}

export function frameBytes(slots: number): number {
  return VALUE_BYTES.frame.amount + VALUE_BYTES.slot.amount * slots;
}

/** What a run holds. */
export interface Roots extends Pick<Meter, 'pay' | 'nextCensus'> {
  readonly globals: ReadonlyMap<string, Value>;
  readonly constants: Constants;
  readonly frame: Frame | null;
  readonly output: { readonly heldBytes: number };
  /** Bytes that the running statement has allocated. */
  statementBytes: number;
}

/**
 * The census: bytes of everything that a script can still reach. Containers yet to be visited are linked by `later`, so that no nesting
 * overflows the stack and a census near the limit allocates nothing. What running statements have allocated counts too, because only
 * the JavaScript stack knows how much of it is garbage.
 */
export function countLive(run: Roots): number {
  const census = new Census(run.nextCensus());
  for (const value of run.globals.values()) census.add(value);
  for (const value of run.constants.values()) census.add(value);
  for (let frame = run.frame; frame !== null; frame = frame.parent) census.frame(frame);
  census.walk();
  run.pay(WORK.census, census.visited);
  return census.bytes + run.statementBytes + run.output.heldBytes;
}

class Census {
  bytes = 0;
  visited = 0;
  readonly #number: number;
  #pending: Container | null = null;

  constructor(number: number) {
    this.#number = number;
  }

  frame(frame: Frame): void {
    this.bytes += frame.layout.frameBytes + frame.held;
    for (const value of frame.slots) if (value !== undefined) this.add(value);
    this.add(frame.last);
    this.add(frame.out);
    for (const value of frame.keep ?? []) this.add(value);
    for (const value of frame.rare?.extra?.values() ?? []) this.add(value);
    this.visited += frame.slots.length;
  }

  /** Counts a value itself, and the content of a container in which none is; other content is visited later. */
  add(value: Value): void {
    if (typeof value === 'string') this.bytes += textBytes(value.length);
    if (typeof value !== 'object' || value === null) return;
    if (!(value instanceof Dict || value instanceof List)) {
      this.bytes += OTHER + contentBytes(value);
      if (value instanceof Fault) this.add(value.fields);
      return;
    }
    if (value.census === this.#number) return;
    value.census = this.#number;
    if (value.depth === 1) {
      this.bytes += value.bytes;
      this.visited += value instanceof Dict ? value.entries.size : value.items.length;
      return;
    }
    value.later = this.#pending;
    this.#pending = value;
  }

  walk(): void {
    for (let next = this.#pending; next !== null; next = this.#pending) {
      this.#pending = next.later;
      next.later = null;
      if (next instanceof List) {
        const { items } = next;
        this.bytes += listBytes(items.length);
        this.visited += items.length;
        for (let index = 0; index < items.length; index++) this.add(items[index] ?? null);
      } else {
        this.bytes += VALUE_BYTES.map.amount;
        this.visited += next.entries.size;
        next.entries.forEach(this.#addEntry);
      }
    }
  }

  readonly #addEntry = (value: Value, key: string): void => {
    this.bytes += entryBytes(key);
    this.add(value);
  };
}

/** Bytes of the content of a value that is not a container, besides `VALUE_BYTES.other`. */
export function contentBytes(value: Exclude<Value, null | boolean | number | string>): number {
  if (value instanceof Bytes) return value.base64.length;
  if (value instanceof Time) return 2 * value.text.length;
  if (value instanceof Handle) return 2 * (value.kind.length + value.id.length);
  return 0;
}

/** Keeps a value alive for the running statement, which holds it though no variable does. */
export function keepAlive(run: Roots, frame: Frame, value: Value): void {
  if (typeof value === 'string') run.statementBytes += textBytes(value.length);
  if (typeof value !== 'object' || value === null) return;
  frame.keep ??= [];
  frame.keep.push(value);
}
