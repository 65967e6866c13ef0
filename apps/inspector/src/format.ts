import type { SessionRow } from '../../../src/ui/views.ts';
import type { Unit } from '../../../src/wire/limits.ts';
import { usdText } from '../../../src/wire/money.ts';
import { grouped } from '../../../src/wire/text/grouped.ts';
import { amount, counted, duration } from '../../../src/wire/text/units.ts';

export { counted, duration, grouped, usdText };

/** A measured quantity in its unit. */
export function measured(unit: Unit, value: number): string {
  if (unit === 'ms') return duration(value);
  return unit === 'bytes' ? amount('bytes', Math.round(value)) : grouped(value);
}

/** Writes amounts of one column: each with the decimals of the one that needs most. */
export function usdColumn(amounts: readonly number[]): (usd: number) => string {
  const decimals = Math.max(2, ...amounts.map((usd) => usdText(usd).split('.')[1]?.length ?? 0));
  return (usd) => usdText(usd, decimals);
}

/** How long ago something was, roughly. */
export function ago(ms: number): string {
  if (ms < 5_000) return 'just now';
  return `${duration(ms)
    .replace(/\.\d+ s$/, ' s')
    .replace(/\.\d+ min$/, ' min')} ago`;
}

/** How long a session lasted, from its beginning to its last change; null for one that goes on. */
export function lasted({ phase, createdAt, updatedAt }: Pick<SessionRow, 'phase' | 'createdAt' | 'updatedAt'>): string | null {
  return phase === 'open' || phase === 'waiting' ? null : duration(updatedAt - createdAt);
}

/** A moment in UTC, as logs and records have it: `2026-11-23 06:45:55Z`. A number outside the calendar stays as it is. */
export function clockTime(ms: number): string {
  if (Math.abs(ms) > 8.64e15) return String(ms);
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** A part of a whole, in per cent. */
export function percent(part: number, whole: number): string {
  const value = whole === 0 ? 0 : (part / whole) * 100;
  return `${value > 0 && value < 1 ? '<1' : Math.round(value)}%`;
}
