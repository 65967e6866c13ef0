import type { BinaryOp, UnaryOp } from '../../grammar/index.ts';
import { DATA_FUEL, VALUE_BYTES } from '../wire/costs.ts';
import { pace } from './clockchecks.ts';
import { isInt64, toInteger, toNumeric } from './convert.ts';
import { describe } from './describe.ts';
import { equal } from './equal.ts';
import { flatten, isFlattened } from './flatten.ts';
import type { Machine } from './machine.ts';
import { newList } from './measure.ts';
import { listBytes } from './memory.ts';
import { toText } from './text.ts';
import { Fuzzy, List, share, Time, truthy, typeName, type Value } from './values.ts';

/** A binary operator on two values of any types, at `machine.at`. */
export type Operator = (machine: Machine, left: Value, right: Value) => Value;

/** Binary operators that evaluate both sides (language.md 4.4); `and` and `or` decide that themselves. */
export const OPERATORS: Readonly<Record<Exclude<BinaryOp, 'and' | 'or'> | '**', Operator>> = {
  '+': add,
  '-': (machine, left, right) => {
    const [a, b] = numbers(machine, '-', left, right);
    return a - b;
  },
  '*': multiply,
  '/': divide,
  '%': remainder,
  '**': (machine, left, right) => {
    const [a, b] = numbers(machine, '**', left, right);
    return power(a, b);
  },
  '&': (machine, left, right) => bitwise(machine, '&', left, right),
  '|': (machine, left, right) => bitwise(machine, '|', left, right),
  '^': (machine, left, right) => bitwise(machine, '^', left, right),
  '==': equal,
  '!=': (machine, left, right) => !equal(machine, left, right),
  '<': (machine, left, right) => ordered(machine, '<', left, right),
  '>': (machine, left, right) => ordered(machine, '>', left, right),
  '<=': (machine, left, right) => ordered(machine, '<=', left, right),
  '>=': (machine, left, right) => ordered(machine, '>=', left, right),
};

/** Code 7, at the operator (P2). */
function refuse(machine: Machine, op: string, left: Value, right: Value, hint?: string): never {
  const unset = left === null || right === null ? 'a variable that was never set and a missing map key are nil' : undefined;
  return machine.fail('Type', `'${op}' cannot be applied to ${describe(left)} and ${describe(right)}`, hint ?? unset);
}

function numbers(machine: Machine, op: string, left: Value, right: Value): readonly [number, number] {
  const a = toNumeric(machine, left);
  const b = toNumeric(machine, right);
  if (a === undefined || b === undefined) return refuse(machine, op, left, right);
  return [a, b];
}

function add(machine: Machine, left: Value, right: Value): Value {
  const a = toNumeric(machine, left);
  if (a !== undefined) {
    const b = toNumeric(machine, right);
    if (b !== undefined) return a + b;
  }
  if (typeof left === 'string' || typeof right === 'string')
    return concat(machine, toText(machine, left), toText(machine, right));
  if (left instanceof List && right instanceof List) return joined(machine, left, right);
  return refuse(machine, '+', left, right, additionHint(left, right));
}

function additionHint(left: Value, right: Value): string | undefined {
  if (left instanceof List || right instanceof List)
    return "a list is added to a list only; to append one item, write 'set l[len(l)] = item'";
  return undefined;
}

/**
 * Two texts as one, charged before it is made. V8 joins them without copying; what is copied is the shorter side, sooner or
 * later, and all of it when it is made flat.
 */
export function concat(machine: Machine, left: string, right: string): string {
  const units = left.length + right.length;
  if (units <= UNITS_PER_CONCAT) {
    machine.chargeText(units);
    return left + right;
  }
  const flat = isFlattened(units, Math.max(left.length, right.length));
  const copied = flat ? units : Math.min(left.length, right.length);
  if (copied > UNITS_PER_CONCAT) machine.spend(Math.floor(copied / UNITS_PER_CONCAT));
  // Asked first, because a recount of memory makes the machine forget.
  const word = machine.words.makesWord(left, right);
  machine.chargeText(units);
  // Whoever looks at its characters first makes V8 copy it, even for one of them.
  if (units >= COPIED_PER_STATEMENT) machine.hasten(Math.floor(units / COPIED_PER_STATEMENT));
  const both = left + right;
  if (word) machine.words.remember(both);
  return flat ? flatten(both) : both;
}

const UNITS_PER_CONCAT = DATA_FUEL.concat.amount;
/** Units that are copied in the time of a statement. */
const COPIED_PER_STATEMENT = 8192;

/** A new list with the items of both (P22). */
function joined(machine: Machine, left: List, right: List): List {
  const items = left.items.length + right.items.length;
  machine.spend(Math.floor(items / DATA_FUEL.copy.amount));
  machine.charge(listBytes(items));
  const all = left.items.concat(right.items);
  for (const item of all) share(item);
  return newList(machine, all);
}

function multiply(machine: Machine, left: Value, right: Value): Value {
  if (typeof left === 'string' && isCount(right)) return repeat(machine, left, right);
  if (typeof right === 'string' && isCount(left)) return repeat(machine, right, left);
  const [a, b] = numbers(machine, '*', left, right);
  return a * b;
}

