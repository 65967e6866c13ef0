/** The built-in functions. */
import type { Machine } from './machine.ts';
import type { Place } from './meter.ts';
import { Dict, isTrue, List, Opaque, typeName, type Value } from './values.ts';

type Builtin = (machine: Machine, value: Value, at: Place) => Value;

const is =
  (...types: readonly string[]): Builtin =>
  (_, value) =>
    types.includes(typeName(value));

const never: Builtin = () => false;

const math =
  (work: (x: number) => number, inDomain: (x: number) => boolean = () => true): Builtin =>
  (machine, value, at) => {
    const x = numeric(machine, value, at);
    if (!inDomain(x)) throw machine.failure(41, 'the number is outside of the domain', at);
    return work(x);
  };

function numeric(machine: Machine, value: Value, at: Place): number {
  const x = machine.number(value, at);
  if (x === undefined) throw machine.failure(7, `a number is needed, not ${typeName(value)}`, at);
  return x;
}

const positive = (x: number): boolean => !(x <= 0);
const unit = (x: number): boolean => !(Math.abs(x) > 1);
const finite = (x: number): boolean => Math.abs(x) !== Number.POSITIVE_INFINITY;

/** The built-in functions by their names in lower case. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['len', lengthOf],
  ['char', (machine, value, at) => character(numeric(machine, value, at))],
  ['ord', ordinal],
  ['typeof', (_, value) => typeName(value)],
  ['is_string', is('string')],
  ['is_number', is('number')],
  ['is_bool', is('boolean')],
  ['is_list', is('list')],
  ['is_map', is('map')],
  ['is_nil', is('nil')],
  ['is_timedate', is('timedate')],
  ['is_fuzzy', is('fuzzy')],
  ['is_error', (_, value) => isError(value)],
  ['is_int', (_, value) => typeof value === 'number' && (Number.isInteger(value) || !finite(value))],
  ['is_float', (_, value) => typeof value === 'number' && finite(value) && !Number.isInteger(value)],
  ['is_event', never],
  ['is_function', never],
  ['is_tool', never],
  ['ln', math(Math.log, positive)],
  ['log', math(Math.log10, positive)],
  ['sin', math(Math.sin, finite)],
  ['cos', math(Math.cos, finite)],
  ['tan', math(Math.tan, finite)],
  ['asin', math(Math.asin, unit)],
  ['acos', math(Math.acos, unit)],
  ['atan', math(Math.atan)],
]);

function lengthOf(machine: Machine, value: Value, at: Place): number {
  if (value === null) return 0;
  if (typeof value === 'string') return machine.characters(value, at).length;
  if (value instanceof List) return value.items.length;
  return value instanceof Dict ? value.entries.size : 1;
}

function character(x: number): string {
  const point = Math.abs(x) < 2 ** 63 ? Number(BigInt.asUintN(32, BigInt(Math.trunc(x)))) : -1;
  const exists = point >= 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  return exists ? String.fromCodePoint(point) : '\ufffd';
}

function ordinal(machine: Machine, value: Value, at: Place): number {
  const point = typeof value === 'string' ? value.codePointAt(0) : undefined;
  if (point === undefined) throw machine.failure(7, 'ord needs a string with a character', at);
  return point;
}

function isError(value: Value): boolean {
  if (value instanceof Opaque) return value.of.kind === 'error';
  return value instanceof Dict && isTrue(value) && value.entries.has('code') && value.entries.has('message');
}
