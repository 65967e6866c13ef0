import { VALUE_BYTES } from '../../wire/costs.ts';
import { codePointOrder, payRound, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

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

/**
 * Sorts keys that are all numbers or all strings, and returns their positions in that order. The sort is stable. Fails with
 * code 7 for any other key and for a mixture; `what` names the keys in the message. Numeric strings are strings here.
 */
export function order(meter: Meter, keys: readonly Value[], what: string): number[] {
  const kind = typeof keys[0];
  for (const key of keys) {
    if (typeof key !== 'string' && typeof key !== 'number')
      return meter.fail('Type', `cannot sort ${what}: the items must be numbers or strings`);
    if (typeof key !== kind) return meter.fail('Type', `cannot sort ${what}: it mixes numbers and strings`);
  }
  return pay(meter, keys.length, (compared) =>
    keys
      .map((_, index) => index)
      .sort((left, right) => {
        compared();
        const a = keys[left];
        const b = keys[right];
        return typeof a === 'string' && typeof b === 'string'
          ? codePointOrder(meter, a, b)
          : ascending(typeof a === 'number' ? a : 0, typeof b === 'number' ? b : 0);
      }),
  );
}
