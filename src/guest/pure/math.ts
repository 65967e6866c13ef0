import { numberText, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { List } from '../values.ts';
import type { Group } from './define.ts';
import { sortedNumbers } from './sort.ts';

/** Arithmetic on numbers and numeric strings. */
export const MATH: Group<'math'> = {
  'tool.math.Add': (_meter, a, b) => a + b,
  'tool.math.Subtract': (_meter, a, b) => a - b,
  'tool.math.Multiply': (_meter, a, b) => a * b,
  'tool.math.Divide': (meter, a, b) => (b === 0 ? byZero(meter, 'division', a) : a / b),
  // A 64-bit integer has no negative zero.
  'tool.math.Modulo': (meter, a, b) => (b === 0 ? byZero(meter, 'modulo', a) : a % b || 0),
  'tool.math.Abs': (_meter, x) => Math.abs(x),
  'tool.math.Sign': (_meter, x) => Math.sign(x),
  'tool.math.Floor': (_meter, x) => Math.floor(x),
  'tool.math.Ceil': (_meter, x) => Math.ceil(x),
  'tool.math.Trunc': (_meter, x) => Math.trunc(x),
  'tool.math.Round': round,
  'tool.math.Sqrt': (meter, x) =>
    x < 0 ? meter.fail('InvalidValue', `Sqrt(${numberText(x)}) has no value: it needs a number from 0`) : Math.sqrt(x),
  'tool.math.Power': (_meter, base, exponent) => (base === 1 ? 1 : base ** exponent),
  'tool.math.Clamp': (meter, x, least, most) => {
    if (!(least <= most)) meter.fail('InvalidValue', `least (${numberText(least)}) is above most (${numberText(most)})`);
    return Math.min(most, Math.max(least, x));
  },
  'tool.math.Min': (meter, list) => some(meter, list).reduce((a, b) => Math.min(a, b)),
  'tool.math.Max': (meter, list) => some(meter, list).reduce((a, b) => Math.max(a, b)),
  'tool.math.Sum': (meter, list) => sum(meter, numbers(list)),
  'tool.math.Mean': (meter, list) => {
    const all = some(meter, list);
    return sum(meter, all) / all.length;
  },
  'tool.math.Median': (meter, list) => {
    const all = sortedNumbers(meter, some(meter, list));
    const middle = all.length >> 1;
    const upper = all[middle] ?? 0;
    return all.length % 2 === 1 ? upper : ((all[middle - 1] ?? 0) + upper) / 2;
  },
};

function byZero(meter: Meter, what: string, x: number): never {
  return meter.fail('DivisionByZero', `${what} by zero: ${numberText(x)}`, 'test the divisor first');
}

/** Maximum number of decimal places: a number has no more digits. */
const MAX_DIGITS = 15;

/**
 * Rounds halves away from zero, by the digits that a script sees: 1.005 becomes 1.01 although the binary number is slightly
 * less than 1.005.
 */
function round(meter: Meter, x: number, digits: number): number {
  if (Math.abs(digits) > MAX_DIGITS) meter.fail('Bounds', `digits must be -${MAX_DIGITS} to ${MAX_DIGITS}, got ${digits}`);
  if (!Number.isFinite(x)) return x;
  const shifted = shift(Math.abs(x), digits);
  const whole = Math.floor(shifted);
  const rounded = shift(shifted - whole >= 0.5 ? whole + 1 : whole, -digits);
  return x < 0 ? -rounded || 0 : rounded;
}

/** Multiplies a number by a power of ten, on its decimal digits. */
function shift(x: number, digits: number): number {
  const [mantissa = '', exponent = '0'] = String(x).split('e');
  return Number(`${mantissa}e${Number(exponent) + digits}`);
}

/** The items of a list whose items are known to be numbers. */
function numbers(list: List): number[] {
  return list.items.filter((item) => typeof item === 'number');
}

function some(meter: Meter, list: List): number[] {
  meter.pay(WORK.visit, list.items.length);
  if (list.items.length === 0) meter.fail('InvalidValue', 'the list is empty');
  return numbers(list);
}

function sum(meter: Meter, all: readonly number[]): number {
  meter.pay(WORK.visit, all.length);
  return all.reduce((a, b) => a + b, 0);
}
