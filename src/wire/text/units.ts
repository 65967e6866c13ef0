import type { Unit } from '../limits.ts';
import { usdText } from '../money.ts';
import { grouped } from './grouped.ts';

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
  usd: new Map([['', 1]]),
};

/** A quantity in the largest unit that keeps it whole, as flags take it: `64MB`, `1500ms`, `1,000`; money as `$0.05`. */
export function quantity(unit: Unit, value: number): string {
  if (unit === 'usd') return usdText(value);
  let best = '';
  let factor = 1;
  for (const [name, size] of UNIT_SIZES[unit]) {
    if (name.includes('i')) continue;
    if (best === '' || (size > factor && value >= size && value % size === 0)) {
      best = name;
      factor = size;
    }
  }
  return `${unit === 'count' ? grouped(value) : value / factor}${best}`;
}

/** A measured quantity, with its unit behind a blank: `1,000`, `14 ms`, `8,594 B`, `64.5 KB`; large sizes are rounded to a tenth of their unit. */
export function amount(unit: Unit, value: number): string {
  if (unit === 'count') return grouped(value);
  if (unit === 'ms') return `${grouped(value)} ms`;
  if (unit === 'usd') return usdText(value);
  if (value < 10 * 1024) return `${grouped(value)} B`;
  const [name, size] = value < 10 * 1024 ** 2 ? ['KB', 1024] : ['MB', 1024 ** 2];
  const rounded = Math.round((value / size) * 10) / 10;
  return `${rounded < 1000 ? rounded : grouped(rounded)} ${name}`;
}

/** Units of time from the longest, their milliseconds, and the decimals of a time in them. */
const TIMES = [
  ['d', 86_400_000, 1],
  ['h', 3_600_000, 1],
  ['min', 60_000, 1],
  ['s', 1000, 2],
] as const;

/** A time of milliseconds, in the unit that reads best: `1.46 s`; decimals that say nothing are left out: `10 s`. */
export function duration(ms: number): string {
  const [unit, size, decimals] = TIMES.find(([, least]) => ms >= least) ?? ['ms', 1, ms < 10 ? 1 : 0];
  return `${Number((ms / size).toFixed(decimals))} ${unit}`;
}

/** `1 turn`, `2 turns`. */
export function counted(count: number, thing: string): string {
  return `${grouped(count)} ${thing}${count === 1 ? '' : 's'}`;
}
