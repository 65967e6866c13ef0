import { SHORT_TEXT, VALUE_BYTES } from '../../wire/costs.ts';
import { codePointOrder, listBytes, newList, payRound, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { List, Value } from '../values.ts';
import { payList } from './results.ts';

/** Runs a sort and pays for its comparisons and for the memory that V8 uses meanwhile. */
function pay<T>(meter: Meter, items: number, sort: (compared: () => void) => T): T {
  const bytes = VALUE_BYTES.item.amount * items;
  meter.pay(WORK.sort, items * Math.ceil(Math.log2(items + 1)));
  meter.allocate(bytes);
  let comparisons = 0;
  // Only the comparisons can check the clocks while V8 sorts.
  const sorted = sort(() => payRound(meter, ++comparisons));
  meter.release(bytes);
  return sorted;
}

/** Sorts numbers in ascending order, NaN last. */
export function sortedNumbers(meter: Meter, numbers: readonly number[]): number[] {
  return pay(meter, numbers.length, (compared) =>
    numbers.toSorted((a, b) => {
      compared();
      return ascending(a, b);
    }),
  );
}

function ascending(a: number, b: number): number {
  if (a === b) return 0;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : 1;
}

/** The positions of keys in ascending order. The sort is stable. `what` names the keys in an error. */
export function order(meter: Meter, keys: readonly Value[], what: string): number[] {
  const compare = comparison(meter, keys, what);
  return pay(meter, keys.length, (compared) =>
    keys
      .map((_, index) => index)
      .sort((left, right) => {
        compared();
        return compare(keys[left], keys[right]);
      }),
  );
}

/** A list of the same items in ascending order. V8's `toSorted` makes other comparisons than `sort`, whose fuel would be another. */
export function sorted(meter: Meter, { items, bytes }: List): List {
  const few = new FewTexts();
  const counts = few.count(meter, items);
  const compare = counts ? byUnits : comparison(meter, items, 'the list');
  const ordered = pay(meter, items.length, (compared) => {
    const next: Comparison = (left, right) => {
      compared();
      return compare(left, right);
    };
    return counts ? few.sorted(items.length, next) : items.slice().sort(next);
  });
  payList(meter, ordered.length);
  return newList(meter, ordered, bytes - listBytes(ordered.length));
}

type Comparison = (a: Value | undefined, b: Value | undefined) => number;

const SURROGATE = /[\ud800-\udfff]/;

/**
 * How keys compare that are all numbers or all strings. Fails with code 7 for any other key and for a mixture. Numeric strings are strings
 * here.
 */
function comparison(meter: Meter, keys: readonly Value[], what: string): Comparison {
  const kind = typeof keys[0];
  let plain = kind === 'string';
  for (let index = 0; index < keys.length; index++) {
    payRound(meter, index);
    const key = keys[index];
    if (typeof key !== 'string' && typeof key !== 'number')
      return meter.fail('Type', `cannot sort ${what}: the items must be numbers or strings`);
    if (typeof key !== kind) return meter.fail('Type', `cannot sort ${what}: it mixes numbers and strings`);
    plain &&= typeof key === 'string' && isPlain(key);
  }
  if (plain) return byUnits;
  return (a, b) =>
    typeof a === 'string' && typeof b === 'string'
      ? codePointOrder(meter, a, b)
      : ascending(typeof a === 'number' ? a : 0, typeof b === 'number' ? b : 0);
}

/** Whether V8's operator compares a text at no fuel in the order of code points. */
function isPlain(text: string): boolean {
  return text.length < SHORT_TEXT && !SURROGATE.test(text);
}

function byUnits(a: Value | undefined, b: Value | undefined): number {
  if (a === b || typeof a !== 'string' || typeof b !== 'string') return 0;
  return a < b ? -1 : 1;
}

/** How many texts are few. */
const FEW = 256;

/** A sort of a list in which few short texts occur again and again: it counts them. */
class FewTexts {
  readonly #places = new Map<Value, number>();
  readonly #counts = new Int32Array(FEW);

  /** Counts the items. Returns false if they are others. */
  count(meter: Meter, items: readonly Value[]): boolean {
    for (let index = 0; index < items.length; index++) {
      payRound(meter, index);
      const item = items[index] ?? null;
      let place = this.#places.get(item);
      if (place === undefined) {
        place = this.#places.size;
        if (place === FEW || typeof item !== 'string' || !isPlain(item)) return false;
        this.#places.set(item, place);
      }
      this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    }
    return true;
  }

  /** The counted items in order. */
  sorted(length: number, compare: Comparison): Value[] {
    const made = new Array<Value>(length);
    let at = 0;
    for (const text of [...this.#places.keys()].sort(compare)) {
      const start = at;
      at += this.#counts[this.#places.get(text) ?? 0] ?? 0;
      made.fill(text, start, at);
    }
    return made;
  }
}
