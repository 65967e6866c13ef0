import { DATA_FUEL, MAX_NESTING, STEP_FUEL } from '../wire/costs.ts';
import { toNumeric } from './convert.ts';
import type { Machine } from './machine.ts';
import { entry } from './measure.ts';
import { tooDeep } from './text.ts';
import { Bytes, Dict, Fault, Fuzzy, Handle, List, Time, type Value } from './values.ts';

const UNITS_PER_FUEL = DATA_FUEL.compare.amount;
const COMPARED = STEP_FUEL.compared.amount;

/** `==` (language.md 4.5): numbers and numeric text are lenient at the top, nothing is within lists and maps. */
export function equal(machine: Machine, left: Value, right: Value): boolean {
  if (left === null || right === null) return left === right;
  if (typeof left === 'string' && typeof right === 'string') return sameText(machine, left, right);
  if (typeof left === 'number' || typeof right === 'number') {
    const a = toNumeric(machine, left);
    return a !== undefined && a === toNumeric(machine, right);
  }
  return same(machine, left, right, 1);
}

/** Equal without any leniency: as `==` compares what is within lists and maps. */
export function identical(machine: Machine, left: Value, right: Value): boolean {
  return same(machine, left, right, 1);
}

function sameText(machine: Machine, left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  if (left.length > UNITS_PER_FUEL) machine.spend(Math.floor(left.length / UNITS_PER_FUEL));
  return left === right;
}

/** Deep, without leniency. A fuzzy counts as its degree and an error as the map of its fields, as they look to a host. */
function same(machine: Machine, left: Value, right: Value, depth: number): boolean {
  const a = plain(left);
  const b = plain(right);
  if (typeof a === 'string' && typeof b === 'string') return sameText(machine, a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (a instanceof List) return b instanceof List && sameItems(machine, a, b, depth);
  if (a instanceof Dict) return b instanceof Dict && sameEntries(machine, a, b, depth);
  if (a instanceof Time) return b instanceof Time && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Bytes) return b instanceof Bytes && sameText(machine, a.base64, b.base64);
  return a instanceof Handle && b instanceof Handle && a.kind === b.kind && a.id === b.id;
}

function plain(value: Value): Value {
  if (value instanceof Fuzzy) return value.degree;
  return value instanceof Fault ? value.fields : value;
}

function sameItems(machine: Machine, left: List, right: List, depth: number): boolean {
  if (depth > MAX_NESTING) tooDeep(machine, 'compared');
  if (left.items.length !== right.items.length) return false;
  machine.spend(COMPARED * (2 + left.items.length));
  return left.items.every((item, index) => same(machine, item, right.items[index] ?? null, depth + 1));
}

function sameEntries(machine: Machine, left: Dict, right: Dict, depth: number): boolean {
  if (depth > MAX_NESTING) tooDeep(machine, 'compared');
  if (left.entries.size !== right.entries.size) return false;
  machine.spend(COMPARED * (2 + left.entries.size));
  for (const [key, item] of left.entries) {
    const other = entry(machine, right, key);
    if (other === undefined || !same(machine, item, other, depth + 1)) return false;
  }
  return true;
}
