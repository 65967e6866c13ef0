/** Reading and writing elements. */
import type { Machine } from './machine.ts';
import { shared } from './machine.ts';
import { type Place, SHORT } from './meter.ts';
import type { Labels } from './parts.ts';
import { Dict, List, typeName, type Value } from './values.ts';

/** Most items of nil that one write may add. */
const MOST_PADDING = 1_000_000;

/** An evaluated step of an access: its key, and its own place. */
export interface Step {
  readonly key: Value;
  readonly field: boolean;
  readonly at: Place;
  /** All labels of the key. */
  readonly label?: Labels | undefined;
}

/** Reads an element. */
export function read(machine: Machine, from: Value, { key, at }: Step): Value {
  if (from instanceof Dict) {
    const name = machine.text(key, at);
    machine.origin.sees(machine.origin.parts.of(from, name));
    return from.entries.get(name) ?? null;
  }
  if (from instanceof List) {
    const index = indexOf(machine, key, at);
    const item = from.items[index];
    if (item === undefined) throw machine.failure(8, `list index ${index} is out of bounds`, at);
    machine.origin.sees(machine.origin.parts.of(from, index));
    return item;
  }
  if (typeof from !== 'string') throw machine.failure(7, `cannot read an element of ${typeName(from)}`, at);
  const index = indexOf(machine, key, at);
  // A long text is looked through before the index is.
  if (from.length > SHORT) machine.characters(from, at);
  if (index < 0) throw machine.failure(8, 'a string index cannot be negative', at);
  if (from.length === SHORT) machine.look(from, at);
  const character = Array.from(from)[index];
  if (character === undefined) throw machine.failure(8, `string index ${index} is out of bounds`, at);
  return character;
}

/** The keys and elements of a value that a loop goes through. */
export function pairsOf(machine: Machine, over: Value, at: Place): readonly (readonly [string | number, Value])[] {
  if (over === null) return [];
  if (over instanceof List) return [...over.items.entries()];
  if (over instanceof Dict) return [...over.entries];
  if (typeof over === 'string') return [...Array.from(over).entries()];
  throw machine.failure(7, `for each cannot iterate over ${typeName(over)}`, at);
}

function indexOf(machine: Machine, key: Value, at: Place): number {
  const index = machine.whole(key, at);
  if (index === undefined) throw machine.failure(7, `an index must be a whole number, not ${typeName(key)}`, at);
  return Number(index);
}

/** Writes elements of one variable. `isHeld` tells whether the frame itself still holds a value, as its latest. */
export class Writer {
  readonly #machine: Machine;
  readonly #isHeld: (value: Value) => boolean;

  constructor(machine: Machine, isHeld: (value: Value) => boolean) {
    this.#machine = machine;
    this.#isHeld = isHeld;
  }

  /** The value of the variable after the write. `at` is the place of the variable. */
  write(base: Value, steps: readonly Step[], value: Value, at: Place): Value {
    const [first, ...rest] = steps;
    if (first === undefined) return value;
    if (base !== null && !(base instanceof List || base instanceof Dict))
      throw this.#machine.failure(7, `cannot write an element of ${typeName(base)}`, first.at);
    return this.#put(base ?? this.#made(first), first, rest, value, at);
  }

  /** Writes into a container, or into a copy when something else holds it. Returns what was written to. */
  #put(container: List | Dict, step: Step, rest: readonly Step[], value: Value, at: Place): List | Dict {
    const own = this.#owned(container, at);
    const lastAt = rest.at(-1)?.at ?? step.at;
    if (own instanceof List) {
      const index = this.#itemIndex(own, step);
      const content = this.#content(own.items[index] ?? null, step, rest, value, (copy) => {
        own.items[index] = copy;
      });
      this.#pad(own, index, lastAt);
      own.items[index] = content;
      return own;
    }
    const name = this.#machine.text(step.key, step.at);
    const content = this.#content(own.entries.get(name) ?? null, step, rest, value, (copy) => own.entries.set(name, copy));
    if (!own.entries.has(name)) {
      this.#machine.meter.bound('mapLength', own.entries.size + 1, lastAt);
      this.#machine.meter.bound('textLength', name.length, lastAt);
    }
    own.entries.set(name, content);
    return own;
  }

  /** What a step writes. A copy of what stands there takes its place at once (`keep`), even if a later step fails. */
  #content(child: Value, step: Step, [next, ...others]: readonly Step[], value: Value, keep: (copy: List | Dict) => void): Value {
    if (next === undefined) return value;
    if (!(child instanceof List || child instanceof Dict)) return this.#put(this.#made(next), next, others, value, step.at);
    const inner = this.#owned<List | Dict>(child, step.at);
    keep(inner);
    return this.#put(inner, next, others, value, step.at);
  }

  /** A new container for a step: a list for a whole number, else a map. */
  #made({ key, field, at }: Step): List | Dict {
    return !field && this.#machine.whole(key, at) !== undefined ? new List([]) : new Dict();
  }

  #itemIndex({ items }: List, { key, field, at }: Step): number {
    const index = field ? undefined : this.#machine.whole(key, at);
    if (index === undefined) throw this.#machine.failure(7, 'a list index must be a whole number', at);
    if (index < 0n) throw this.#machine.failure(8, 'a list index cannot be negative', at);
    if (Number(index) - items.length > MOST_PADDING) throw this.#machine.failure(8, 'the index is too far past the end', at);
    return Number(index);
  }

  /** Makes a list long enough for an index. */
  #pad({ items }: List, index: number, at: Place): void {
    if (index < items.length) return;
    this.#machine.meter.bound('listLength', index + 1, at);
    this.#machine.meter.spendFor(index + 1 - items.length, 'copy', at);
    while (items.length <= index) items.push(null);
  }

  /** The container itself when only this place holds it, else a copy. */
  #owned<Container extends List | Dict>(container: Container, at: Place): Container;
  #owned(container: List | Dict, at: Place): List | Dict {
    if (!container.shared && !this.#isHeld(container)) return container;
    const isList = container instanceof List;
    this.#machine.meter.spendFor(isList ? container.items.length : container.entries.size, 'copy', at);
    const copy = isList
      ? new List(container.items.map(shared))
      : new Dict([...container.entries].map(([key, item]) => [key, shared(item)]));
    this.#machine.origin.parts.copied(container, copy);
    return copy;
  }
}
