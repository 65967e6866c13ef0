import { DATA_FUEL } from '../wire/costs.ts';
import type { Machine } from './machine.ts';
import { Fuzzy, type Value } from './values.ts';

const UNITS_PER_FUEL = DATA_FUEL.number.amount;

/** Lowest and first too high value of ToInt64. */
const MIN_INT64 = -(2 ** 63);
const MAX_INT64 = 2 ** 63;

/**
 * ToNumeric (language.md 4.3): the number that arithmetic and order see in a value; undefined when it is not numeric.
 * Looking through a text is charged.
 */
export function toNumeric(machine: Machine, value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return textToNumber(machine, value);
  return value instanceof Fuzzy ? value.degree : undefined;
}

/** ToInt64: the whole number of a value within 64 bits; undefined when there is none. */
export function toInteger(machine: Machine, value: Value): number | undefined {
  const number = toNumeric(machine, value);
  return number !== undefined && isInt64(number) ? number : undefined;
}

/** Whether a number is whole and −2⁶³ ≤ n < 2⁶³. */
export function isInt64(number: number): boolean {
  return Number.isInteger(number) && number >= MIN_INT64 && number < MAX_INT64;
}

/** How numeric text may begin, after white space: most text is told apart by its first character. */
const START = /^[\s\u0085]*[-+.0-9iInN]/;
const DECIMAL = /^[-+]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+(?:_\d+)*)?$/;
const HEXADECIMAL =
  /^([-+]?)0[xX]_?([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*)(?:\.([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*))?[pP]([-+]?\d+(?:_\d+)*)$/;
const INFINITY = /^([-+]?)inf(?:inity)?$/i;
const NOT_A_NUMBER = /^nan$/i;

function textToNumber(machine: Machine, text: string): number | undefined {
  if (text.length > UNITS_PER_FUEL) return longTextToNumber(machine, text);
  const first = text.charCodeAt(0);
  // Most words: a letter other than those that begin inf and nan.
  if (first > NINE && first < 0x80 && (first | CASE) !== LOWER_I && (first | CASE) !== LOWER_N) return undefined;
  return START.test(text) ? parseNumber(text) : undefined;
}

function longTextToNumber(machine: Machine, text: string): number | undefined {
  if (machine.words.has(text)) return undefined;
  machine.spend(Math.floor(text.length / UNITS_PER_FUEL));
  const number = START.test(text) ? parseNumber(text) : undefined;
  if (number === undefined) machine.words.look(text);
  return number;
}

const NINE = 0x39;
const CASE = 0x20;
const LOWER_I = 0x69;
const LOWER_N = 0x6e;

/** The number a text spells, white space around it aside; undefined when it spells none, or one out of range. */
export function parseNumber(text: string): number | undefined {
  const trimmed = trim(text);
  if (DECIMAL.test(trimmed)) return finite(Number(trimmed.replaceAll('_', '')));
  const infinity = INFINITY.exec(trimmed);
  if (infinity !== null) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (NOT_A_NUMBER.test(trimmed)) return Number.NaN;
  const hexadecimal = HEXADECIMAL.exec(trimmed);
  return hexadecimal === null ? undefined : hexadecimalNumber(hexadecimal);
}

const SPACE = /[\s\u0085]/;

/** Unicode's white space off both ends; by hand, because a pattern for the end takes quadratic time. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return unit !== 0xfeff && SPACE.test(String.fromCharCode(unit));
}

function hexadecimalNumber([, sign = '', whole = '', fraction = '', exponent = '']: RegExpExecArray): number | undefined {
  const digits = (whole + fraction).replaceAll('_', '');
  if (digits === '') return undefined;
  const fractionDigits = fraction.replaceAll('_', '').length;
  const magnitude = scale(BigInt(`0x${digits}`), Number(exponent.replaceAll('_', '')) - 4 * fractionDigits);
  return finite(sign === '-' ? -magnitude : magnitude);
}

/** `mantissa` × 2^`exponent`; in two steps, so that neither factor leaves the range before the product does. */
function scale(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  const spare = Math.max(0, mantissa.toString(16).length * 4 - 64);
  const sticky = spare > 0 && BigInt.asUintN(spare, mantissa) !== 0n ? 1n : 0n;
  const number = Number((mantissa >> BigInt(spare)) | sticky);
  const half = Math.trunc((exponent + spare) / 2);
  return number * 2 ** half * 2 ** (exponent + spare - half);
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}
