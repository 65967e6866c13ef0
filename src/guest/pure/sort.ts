import { VALUE_BYTES } from '../../wire/costs.ts';
import { codePointOrder, payRound, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';

/** Pays for sorting so many items: comparisons, and the newItems that V8 takes meanwhile. */
function pay<T>(meter: Meter, items: number, sort: (compared: () => void) => T): T {
  const bytes = VALUE_BYTES.item.amount * items;
  meter.pay(WORK.sort, items * Math.ceil(Math.log2(items + 1)));
  meter.allocate(bytes);
  let comparisons = 0;
  // V8 sorts in one go: only the comparisons can look at the clocks.
  const sorted = sort(() => payRound(meter, ++comparisons));
  meter.release(bytes);
  return sorted;
}

/** Numbers in ascending order; NaN comes last. */
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
 * The order of values by keys that are all numbers or all texts, equal ones as they stood: positions, in that order. Code 7
 * for anything else, and for numbers beside texts; `what` says whose keys they are. Numeric texts are texts here.
 */
export function order(meter: Meter, keys: readonly Value[], what: string): number[] {
  const kind = typeof keys[0];
  for (const key of keys) {
    if (typeof key !== 'string' && typeof key !== 'number')
      return meter.fail('Type', `cannot sort ${what}: numbers or texts are needed, and there is something else among them`);
    if (typeof key !== kind) return meter.fail('Type', `cannot sort ${what}: there are numbers and texts among them`);
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
