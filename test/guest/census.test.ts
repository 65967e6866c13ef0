import { describe, expect, it } from 'vitest';
import { Constants } from '../../src/guest/constants.ts';
import { measuredList, measuredMap } from '../../src/guest/measure.ts';
import { countLive, type Roots } from '../../src/guest/memory.ts';
import { Bytes, Dict, Fault, Fuzzy, Handle, List, share, Time, type Value } from '../../src/guest/values.ts';
import { WORK } from '../../src/guest/work.ts';

/** What a census of some globals counts, and what it pays for. */
function census(globals: readonly Value[]): { bytes: number; visited: number } {
  let visited = 0;
  let number = 0;
  const run: Roots = {
    globals: new Map(globals.map((value, index) => [`g${index}`, value])),
    constants: new Constants(),
    frame: null,
    output: { heldBytes: 0 },
    statementBytes: 0,
    pay: (work, units = 1) => {
      expect(work).toBe(WORK.census);
      visited += units;
    },
    nextCensus: () => ++number,
  };
  return { bytes: countLive(run), visited };
}

/** The same by the table of bytes in `docs/limits.md`: a list or map once, a text once for every place that holds it. */
function walked(globals: readonly Value[]): { bytes: number; visited: number } {
  const seen = new Set<Value>();
  let bytes = 0;
  let visited = 0;
  const visit = (value: Value): void => {
    if (typeof value === 'string') bytes += 40 + 2 * value.length;
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof List || value instanceof Dict) {
      if (seen.has(value)) return;
      seen.add(value);
      const parts: readonly Value[] = value instanceof List ? value.items : [...value.entries.values()];
      visited += parts.length;
      bytes += value instanceof List ? 176 + 32 * parts.length : 368;
      if (value instanceof Dict) for (const key of value.entries.keys()) bytes += 192 + 2 * key.length;
      for (const part of parts) visit(part);
      return;
    }
    bytes += 64;
    if (value instanceof Bytes) bytes += value.base64.length;
    if (value instanceof Time) bytes += 2 * value.text.length;
    if (value instanceof Handle) bytes += 2 * (value.kind.length + value.id.length);
    if (value instanceof Fault) visit(value.fields);
  };
  for (const value of globals) visit(value);
  return { bytes, visited };
}

/** Values of all types, some of which hold earlier ones in several places. */
function grown(seed: number): Value[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
  const values: Value[] = [
    null,
    true,
    0.5,
    'text',
    '',
    new Fuzzy(0.5),
    new Bytes('YWJj'),
    new Time('2026-01-01T00:00:00Z', 1, 0),
    new Handle('file', 'f1'),
  ];
  const pick = (): Value => share(values[below(values.length)] ?? null);
  for (let count = 0; count < 60; count++) {
    const parts = Array.from({ length: below(5) }, pick);
    const map = measuredMap(parts.map((part, index) => [`key ${index}`, part]));
    values.push([measuredList(parts), map, new Fault(map)][below(3)] ?? null);
    const last = values.at(-1);
    // A deep part that was overwritten leaves a depth that is too high.
    if (last instanceof List && below(4) === 0) last.depth += below(3);
  }
  return values;
}

describe('a census', () => {
  it('counts and pays for what a walk through all values finds (issue 21)', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const values = grown(seed);
      expect(census(values), `seed ${seed}`).toEqual(walked(values));
    }
  });

  it('takes the bytes of a list or map without containers from the value itself, without a walk (issue 21)', () => {
    const list = measuredList(['a', 1, 'b']);
    const map = measuredMap([['k', 'v']]);
    const expected = walked([list, map]);
    const refused = (): never => {
      throw new Error('the census walked through a flat value');
    };
    Object.defineProperty(list.items, 0, { get: refused });
    Object.defineProperty(list.items, Symbol.iterator, { value: refused });
    for (const name of [Symbol.iterator, 'forEach', 'values', 'entries'])
      Object.defineProperty(map.entries, name, { value: refused });
    expect(census([list, map])).toEqual(expected);
  });
});
