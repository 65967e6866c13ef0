import { amount } from '../../../src/report/units.ts';
import type { Unit } from '../../../src/wire/limits.ts';

/** A time of milliseconds, in the unit that reads best. */
export function duration(ms: number): string {
  if (ms >= 86_400_000) return `${(ms / 86_400_000).toFixed(1)} d`;
  if (ms >= 3_600_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  if (ms >= 60_000) return `${(ms / 60_000).toFixed(1)} min`;
  return ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** A whole number with its thousands grouped by narrow blanks. */
export function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** `1 turn`, `2 turns`. */
export function counted(count: number, thing: string): string {
  return `${grouped(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** A measured quantity in its unit. */
export function measured(unit: Unit, value: number): string {
  if (unit === 'ms') return duration(value);
  return unit === 'bytes' ? amount('bytes', Math.round(value)) : grouped(value);
}

/** How long ago something was, roughly. */
export function ago(ms: number): string {
  if (ms < 5_000) return 'just now';
  return `${duration(ms)
    .replace(/\.\d+ s$/, ' s')
    .replace(/\.\d+ min$/, ' min')} ago`;
}

/** The clock time of a day, in the reader's zone: `2026-11-23 06:45:55`. A number outside the calendar stays as it is. */
export function clockTime(ms: number): string {
  if (Math.abs(ms) > 8.64e15) return String(ms);
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** A part of a whole, in per cent. */
export function percent(part: number, whole: number): string {
  const value = whole === 0 ? 0 : (part / whole) * 100;
  return `${value > 0 && value < 1 ? '<1' : Math.round(value)}${'\u202f'}%`;
}
