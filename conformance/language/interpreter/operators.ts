/** Operators on values. Each states its rows in the order of the table in `docs/language.md`. */
import type { BinaryOp, UnaryOp } from '../../../grammar/index.ts';
import type { Machine } from './machine.ts';
import { shared } from './machine.ts';
import { type Place, PRICE, SHORT } from './meter.ts';
import { Dict, degreeOf, fuzzy, isTrue, List, Opaque, typeName, type Value } from './values.ts';

/** An operator between two values other than `and` and `or`. */
export function binary(machine: Machine, op: BinaryOp | '**', left: Value, right: Value, at: Place): Value {
  switch (op) {
    case '+':
      return plus(machine, left, right, at);
    case '*':
      return times(machine, left, right, at);
    case '==':
      return equals(machine, left, right, at);
    case '!=':
      return !equals(machine, left, right, at);
    case '<':
    case '>':
    case '<=':
    case '>=':
      return ordered(op, order(machine, op, left, right, at));
    case '&':
    case '|':
    case '^':
    case '%':
      return whole(machine, op, left, right, at);
    default:
      return arithmetic(machine, op, left, right, at);
  }
}

function unfit(machine: Machine, op: string, left: Value, right: Value, at: Place): Error {
  return machine.failure(7, `'${op}' cannot be applied to ${typeName(left)} and ${typeName(right)}`, at);
}

function plus(machine: Machine, left: Value, right: Value, at: Place): Value {
  const a = machine.number(left, at);
  const b = a === undefined ? undefined : machine.number(right, at);
  if (a !== undefined && b !== undefined) return a + b;
  if (typeof left === 'string' || typeof right === 'string') return joined(machine, left, right, at);
  if (!(left instanceof List && right instanceof List)) throw unfit(machine, '+', left, right, at);
  const length = left.items.length + right.items.length;
  machine.meter.spendFor(length, 'copy', at);
  machine.meter.bound('listLength', length, at);
  const made = new List([...left.items, ...right.items].map(shared));
  machine.origin.parts.concatenated(left, right, made);
  return made;
}

function joined(machine: Machine, left: Value, right: Value, at: Place): string {
  const [a, b] = [machine.text(left, at), machine.text(right, at)];
  if (a === '' || b === '') return a + b;
  const length = a.length + b.length;
  machine.meter.bound('textLength', length, at);
  const longer = Math.max(a.length, b.length);
  const shorter = length - longer;
  if (length >= 1024 && eighths(length) > eighths(longer)) machine.meter.spendFor(length, 'concat', at);
  else if (shorter > SHORT) machine.meter.spendFor(shorter, 'concat', at);
  return machine.made(a + b);
}

/** How many eighths of powers of two a length has passed. */
function eighths(length: number): number {
  const power = Math.floor(Math.log2(Math.max(1, length)));
  return 8 * power + Math.floor((8 * length) / 2 ** power);
}

function times(machine: Machine, left: Value, right: Value, at: Place): Value {
  if (typeof left === 'string' && isCount(right)) return repeated(machine, left, right, at);
  if (typeof right === 'string' && isCount(left)) return repeated(machine, right, left, at);
  return arithmetic(machine, '*', left, right, at);
}

function isCount(value: Value): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function repeated(machine: Machine, text: string, count: number, at: Place): string {
  const length = text.length * count;
  machine.meter.bound('textLength', length, at);
  machine.meter.spendFor(length, 'concat', at);
  return text === '' ? '' : text.repeat(count);
}

function arithmetic(machine: Machine, op: '-' | '*' | '/' | '**' | string, left: Value, right: Value, at: Place): number {
  const [a, b] = [machine.number(left, at), machine.number(right, at)];
  if (a === undefined || b === undefined) throw unfit(machine, op, left, right, at);
  if (op === '-') return a - b;
  if (op === '*') return a * b;
  if (op === '**') return power(a, b);
  if (b === 0) throw machine.failure(14, 'division by zero', at);
  return a / b;
}

/** The power of IEEE 754, where 1 to any power is 1. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}

function whole(machine: Machine, op: '&' | '|' | '^' | '%', left: Value, right: Value, at: Place): number {
  const [a, b] = [machine.whole(left, at), machine.whole(right, at)];
  if (a === undefined || b === undefined) throw unfit(machine, op, left, right, at);
  if (op === '&') return Number(a & b);
  if (op === '|') return Number(a | b);
  if (op === '^') return Number(a ^ b);
  if (b === 0n) throw machine.failure(14, 'modulo by zero', at);
  return Number(BigInt.asIntN(64, a % b));
}

type Ordering = '<' | '>' | '<=' | '>=';

function ordered(op: Ordering, sign: number): boolean {
  if (op === '<') return sign < 0;
  if (op === '>') return sign > 0;
  return op === '<=' ? sign <= 0 : sign >= 0;
}

/** Negative, 0 or positive; NaN when the two have no order. */
function order(machine: Machine, op: string, left: Value, right: Value, at: Place): number {
  const times = [left, right].map((value) =>
    value instanceof Opaque && value.of.kind === 'timedate' ? value.of.text : undefined,
  );
  const [early, late] = times;
  if (early !== undefined && late !== undefined) return compareTimes(early, late);
  if (early !== undefined || late !== undefined) throw unfit(machine, op, left, right, at);
  const [a, b] = [machine.number(left, at), machine.number(right, at)];
  if (a !== undefined && b !== undefined) return a === b ? 0 : a < b ? -1 : a > b ? 1 : Number.NaN;
  if (typeof left !== 'string' || typeof right !== 'string' || a !== undefined || b !== undefined)
    throw unfit(machine, op, left, right, at);
  machine.meter.spendFor(Math.min(left.length, right.length), 'compare', at);
  return compareTexts(left, right);
}

