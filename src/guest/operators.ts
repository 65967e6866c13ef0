import type { BinaryOp, UnaryOp } from '../../grammar/index.ts';
import { SHORT_TEXT, VALUE_BYTES } from '../wire/costs.ts';
import { nearestKey, nilHint } from './access.ts';
import { isInt64, toInteger, toNumeric } from './convert.ts';
import { describe } from './describe.ts';
import { equal } from './equal.ts';
import { newList } from './measure.ts';
import { listBytes } from './memory.ts';
import { type Meter, payRound } from './meter.ts';
import { toText } from './text.ts';
import { Dict, Fuzzy, List, share, Time, truthy, typeName, type Value } from './values.ts';
import { WORK } from './work.ts';

/** A binary operator on two values of any types, at `meter.at`. */
export type Operator = (meter: Meter, left: Value, right: Value) => Value;

/** The binary operators that always evaluate both sides. */
export const OPERATORS: Readonly<Record<Exclude<BinaryOp, 'and' | 'or'> | '**', Operator>> = {
  '+': add,
  '-': (meter, left, right) => {
    const [a, b] = numbers(meter, '-', left, right);
    return a - b;
  },
  '*': multiply,
  '/': divide,
  '%': remainder,
  '**': (meter, left, right) => {
    const [a, b] = numbers(meter, '**', left, right);
    return power(a, b);
  },
  '&': (meter, left, right) => bitwise(meter, '&', left, right),
  '|': (meter, left, right) => bitwise(meter, '|', left, right),
  '^': (meter, left, right) => bitwise(meter, '^', left, right),
  '==': equal,
  '!=': (meter, left, right) => !equal(meter, left, right),
  '<': (meter, left, right) => ordered(meter, '<', left, right),
  '>': (meter, left, right) => ordered(meter, '>', left, right),
  '<=': (meter, left, right) => ordered(meter, '<=', left, right),
  '>=': (meter, left, right) => ordered(meter, '>=', left, right),
};

const COUNT =
  'a variable that was never set and a missing map key are nil; to count in a map, write set m[k] = tool.map.Get(m, k, 0) + 1';

/** Raises code 7 at the operator. */
function refuse(meter: Meter, op: string, left: Value, right: Value, hint = instead(meter, op, left, right)): never {
  return meter.fail('Type', `'${op}' cannot be applied to ${describe(left)} and ${describe(right)}`, hint);
}

/** What does with such values what an operator does with numbers. */
function instead(meter: Meter, op: string, left: Value, right: Value): string | undefined {
  if (left === null || right === null) return op === '+' && left === null ? (nearestKey(meter) ?? COUNT) : nilHint(meter);
  const [list, map] = [left instanceof List, left instanceof Dict];
  if (op === '+' && (typeof left === 'boolean' || typeof right === 'boolean'))
    return 'to count what is true, add 1 in an if block';
  if (op === '+' && map && right instanceof Dict) return 'tool.map.Merge(a, b) has the keys of both';
  if (op === '-' && map && typeof right === 'string') return 'tool.map.Remove(m, key) leaves a key out';
  if (op === '-' && list) return 'to leave items out, append the others to a new list in a loop';
  if (op === '*' && (list || right instanceof List)) return 'to repeat a list, add it to a new list in a loop: set all = all + l';
  return undefined;
}

function numbers(meter: Meter, op: string, left: Value, right: Value): readonly [number, number] {
  const a = toNumeric(meter, left);
  const b = toNumeric(meter, right);
  if (a === undefined || b === undefined) return refuse(meter, op, left, right);
  return [a, b];
}

function add(meter: Meter, left: Value, right: Value): Value {
  const a = toNumeric(meter, left);
  if (a !== undefined) {
    const b = toNumeric(meter, right);
    if (b !== undefined) return a + b;
  }
  if (typeof left === 'string' || typeof right === 'string') return concat(meter, toText(meter, left), toText(meter, right));
  if (left instanceof List && right instanceof List) return joined(meter, left, right);
  return refuse(meter, '+', left, right, additionHint(left, right));
}

