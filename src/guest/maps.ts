import type { MapExpr } from '../../grammar/index.ts';
import { textBytes, VALUE_BYTES } from '../wire/costs.ts';
import { putEntry } from './assign.ts';
import type { Context } from './context.ts';
import type { Eval } from './frame.ts';
import type { Machine } from './machine.ts';
import { checkValue, depthOf, sizeOf } from './measure.ts';
import { entryBytes } from './memory.ts';
import { SHORT_KEY } from './meter.ts';
import { toText } from './text.ts';
import { Dict, type Value } from './values.ts';

interface Entry {
  readonly key: Eval;
  readonly at: number;
  readonly value: Eval;
}

export function compileMap(context: Context, expr: MapExpr): Eval {
  const { machine } = context;
  context.spend(1 + expr.entries.length);
  const entries = expr.entries.map(([key, value]) => ({ key: context.expr(key), at: key.s, value: context.stored(value) }));
  const keys = constantKeys(machine, expr);
  return keys === null ? compileEntries(machine, entries, expr.s) : compileRecord(machine, keys, entries, expr.s);
}

/** A repeated key keeps the place of its first and the value of its last occurrence, as in a JavaScript map. */
function compileEntries(machine: Machine, entries: readonly Entry[], start: number): Eval {
  return (frame) => {
    machine.at = start;
    machine.allocate(VALUE_BYTES.map.amount);
    const map = new Dict(new Map());
    for (const { key, at, value } of entries) {
      const keyValue = key(frame);
      machine.at = at;
      const name = toText(machine, keyValue);
      const item = value(frame);
      machine.at = at;
      putEntry(machine, map, name, item);
    }
    machine.at = start;
    checkValue(machine, map);
    return map;
  };
}

/** The keys of a map literal that are short texts, all different; null for any other literal. */
function constantKeys(machine: Machine, { entries }: MapExpr): readonly string[] | null {
  if (!machine.admitsEntries(entries.length)) return null;
  const longest = machine.admitsText(SHORT_KEY) ? SHORT_KEY : 0;
  const keys = entries.map(([key]) => (key.k === 'str' && key.v.length <= longest ? key.v : null));
  const texts = keys.filter((key) => key !== null);
  return new Set(texts).size === keys.length ? texts : null;
}

/** A map literal whose keys are known: its entries are put into the map without looking for them first. */
function compileRecord(machine: Machine, keys: readonly string[], entries: readonly Entry[], start: number): Eval {
  const parts = entries.map(({ at, value }, index) => ({
    at,
    value,
    key: keys[index] ?? '',
    bytes: entryBytes(keys[index] ?? ''),
  }));
  return (frame) => {
    machine.at = start;
    machine.allocate(VALUE_BYTES.map.amount);
    const map = new Map<string, Value>();
    let all = VALUE_BYTES.map.amount;
    let below = 0;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      if (part === undefined) break;
      const { bytes } = part;
      const item = part.value(frame);
      machine.at = part.at;
      const used = machine.usedBytes + bytes;
      machine.statementBytes += bytes;
      if (used > machine.threshold) machine.look(bytes);
      else machine.usedBytes = used;
      all += bytes;
      if (typeof item === 'string') all += textBytes(item.length);
      else if (typeof item === 'object' && item !== null) {
        all += sizeOf(item);
        below = Math.max(below, depthOf(item));
      }
      map.set(part.key, item);
    }
    machine.at = start;
    const made = new Dict(map);
    made.bytes = all;
    made.depth = below + 1;
    checkValue(machine, made);
    return made;
  };
}