function compareTexts(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [index, character] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (character !== other) return (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}

/** Compares two times of RFC 3339, to the nanosecond. */
function compareTimes(a: string, b: string): number {
  const seconds = (text: string): number => Date.parse(text.toUpperCase().replace(/\.\d+/, ''));
  const fraction = (text: string): string => (/\.(\d+)/.exec(text)?.[1] ?? '').padEnd(9, '0');
  const difference = seconds(a) - seconds(b);
  return difference !== 0 ? difference : Number(fraction(a)) - Number(fraction(b));
}

/** Equality with the leniency between numbers and texts that spell them. */
export function equals(machine: Machine, left: Value, right: Value, at: Place): boolean {
  if (left === null || right === null) return left === right;
  if (typeof left === 'string' && typeof right === 'string') return sameText(machine, left, right, at);
  if (typeof left === 'number' || typeof right === 'number') {
    const [a, b] = [machine.number(left, at), machine.number(right, at)];
    return a !== undefined && a === b;
  }
  return same(machine, left, right, at, 1);
}

function sameText(machine: Machine, left: string, right: string, at: Place): boolean {
  if (left.length === right.length && left.length > SHORT) machine.meter.spendFor(left.length, 'compare', at);
  return left === right;
}

/** Strict equality, item by item. Lists and maps at too deep a level are refused, those that have no counterpart are not looked at. */
function same(machine: Machine, one: Value, other: Value, at: Place, level: number): boolean {
  const [left, right] = [fieldsOf(one), fieldsOf(other)];
  if (left instanceof List && right instanceof List) {
    machine.checkLevels(level, at);
    if (left.items.length !== right.items.length) return false;
    machine.meter.spend(PRICE.compared * (2 + left.items.length), at);
    return left.items.every((item, index) => same(machine, item, right.items[index] ?? null, at, level + 1));
  }
  if (left instanceof Dict && right instanceof Dict) {
    machine.checkLevels(level, at);
    if (left.entries.size !== right.entries.size) return false;
    machine.meter.spend(PRICE.compared * (2 + left.entries.size), at);
    return [...left.entries].every(([key, item]) => {
      const found = right.entries.get(key);
      return found !== undefined && same(machine, item, found, at, level + 1);
    });
  }
  if (typeof left === 'string' && typeof right === 'string') return sameText(machine, left, right, at);
  if (left instanceof Opaque || right instanceof Opaque) return sameOpaque(left, right);
  return left === right;
}

function sameOpaque(left: Value, right: Value): boolean {
  const degrees = [left, right].map((value) => degreeOf(value) ?? (typeof value === 'number' ? value : undefined));
  if (degrees[0] !== undefined) return degrees[0] === degrees[1];
  if (!(left instanceof Opaque && right instanceof Opaque)) return false;
  const [a, b] = [left.of, right.of];
  if (a.kind === 'bytes' && b.kind === 'bytes') return a.base64 === b.base64;
  if (a.kind === 'timedate' && b.kind === 'timedate') return compareTimes(a.text, b.text) === 0;
  return a.kind === 'handle' && b.kind === 'handle' && a.name === b.name && a.id === b.id;
}

/** An error is compared as the map of its fields. */
function fieldsOf(value: Value): Value {
  return value instanceof Opaque && value.of.kind === 'error' ? value.of.fields : value;
}

/** A prefix operator. */
export function unary(machine: Machine, op: UnaryOp, value: Value, at: Place): Value {
  switch (op) {
    case 'not': {
      const degree = degreeOf(value);
      return degree === undefined ? !isTrue(value) : fuzzy(1 - degree);
    }
    case 'no':
      return !isTrue(value);
    case 'some':
      return isTrue(value);
    case 'typeof':
      return typeName(value);
    case '-': {
      const number = machine.number(value, at);
      if (number === undefined) throw machine.failure(7, `'-' cannot be applied to ${typeName(value)}`, at);
      return -number;
    }
    case '~': {
      const number = machine.whole(value, at);
      if (number === undefined) throw machine.failure(7, `'~' cannot be applied to ${typeName(value)}`, at);
      return Number(~number);
    }
  }
}

/** `and` and `or`: the right side is evaluated only when the left side does not decide. */
export function logic(op: 'and' | 'or', left: Value, right: () => Value): Value {
  if (degreeOf(left) === undefined && isTrue(left) === (op === 'or')) return isTrue(left);
  const other = right();
  if (degreeOf(left) === undefined && degreeOf(other) === undefined) return isTrue(other);
  const [a, b] = [degree(left), degree(other)];
  return fuzzy(op === 'and' ? Math.min(a, b) : Math.max(a, b));
}

function degree(value: Value): number {
  return degreeOf(value) ?? (isTrue(value) ? 1 : 0);
}