function additionHint(left: Value, right: Value): string | undefined {
  if (left instanceof List || right instanceof List)
    return "a list is added to a list only; to append one item, write 'set l[len(l)] = item'";
  return undefined;
}

/** Joins two texts. It costs as much as V8 copies in the end: the shorter side, or all of it when the text is flattened. */
export function concat(meter: Meter, left: string, right: string): string {
  const units = left.length + right.length;
  if (units <= SHORT_TEXT) {
    meter.allocateText(units);
    return left + right;
  }
  const flat = isFlattened(units, Math.max(left.length, right.length));
  const copied = flat ? units : Math.min(left.length, right.length);
  if (copied > SHORT_TEXT) meter.pay(WORK.concat, copied);
  // Asked first, because a census clears what is remembered.
  const word = meter.nonNumeric.hasJoined(left, right);
  meter.allocateText(units);
  // The first read of a character will make V8 copy the whole text.
  if (units >= WORK.flatten.per) meter.pay(WORK.flatten, units);
  const both = left + right;
  if (word) meter.nonNumeric.remember(both);
  return flat ? flatten(both) : both;
}

/** Units that are joined free of charge. */

/** A new list with the items of both (P22). */
function joined(meter: Meter, left: List, right: List): List {
  const items = left.items.length + right.items.length;
  meter.pay(WORK.copy, items);
  meter.allocate(listBytes(items));
  const all = left.items.concat(right.items);
  for (const item of all) share(item);
  return newList(meter, all);
}

function multiply(meter: Meter, left: Value, right: Value): Value {
  if (typeof left === 'string' && isCount(right)) return repeat(meter, left, right);
  if (typeof right === 'string' && isCount(left)) return repeat(meter, right, left);
  const [a, b] = numbers(meter, '*', left, right);
  return a * b;
}

function isCount(value: Value): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function repeat(meter: Meter, text: string, times: number): string {
  // A breach names the units; an infinite number is none that a host accepts.
  const units = Math.min(text.length * times, Number.MAX_SAFE_INTEGER);
  meter.allocateText(units);
  meter.pay(WORK.concat, units);
  return units === 0 ? '' : text.repeat(times);
}

function divide(meter: Meter, left: Value, right: Value): Value {
  const [a, b] = numbers(meter, '/', left, right);
  if (b === 0) meter.fail('DivisionByZero', `division by zero: ${describe(left)} / ${describe(right)}`, 'test the divisor first');
  return a / b;
}

function remainder(meter: Meter, left: Value, right: Value): Value {
  const [a, b] = numbers(meter, '%', left, right);
  if (!isInt64(a) || !isInt64(b))
    return refuse(meter, '%', left, right, "'%' needs whole numbers below 2**63; divide and subtract for others");
  if (b === 0) meter.fail('DivisionByZero', `modulo by zero: ${describe(left)} % ${describe(right)}`, 'test the divisor first');
  // A 64-bit integer has no negative zero.
  return a % b || 0;
}

/** The power of IEEE 754. JavaScript differs from it for a base of ±1. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}

type Bitwise = '&' | '|' | '^';

function bitwise(meter: Meter, op: Bitwise, left: Value, right: Value): Value {
  const a = toInteger(meter, left);
  const b = toInteger(meter, right);
  if (a === undefined || b === undefined)
    return refuse(meter, op, left, right, `'${op}' works on the bits of whole numbers${op === '^' ? "; a power is '**'" : ''}`);
  if (a === (a | 0) && b === (b | 0)) return op === '&' ? a & b : op === '|' ? a | b : a ^ b;
  const x = BigInt(a);
  const y = BigInt(b);
  return Number(op === '&' ? x & y : op === '|' ? x | y : x ^ y);
}

type Order = '<' | '>' | '<=' | '>=';

function ordered(meter: Meter, op: Order, left: Value, right: Value): boolean {
  return holds(op, comparison(meter, op, left, right));
}

/** Whether an order holds, given the sign of left − right. None holds for NaN. */
function holds(op: Order, sign: number): boolean {
  switch (op) {
    case '<':
      return sign < 0;
    case '>':
      return sign > 0;
    case '<=':
      return sign <= 0;
    case '>=':
      return sign >= 0;
  }
}

