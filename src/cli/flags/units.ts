import { grouped, quantity, UNIT_SIZES } from '../../report/index.ts';
import type { Limit, Unit } from '../../wire/limits.ts';
import { usdProblem } from '../../wire/money.ts';
import { UsageError } from '../terminal/failure.ts';

const ADVICE: Readonly<Record<Unit, string>> = {
  count: 'write a whole number such as 1000 or 1e6',
  bytes: 'write a size such as 64KB, 64MB or 1GB',
  ms: 'write a time such as 100ms, 2s or 1m',
  usd: 'write US dollars such as 0.05 or 2',
};

/** Metavariable of a flag in the help text. */
export const PLACEHOLDER: Readonly<Record<Unit, string>> = { count: 'N', bytes: 'SIZE', ms: 'TIME', usd: 'USD' };

/**
 * Reads the value of a limit's flag: a bare number for counts (`1000`, `1,000`, `1e3`), a number with a unit for sizes (`B KB MB GB`, powers of
 * 1024) and times (`ms s m`), US dollars for money (`0.05`, `$1,000.05`). Returns bytes, milliseconds, a count or US dollars. Throws {@link UsageError} with what to write instead
 * when the unit is missing or unknown, the number is not whole in the base unit, or the limit could not be enforced.
 */
export function parseQuantity(limit: Pick<Limit, 'flag' | 'unit' | 'min' | 'max'>, text: string): number {
  const flag = `--${limit.flag}`;
  const plain = limit.unit === 'usd' ? plainUsd(text) : ungrouped(text.trim());
  const match = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(plain);
  const [, digits, suffix] = match ?? [];
  if (digits === undefined || suffix === undefined)
    throw new UsageError(`${flag} '${text}' is not a quantity; ${ADVICE[limit.unit]}`);
  const factor = UNIT_SIZES[limit.unit].get(suffix);
  if (factor === undefined) throw new UsageError(`${flag} '${text}' ${unitTrouble(limit.unit, digits, suffix)}`);
  const value = Number(digits) * factor;
  const isWhole = limit.unit === 'usd' ? usdProblem(value) === null || value > limit.max : Number.isInteger(value);
  if (!isWhole) throw new UsageError(`${flag} '${text}' is not a whole number of ${BASE[limit.unit]}`);
  if (value < limit.min)
    throw new UsageError(`${flag} '${text}' is too small; the minimum is ${quantity(limit.unit, limit.min)}`);
  if (value > limit.max)
    throw new UsageError(`${flag} '${text}' is too large; the maximum is ${quantity(limit.unit, limit.max)}`);
  return value;
}

/** Without the commas of a number that is written as reports write it: `1,000`; any other text as it is. */
function ungrouped(text: string): string {
  const plain = text.replaceAll(',', '');
  return grouped(Number(plain)) === text ? plain : text;
}

function plainUsd(text: string): string {
  const [whole = '', ...decimals] = (text.startsWith('$') ? text.slice(1) : text.trim()).split('.');
  return [ungrouped(whole), ...decimals].join('.');
}

const BASE: Readonly<Record<Unit, string>> = {
  count: 'units',
  bytes: 'bytes',
  ms: 'milliseconds',
  usd: 'nano-dollars',
};

function unitTrouble(unit: Unit, digits: string, suffix: string): string {
  if (unit === 'count' || unit === 'usd')
    return `${unit === 'count' ? 'is a count' : 'is an amount of US dollars'} and takes no unit; write ${digits}`;
  const known = [...UNIT_SIZES[unit].keys()];
  if (suffix === '')
    return `needs a unit; write ${known
      .slice(0, unit === 'bytes' ? 4 : 3)
      .map((name) => digits + name)
      .join(', ')}`;
  const meant = known.find((name) => name.toLowerCase() === suffix.toLowerCase());
  return meant === undefined
    ? `has the unknown unit '${suffix}'; ${ADVICE[unit]}`
    : `has the unknown unit '${suffix}'; write ${digits}${meant}`;
}

const AGES: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Reads an age such as `30d` in milliseconds: a whole number and `s`, `m`, `h` or `d`. */
export function parseAge(flag: string): (text: string) => number {
  return (text) => {
    const [, digits = '', suffix = ''] = /^(\d{1,9})([A-Za-z]*)$/.exec(text.trim()) ?? [];
    const factor = AGES.get(suffix);
    if (factor !== undefined) return Number(digits) * factor;
    const what = digits === '' ? 'is not an age' : suffix === '' ? 'needs a unit' : `has the unknown unit '${suffix}'`;
    const number = digits === '' ? '30' : digits;
    throw new UsageError(`--${flag} '${text}' ${what}; write an age such as ${number}d, ${number}h, ${number}m or ${number}s`);
  };
}
