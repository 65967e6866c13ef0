import { Time } from './values.ts';

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const SECONDS_PER_DAY = 86_400;

/** A timedate from RFC 3339 text; undefined for other text. The calendar is computed here, because the isolate has no `Date`. */
export function parseTime(text: string): Time | undefined {
  const parts = RFC3339.exec(text);
  if (parts === null) return undefined;
  const part = (index: number): number => Number(parts[index] ?? 0);
  if (part(2) < 1 || part(2) > 12 || part(3) < 1 || part(3) > 31 || part(4) > 23 || part(5) > 59 || part(6) > 59)
    return undefined;
  const offset = (part(9) * 60 + part(10)) * 60 * (parts[8] === '-' ? -1 : 1);
  const clock = (part(4) * 60 + part(5)) * 60 + part(6);
  const seconds = daysSince1970(part(1), part(2), part(3)) * SECONDS_PER_DAY + clock - offset;
  return new Time(text, seconds, Number((parts[7] ?? '').padEnd(9, '0')));
}

/** Days since 1970 in the proleptic Gregorian calendar. The year is counted from March, so that a leap day is its last day. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