function comparison(meter: Meter, op: Order, left: Value, right: Value): number {
  if (left instanceof Time && right instanceof Time) return left.seconds - right.seconds || left.nanos - right.nanos;
  if (left instanceof Time || right instanceof Time)
    return refuse(meter, op, left, right, 'a timedate compares with a timedate only');
  const a = toNumeric(meter, left);
  const b = toNumeric(meter, right);
  // Infinity − Infinity is NaN, so no difference is taken.
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN;
  if (typeof left !== 'string' || typeof right !== 'string') {
    const mixed = typeof left === 'string' || typeof right === 'string';
    return refuse(meter, op, left, right, typeof left === 'boolean' ? CHAIN : mixed ? MIXED : undefined);
  }
  if (a !== undefined || b !== undefined) return refuse(meter, op, left, right, SPELT);
  return codePointOrder(meter, left, right);
}

const CHAIN = "compare two values at a time: 'a < b and b < c'";
const MIXED = 'compare numbers or text, not both';
const SPELT = 'text that spells a number compares as that number, and the other one spells none: compare texts of the same form';

/** The order of two texts by code points, as the sign of left − right. UTF-16 order puts surrogates before U+E000…U+FFFF. */
export function codePointOrder(meter: Meter, left: string, right: string): number {
  meter.pay(WORK.compare, Math.min(left.length, right.length));
  if (left === right) return 0;
  const shorter = Math.min(left.length, right.length);
  let index = 0;
  while (index < shorter && left.charCodeAt(index) === right.charCodeAt(index)) payRound(meter, ++index);
  if (index === shorter) return left.length - right.length;
  return rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
}

/** Puts surrogates, which stand for code points beyond U+FFFF, after all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

export function unary(meter: Meter, op: UnaryOp, value: Value): Value {
  switch (op) {
    case '-': {
      const number = toNumeric(meter, value);
      if (number === undefined) meter.fail('Type', `'-' cannot be applied to ${describe(value)}: it needs a number`);
      return -number;
    }
    case '~': {
      const integer = toInteger(meter, value);
      if (integer === undefined) meter.fail('Type', `'~' cannot be applied to ${describe(value)}: it needs a whole number`);
      return integer === (integer | 0) ? ~integer : Number(~BigInt(integer));
    }
    case 'not':
      return value instanceof Fuzzy ? fuzzy(meter, 1 - value.degree) : !truthy(value);
    case 'no':
      return !truthy(value);
    case 'some':
      return truthy(value);
    case 'typeof':
      return typeName(value);
  }
}

/** `and` or `or` of two values of which one is fuzzy: the minimum or maximum of their degrees. */
export function fuzzyLogic(meter: Meter, op: 'and' | 'or', left: Value, right: Value): Fuzzy {
  const a = degree(left);
  const b = degree(right);
  return fuzzy(meter, op === 'and' ? Math.min(a, b) : Math.max(a, b));
}

function degree(value: Value): number {
  if (value instanceof Fuzzy) return value.degree;
  return truthy(value) ? 1 : 0;
}

function fuzzy(meter: Meter, degree: number): Fuzzy {
  meter.allocate(VALUE_BYTES.other.amount);
  return new Fuzzy(degree);
}

/** Shorter texts stay as they are. */
const FLOOR = 1024;

/** Any pattern makes V8 flatten the text it is tested on, and V8 never optimises the test away. */
const PROBE = /^/;

/**
 * Whether a text is to be flattened. V8 keeps `a + b` as a tree, with 32 bytes a node, until its characters are read; a text built
 * character by character would take sixteen times the memory that it counts. Flattening it whenever its length passes the next eighth
 * of an octave keeps the tree smaller than the text, and the copying proportional to the final length.
 */
function isFlattened(length: number, longerSide: number): boolean {
  // An eighth of an octave is the highest bit of a length with the three below it.
  return length >= FLOOR && (length ^ longerSide) >>> (28 - Math.clz32(length)) !== 0;
}

function flatten(text: string): string {
  PROBE.test(text);
  return text;
}
