/** The labels of items and entries. */
import { numberIn } from './numerals.ts';
import { Dict, List, textOf, type Value } from './values.ts';

export type Labels = ReadonlySet<string>;
export const NONE: Labels = new Set();

export function join(...sets: readonly (Labels | undefined)[]): Labels {
  const some = sets.filter((labels) => labels !== undefined && labels.size > 0);
  return some.length < 2 ? (some[0] ?? NONE) : new Set(some.flatMap((labels) => [...(labels ?? NONE)]));
}

/** A value with the labels of its place. */
export interface Labelled {
  readonly value: Value;
  readonly label: Labels;
}
const NOTHING: Labelled = { value: null, label: NONE };

/** A key on the way to an element, with its labels. */
interface Key {
  readonly key: Value;
  readonly label?: Labels | undefined;
}

/** The labels of the items and entries of all lists and maps, apart from those of the lists and maps. */
export class Parts {
  readonly #labels = new WeakMap<List | Dict, Map<string, Labels>>();
  /** Whether any part carries a label. */
  #some = false;
  /** What was overwritten: it still counts for the list or map as a whole. */
  readonly #past = new WeakMap<List | Dict, Labels>();
  /** What the current write overwrites. */
  #overwritten = NONE;

  of(from: Value, key: string | number): Labels {
    return from instanceof List || from instanceof Dict ? (this.#labels.get(from)?.get(String(key)) ?? NONE) : NONE;
  }

  /** All labels of a value: its own and those of its parts. */
  deep(value: Value, own: Labels): Labels {
    if (!this.#some || !(value instanceof List || value instanceof Dict)) return own;
    const parts = value instanceof List ? value.items.entries() : value.entries;
    return join(own, this.#past.get(value), ...[...parts].map(([key, part]) => this.deep(part, this.of(value, key))));
  }

  put(of: List | Dict, key: string, label = NONE): void {
    this.#some ||= label.size > 0;
    if (!this.#some) return;
    const known = this.#labels.get(of) ?? new Map<string, Labels>();
    this.#labels.set(of, known.set(key, label));
  }

  /** The keys and values of a literal, in turn. An entry may replace an earlier one. */
  entered(of: Dict, pairs: readonly Labelled[]): void {
    const entries = new Map<string, Labelled>();
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      const key = pairs[index]?.value ?? null;
      const name = key === null ? '' : textOf(key);
      const [before, entry = NOTHING] = [entries.get(name), pairs[index + 1]];
      if (before !== undefined) this.#past.set(of, join(this.#past.get(of), this.deep(before.value, before.label)));
      entries.set(name, entry);
      this.put(of, name, entry.label);
    }
  }

  listed(list: List, labels: readonly Labels[]): void {
    this.#some ||= labels.some(({ size }) => size > 0);
    if (!this.#some) return;
    this.#labels.set(list, new Map(labels.map((label, index) => [String(index), label])));
  }

  concatenated(left: List, right: List, made: List): void {
    if (!this.#some) return;
    this.listed(
      made,
      [left, right].flatMap((list) => list.items.map((_, index) => this.of(list, index))),
    );
  }

  copied(from: List | Dict, to: List | Dict): void {
    if (!this.#some) return;
    this.#labels.set(to, new Map(this.#labels.get(from)));
    this.#past.set(to, this.#past.get(from) ?? NONE);
  }

  /** Before a write. */
  overwrites(base: Value, keys: readonly Key[]): void {
    let from = base;
    for (const step of keys) {
      const key = keyOf(from, step);
      const label = this.of(from, key);
      from = elementOf(from, key);
      this.#overwritten = this.deep(from, label);
    }
  }

  /** After a write: `labelOf` gives each part on the way its labels. `next` are those of the key of the next one. */
  written(base: Value, keys: readonly Key[], labelOf: (part: Labels, isLast: boolean, next: Labels | undefined) => Labels): void {
    let container = base;
    for (const [index, step] of keys.entries()) {
      if (!(container instanceof List || container instanceof Dict)) return;
      const key = keyOf(container, step);
      const isLast = index === keys.length - 1;
      if (isLast) this.#past.set(container, join(this.#past.get(container), this.#overwritten));
      this.put(container, key, labelOf(this.of(container, key), isLast, keys[index + 1]?.label));
      container = elementOf(container, key);
    }
    this.#overwritten = NONE;
  }
}

export function elementOf(from: Value, key: string): Value {
  if (from instanceof List) return from.items[Number(key)] ?? null;
  return from instanceof Dict ? (from.entries.get(key) ?? null) : null;
}

export function keyOf(container: Value, { key }: Key): string {
  if (container instanceof List) return String(typeof key === 'string' ? numberIn(key) : key);
  return key === null ? '' : textOf(key);
}

/** Labels in the order of their names. */
export function names(labels: Labels): readonly string[] {
  return [...labels].sort();
}
