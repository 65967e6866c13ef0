import { numberText, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { List } from '../values.ts';
import type { Group } from './define.ts';
import { sortedNumbers } from './sort.ts';

/** Arithmetic on what can be read as numbers. */
export const MATH: Group<'math'> = {
  'tool.math.Add': (_machine, a, b) => a + b,
  'tool.math.Subtract': (_machine, a, b) => a - b,
  'tool.math.Multiply': (_machine, a, b) => a * b,
  'tool.math.Divide': (machine, a, b) => (b === 0 ? byZero(machine, 'division', a) : a / b),
  // A 64-bit integer has no negative zero.
  'tool.math.Modulo': (machine, a, b) => (b === 0 ? byZero(machine, 'modulo', a) : a % b || 0),
  'tool.math.Abs': (_machine, x) => Math.abs(x),
  'tool.math.Sign': (_machine, x) => Math.sign(x),
  'tool.math.Floor': (_machine, x) => Math.floor(x),
  'tool.math.Ceil': (_machine, x) => Math.ceil(x),
  'tool.math.Trunc': (_machine, x) => Math.trunc(x),
  'tool.math.Round': round,
  'tool.math.Sqrt': (machine, x) =>
    x < 0 ? machine.fail('InvalidValue', `Sqrt(${numberText(x)}) has no value: it needs a number from 0`) : Math.sqrt(x),
  'tool.math.Power': (_machine, base, exponent) => (base === 1 ? 1 : base ** exponent),
  'tool.math.Clamp': (machine, x, least, most) => {
    if (!(least <= most)) machine.fail('InvalidValue', `least (${numberText(least)}) is above most (${numberText(most)})`);
    return Math.min(most, Math.max(least, x));
  },
  'tool.math.Min': (machine, list) => some(machine, list).reduce((a, b) => Math.min(a, b)),
  'tool.math.Max': (machine, list) => some(machine, list).reduce((a, b) => Math.max(a, b)),
  'tool.math.Sum': (machine, list) => sum(machine, numbers(list)),
  'tool.math.Mean': (machine, list) => {
    const all = some(machine, list);
    return sum(machine, all) / all.length;
  },
  'tool.math.Median': (machine, list) => {
    const all = sortedNumbers(machine, some(machine, list));
    const middle = all.length >> 1;
    const upper = all[middle] ?? 0;
    return all.length % 2 === 1 ? upper : ((all[middle - 1] ?? 0) + upper) / 2;
  },
};

function byZero(machine: Meter, what: string, x: number): never {
  return machine.fail('DivisionByZero', `${what} by zero: ${numberText(x)}`, 'test the divisor first');
}

/** Most digits behind the point: a number has no more. */
const MAX_DIGITS = 15;

/**
 * Halves away from zero, as people round, judged by the digits that a script sees: 1.005 to two digits is 1.01 although the
 * number in the machine is a little less.
 */
function round(machine: Meter, x: number, digits: number): number {
  if (Math.abs(digits) > MAX_DIGITS) machine.fail('Bounds', `digits must be -${MAX_DIGITS} to ${MAX_DIGITS}, got ${digits}`);
  if (!Number.isFinite(x)) return x;
  const shifted = shift(Math.abs(x), digits);
  const whole = Math.floor(shifted);
  const rounded = shift(shifted - whole >= 0.5 ? whole + 1 : whole, -digits);
  return x < 0 ? -rounded || 0 : rounded;
}

/** A number times a power of ten, on its decimal digits. */
function shift(x: number, digits: number): number {
  const [mantissa = '', exponent = '0'] = String(x).split('e');
  return Number(`${mantissa}e${Number(exponent) + digits}`);
}

/** The items of a list that was matched as numbers. */
function numbers(list: List): number[] {
  return list.items.filter((item) => typeof item === 'number');
}

function some(machine: Meter, list: List): number[] {
  machine.pay(WORK.visit, list.items.length);
  if (list.items.length === 0) machine.fail('InvalidValue', 'the list is empty');
  return numbers(list);
}

function sum(machine: Meter, all: readonly number[]): number {
  machine.pay(WORK.visit, all.length);
  return all.reduce((a, b) => a + b, 0);
}
