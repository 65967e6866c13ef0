import type { Unit } from '../wire/limits.ts';

/** The names of each unit and what they stand for in bytes, milliseconds or counts. */
export const UNIT_SIZES: Readonly<Record<Unit, ReadonlyMap<string, number>>> = {
  count: new Map([['', 1]]),
  bytes: new Map([
    ['B', 1],
    ['KB', 1024],
    ['MB', 1024 ** 2],
    ['GB', 1024 ** 3],
    ['KiB', 1024],
    ['MiB', 1024 ** 2],
    ['GiB', 1024 ** 3],
  ]),
  ms: new Map([
    ['ms', 1],
    ['s', 1000],
    ['m', 60_000],
  ]),
};

/** A quantity in the largest unit that keeps it whole, as flags take it: `64MB`, `1500ms`, `1000`. */
export function quantity(unit: Unit, value: number): string {
  let best = '';
  let factor = 1;
  for (const [name, size] of UNIT_SIZES[unit]) {
    if (name.includes('i')) continue;
    if (best === '' || (size > factor && value >= size && value % size === 0)) {
      best = name;
      factor = size;
    }
  }
  return `${value / factor}${best}`;
}

/** A whole number with a comma before every third digit: `1,000`. The engine's own formatter takes 12 ms at its first use. */
export function grouped(value: number): string {
  const digits = String(value);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(',');
}

/** A measured quantity; large sizes are rounded to a tenth of their unit. */
export function amount(unit: Unit, value: number): string {
  if (unit !== 'bytes' || value < 10 * 1024) return quantity(unit, value);
  const [name, size] = value < 10 * 1024 ** 2 ? ['KB', 1024] : ['MB', 1024 ** 2];
  return `${Math.round((value / size) * 10) / 10}${name}`;
}
