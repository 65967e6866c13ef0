import type { BuiltinName } from '../../grammar/vocabulary/builtins.ts';
import { textBytes } from '../wire/costs.ts';
import { toNumeric } from './convert.ts';
import { describe } from './describe.ts';
import type { Machine } from './machine.ts';
import { numberText } from './text.ts';
import { Dict, Fault, Fuzzy, List, Time, typeName, type Value } from './values.ts';

/** A built-in function: one argument, at `machine.at` (language.md 7). */
export type Builtin = (machine: Machine, argument: Value) => Value;

const BUILTINS: Readonly<Record<BuiltinName, Builtin>> = {
  len: length,
  char: char,
  ord: ord,
  typeof: (_machine, value) => typeName(value),
  is_string: (_machine, value) => typeof value === 'string',
  is_number: (_machine, value) => typeof value === 'number',
  is_bool: (_machine, value) => typeof value === 'boolean',
  is_list: (_machine, value) => value instanceof List,
  is_map: (_machine, value) => value instanceof Dict,
  is_nil: (_machine, value) => value === null,
  is_timedate: (_machine, value) => value instanceof Time,
  is_fuzzy: (_machine, value) => value instanceof Fuzzy,
  is_error: (_machine, value) => isError(value),
  is_int: (_machine, value) => typeof value === 'number' && Math.trunc(value) === value,
  is_float: (_machine, value) => typeof value === 'number' && Math.trunc(value) !== value,
  // Scripts cannot hold events, functions or tools as values: an event is a plain map.
  is_event: () => false,
  is_function: () => false,
  is_tool: () => false,
  ln: math('ln', Math.log, (x) => !(x <= 0), 'a number above 0'),
  log: math('log', Math.log10, (x) => !(x <= 0), 'a number above 0'),
  sin: math('sin', Math.sin, isNotInfinite, 'a finite number of radians'),
  cos: math('cos', Math.cos, isNotInfinite, 'a finite number of radians'),
  tan: math('tan', Math.tan, isNotInfinite, 'a finite number of radians'),
  asin: math('asin', Math.asin, (x) => !(Math.abs(x) > 1), 'a number from -1 to 1'),
  acos: math('acos', Math.acos, (x) => !(Math.abs(x) > 1), 'a number from -1 to 1'),
  atan: math('atan', Math.atan, () => true, 'a number'),
};

const byName: ReadonlyMap<string, Builtin> = new Map(Object.entries(BUILTINS));

/** The built-in of a name in any casing; built-ins win over procedures. */
export function builtin(name: string): Builtin | undefined {
  return byName.get(name.toLowerCase());
}

/** Code 4: every built-in takes exactly one argument. */
export function wrongCount(machine: Machine, name: string, given: number): never {
  return machine.fail('ArgMismatch', `'${name}' takes 1 argument, got ${given}`);
}

function length(machine: Machine, value: Value): Value {
  if (typeof value === 'string') return machine.codePoints.count(value);
  if (value instanceof List) return value.items.length;
  if (value instanceof Dict) return value.entries.size;
  return value === null ? 0 : 1;
}

/** Any number is taken modulo 2³², and what is then no code point becomes U+FFFD. */
function char(machine: Machine, value: Value): Value {
  const number = toNumeric(machine, value);
  if (number === undefined) machine.fail('Type', `char() needs a number, got ${describe(value)}`);
  machine.charge(textBytes(2));
  const code = Math.abs(number) < 2 ** 63 ? Math.trunc(number) % 2 ** 32 : -1;
  const point = code < 0 ? code + 2 ** 32 : code;
  const valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return valid ? String.fromCodePoint(point) : '\ufffd';
}

function ord(machine: Machine, value: Value): Value {
  const point = typeof value === 'string' ? value.codePointAt(0) : undefined;
  return point ?? machine.fail('Type', `ord() needs a string that is not empty, got ${describe(value)}`);
}

function isError(value: Value): boolean {
  if (value instanceof Fault) return true;
  return value instanceof Dict && value.entries.has('code') && value.entries.has('message');
}

function isNotInfinite(x: number): boolean {
  return Math.abs(x) !== Number.POSITIVE_INFINITY;
}

/** P15 and ruling 6: what ToNumeric takes, else code 7; outside the domain code 41. NaN stays NaN. */
function math(name: string, compute: (x: number) => number, within: (x: number) => boolean, domain: string): Builtin {
  return (machine, value) => {
    const x = toNumeric(machine, value);
    if (x === undefined) return machine.fail('Type', `${name}() needs a number, got ${describe(value)}`);
    if (!within(x)) machine.fail('InvalidValue', `${name}(${numberText(x)}) has no value: it needs ${domain}`);
    return compute(x);
  };
}
