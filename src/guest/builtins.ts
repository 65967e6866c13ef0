import type { BuiltinName } from '../../grammar/vocabulary/builtins.ts';
import { textBytes } from '../wire/costs.ts';
import { toNumeric } from './convert.ts';
import { describe } from './describe.ts';
import type { Meter } from './meter.ts';
import { numberText } from './text.ts';
import { Dict, Fault, Fuzzy, List, Time, typeName, type Value } from './values.ts';

/** A built-in function of one argument, at `meter.at`. */
export type Builtin = (meter: Meter, argument: Value) => Value;

const BUILTINS: Readonly<Record<BuiltinName, Builtin>> = {
  len: length,
  char: char,
  ord: ord,
  typeof: (_meter, value) => typeName(value),
  is_string: (_meter, value) => typeof value === 'string',
  is_number: (_meter, value) => typeof value === 'number',
  is_bool: (_meter, value) => typeof value === 'boolean',
  is_list: (_meter, value) => value instanceof List,
  is_map: (_meter, value) => value instanceof Dict,
  is_nil: (_meter, value) => value === null,
  is_timedate: (_meter, value) => value instanceof Time,
  is_fuzzy: (_meter, value) => value instanceof Fuzzy,
  is_error: (_meter, value) => isError(value),
  is_int: (_meter, value) => typeof value === 'number' && Math.trunc(value) === value,
  is_float: (_meter, value) => typeof value === 'number' && Math.trunc(value) !== value,
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

/** The built-in function of a name in any case. Built-ins win over procedures. */
export function builtin(name: string): Builtin | undefined {
  return byName.get(name.toLowerCase());
}

/** Code 4: every built-in takes exactly one argument. */
export function wrongCount(meter: Meter, name: string, given: number): never {
  return meter.fail('ArgMismatch', `'${name}' takes 1 argument, got ${given}`);
}

function length(meter: Meter, value: Value): Value {
  if (typeof value === 'string') return meter.codePoints.count(value);
  if (value instanceof List) return value.items.length;
  if (value instanceof Dict) return value.entries.size;
  return value === null ? 0 : 1;
}

/** Takes any number modulo 2³². What is not a code point then becomes U+FFFD. */
function char(meter: Meter, value: Value): Value {
  const number = toNumeric(meter, value);
  if (number === undefined) meter.fail('Type', `char() needs a number, got ${describe(value)}`);
  meter.allocate(textBytes(2));
  const code = Math.abs(number) < 2 ** 63 ? Math.trunc(number) % 2 ** 32 : -1;
  const point = code < 0 ? code + 2 ** 32 : code;
  const valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return valid ? String.fromCodePoint(point) : '\ufffd';
}

function ord(meter: Meter, value: Value): Value {
  const point = typeof value === 'string' ? value.codePointAt(0) : undefined;
  return point ?? meter.fail('Type', `ord() needs a string that is not empty, got ${describe(value)}`);
}

function isError(value: Value): boolean {
  if (value instanceof Fault) return true;
  return value instanceof Dict && value.entries.has('code') && value.entries.has('message');
}

function isNotInfinite(x: number): boolean {
  return Math.abs(x) !== Number.POSITIVE_INFINITY;
}

/** Defines a function of one number. Fails with code 7 if the value is not numeric and 41 outside the domain. NaN stays NaN. */
function math(name: string, compute: (x: number) => number, within: (x: number) => boolean, domain: string): Builtin {
  return (meter, value) => {
    const x = toNumeric(meter, value);
    if (x === undefined) return meter.fail('Type', `${name}() needs a number, got ${describe(value)}`);
    if (!within(x)) meter.fail('InvalidValue', `${name}(${numberText(x)}) has no value: it needs ${domain}`);
    return compute(x);
  };
}
