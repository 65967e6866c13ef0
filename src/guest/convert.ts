import { DATA_FUEL } from '../wire/costs.ts';
import { parseNumber } from '../wire/numbers.ts';
import { leadingSpace } from '../wire/whitespace.ts';
import type { Meter } from './meter.ts';
import { Fuzzy, type Value } from './values.ts';
import { WORK } from './work.ts';

/** Longest text that is read as a number free of charge. */
const FREE_UNITS = DATA_FUEL.number.amount;

/** Lowest and first too high value of ToInt64. */
const MIN_INT64 = -(2 ** 63);
const MAX_INT64 = 2 ** 63;

/** The number that arithmetic and order see in a value; undefined when the value is not numeric. Pays for reading a text. */
export function toNumeric(meter: Meter, value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return textToNumber(meter, value);
  return value instanceof Fuzzy ? value.degree : undefined;
}

/** The whole number within 64 bits that a value stands for; undefined when there is none. */
export function toInteger(meter: Meter, value: Value): number | undefined {
  const number = toNumeric(meter, value);
  return number !== undefined && isInt64(number) ? number : undefined;
}

/** Whether a number is whole and −2⁶³ ≤ n < 2⁶³. */
export function isInt64(number: number): boolean {
  return Number.isInteger(number) && number >= MIN_INT64 && number < MAX_INT64;
}

/** How a numeric text may begin. Most texts are ruled out by their first character. */
const START = /^[\s\u0085]*[-+.0-9iInN]/;
const SPACE = /^[\s\u0085]/;

function textToNumber(meter: Meter, text: string): number | undefined {
  return text.length > FREE_UNITS ? longTextToNumber(meter, text) : shortTextToNumber(text);
}

/** Whether a text is not a number and so short that finding out is free. */
export function isShortNonNumber(text: string): boolean {
  return text.length <= FREE_UNITS && shortTextToNumber(text) === undefined;
}

function shortTextToNumber(text: string): number | undefined {
  const first = text.charCodeAt(0);
  // Rules most texts out: they begin with a letter other than those of inf and nan.
  if (first > NINE && first < 0x80 && (first | CASE) !== LOWER_I && (first | CASE) !== LOWER_N) return undefined;
  return START.test(text) ? parseNumber(text) : undefined;
}

function longTextToNumber(meter: Meter, text: string): number | undefined {
  meter.pay(WORK.sameText, text.length);
  if (meter.nonNumeric.has(text)) return undefined;
  meter.pay(WORK.number, text.length);
  if (SPACE.test(text)) return spacedToNumber(meter, text);
  const number = START.test(text) ? parseLong(meter, text) : undefined;
  if (number === undefined) meter.nonNumeric.learn(text);
  return number;
}

/** A text that begins with white space. It is skipped by hand: a pattern would go through a long run again and again. */
function spacedToNumber(meter: Meter, text: string): number | undefined {
  const start = leadingSpace(text, () => meter.pay(WORK.textPart));
  // White space alone is not a number, but may become the beginning of one: it is not remembered.
  if (start === text.length) return undefined;
  // Without the white space, which is paid for already.
  const number = START.test(text.slice(start, start + 1)) ? parseLong(meter, text.slice(start)) : undefined;
  if (number === undefined) meter.nonNumeric.learn(text);
  return number;
}

/** Apart from its callers, because creating the closure takes time, and most long texts do not come this far. */
function parseLong(meter: Meter, text: string): number | undefined {
  return parseNumber(text, () => meter.pay(WORK.textPart));
}

const NINE = 0x39;
const CASE = 0x20;
const LOWER_I = 0x69;
const LOWER_N = 0x6e;