function isCount(value: Value): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function repeat(machine: Machine, text: string, times: number): string {
  const units = text.length * times;
  machine.chargeText(units);
  machine.spend(Math.floor(units / UNITS_PER_CONCAT));
  return units === 0 ? '' : text.repeat(times);
}

function divide(machine: Machine, left: Value, right: Value): Value {
  const [a, b] = numbers(machine, '/', left, right);
  if (b === 0)
    machine.fail('DivisionByZero', `division by zero: ${describe(left)} / ${describe(right)}`, 'test the divisor first');
  return a / b;
}

function remainder(machine: Machine, left: Value, right: Value): Value {
  const [a, b] = numbers(machine, '%', left, right);
  if (!isInt64(a) || !isInt64(b))
    return refuse(machine, '%', left, right, "'%' needs whole numbers below 2**63; divide and subtract for others");
  if (b === 0) machine.fail('DivisionByZero', `modulo by zero: ${describe(left)} % ${describe(right)}`, 'test the divisor first');
  // A 64-bit integer has no negative zero.
  return a % b || 0;
}

/** IEEE 754 power; JavaScript differs from it for a base of ±1. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}

type Bitwise = '&' | '|' | '^';

function bitwise(machine: Machine, op: Bitwise, left: Value, right: Value): Value {
  const a = toInteger(machine, left);
  const b = toInteger(machine, right);
  if (a === undefined || b === undefined)
    return refuse(machine, op, left, right, `'${op}' works on the bits of whole numbers${op === '^' ? "; a power is '**'" : ''}`);
  if (a === (a | 0) && b === (b | 0)) return op === '&' ? a & b : op === '|' ? a | b : a ^ b;
  const x = BigInt(a);
  const y = BigInt(b);
  return Number(op === '&' ? x & y : op === '|' ? x | y : x ^ y);
}

type Order = '<' | '>' | '<=' | '>=';

function ordered(machine: Machine, op: Order, left: Value, right: Value): boolean {
  return holds(op, comparison(machine, op, left, right));
}

/** Whether an order holds, given the sign of left − right; nothing holds for NaN. */
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

function comparison(machine: Machine, op: Order, left: Value, right: Value): number {
  if (left instanceof Time && right instanceof Time) return left.seconds - right.seconds || left.nanos - right.nanos;
  if (left instanceof Time || right instanceof Time)
    return refuse(machine, op, left, right, 'a timedate compares with a timedate only');
  const a = toNumeric(machine, left);
  const b = toNumeric(machine, right);
  // Infinity − Infinity is NaN, so no difference is taken.
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN;
  if (typeof left !== 'string' || typeof right !== 'string') {
    const mixed = typeof left === 'string' || typeof right === 'string';
    return refuse(machine, op, left, right, mixed ? MIXED : undefined);
  }
  if (a !== undefined || b !== undefined) return refuse(machine, op, left, right, MIXED);
  return codePointOrder(machine, left, right);
}

const MIXED = 'compare numbers or text, not both';

/** The order of two texts by code points (P22), as the sign of left − right; UTF-16 order differs where surrogates meet U+E000…U+FFFF. */
export function codePointOrder(machine: Machine, left: string, right: string): number {
  machine.spend(Math.floor(Math.min(left.length, right.length) / DATA_FUEL.compare.amount));
  if (left === right) return 0;
  const shorter = Math.min(left.length, right.length);
  let index = 0;
  while (index < shorter && left.charCodeAt(index) === right.charCodeAt(index)) pace(machine, ++index);
  if (index === shorter) return left.length - right.length;
  return rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
}

/** Puts surrogates, which stand for code points beyond U+FFFF, behind all other units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** A unary operator at `machine.at` (language.md 4.6). */
export function unary(machine: Machine, op: UnaryOp, value: Value): Value {
  switch (op) {
    case '-': {
      const number = toNumeric(machine, value);
      if (number === undefined) machine.fail('Type', `'-' cannot be applied to ${describe(value)}: it needs a number`);
      return -number;
    }
    case '~': {
      const integer = toInteger(machine, value);
      if (integer === undefined) machine.fail('Type', `'~' cannot be applied to ${describe(value)}: it needs a whole number`);
      return integer === (integer | 0) ? ~integer : Number(~BigInt(integer));
    }
    case 'not':
      return value instanceof Fuzzy ? fuzzy(machine, 1 - value.degree) : !truthy(value);
    case 'no':
      return !truthy(value);
    case 'some':
      return truthy(value);
    case 'typeof':
      return typeName(value);
  }
}

/** `and` / `or` of two evaluated sides of which one is fuzzy: minimum or maximum of the degrees (P1). */
export function fuzzyLogic(machine: Machine, op: 'and' | 'or', left: Value, right: Value): Fuzzy {
  const a = degree(left);
  const b = degree(right);
  return fuzzy(machine, op === 'and' ? Math.min(a, b) : Math.max(a, b));
}

function degree(value: Value): number {
  if (value instanceof Fuzzy) return value.degree;
  return truthy(value) ? 1 : 0;
}

function fuzzy(machine: Machine, degree: number): Fuzzy {
  machine.charge(VALUE_BYTES.other.amount);
  return new Fuzzy(degree);
}
