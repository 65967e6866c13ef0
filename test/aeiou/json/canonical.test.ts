import { createHash } from 'node:crypto';
import oracle from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize, JsonError, parseStrict } from '../../../src/aeiou/index.ts';
import { plainJson } from '../../../src/aeiou/json/canonical.ts';
import { thrownBy } from '../kit.ts';

function detailOf(value: unknown, numbers: 'integers' | 'doubles' = 'integers'): string {
  const error = thrownBy(() => canonicalize(value, numbers));
  return error instanceof JsonError ? error.detail : String(error);
}

const parsed = (text: string): unknown => parseStrict(text, { numbers: 'doubles', padding: true });

describe('canonical JSON (RFC 8785)', () => {
  it('refuses numbers that JSON does not have, whatever numbers are allowed', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, [Number.NEGATIVE_INFINITY]])
      expect([detailOf(value), detailOf(value, 'doubles')]).toEqual(['number', 'number']);
  });

  it('A3-13-J4: names are sorted by UTF-16 units, at every depth', () => {
    const sample = {
      '\u20ac': 'Euro',
      '\r': 'CR',
      '\ufb33': 'Dalet',
      '1': 'One',
      '\u{1f600}': 'Smile',
      '\u0080': 'Control',
      '\u00f6': 'o',
    };
    expect(Object.keys(JSON.parse(canonicalize(sample)))).toHaveLength(7);
    expect([...canonicalize(sample).matchAll(/:"([A-Za-z]+)"/g)].map((match) => match[1])).toEqual([
      'CR',
      'One',
      'Control',
      'o',
      'Euro',
      'Smile',
      'Dalet',
    ]);
    expect(canonicalize({ '\ue000': 1, '\u{1f600}': 2 })).toBe('{"\u{1f600}":2,"\ue000":1}');
    expect(
      canonicalize(parsed('{"1":{"f":{"f":"hi","F":5},"\\n":56},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}')),
    ).toBe('{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}');
    expect(canonicalize({ sin: 4, pêche: 3, péché: 2, peach: 1 })).toBe('{"peach":1,"péché":2,"pêche":3,"sin":4}');
  });

  it('A3-13-J2: control characters, quote and backslash are escaped, everything else is literal', () => {
    const short = new Map([
      [8, '\\b'],
      [9, '\\t'],
      [10, '\\n'],
      [12, '\\f'],
      [13, '\\r'],
    ]);
    for (let unit = 0; unit < 0x20; unit++)
      expect(canonicalize(String.fromCharCode(unit))).toBe(`"${short.get(unit) ?? `\\u${unit.toString(16).padStart(4, '0')}`}"`);
    expect(canonicalize('"\\')).toBe('"\\"\\\\"');
    expect(canonicalize('\u007f\u0080\u2028\u2029/<>&')).toBe('"\u007f\u0080\u2028\u2029/<>&"');
    expect(canonicalize(parsed('"\\u0061\\/\\u00E9"'))).toBe('"a/é"');
  });

  it('A3-13-J1: nothing is normalised: a composed and a decomposed letter stay apart', () => {
    const digest = (value: unknown): string => createHash('sha256').update(canonicalize(value)).digest('hex');
    expect(canonicalize('A\u030a')).toBe('"A\u030a"');
    expect(digest({ a: 'A\u030a' })).not.toBe(digest({ a: '\u00c5' }));
  });

  it('A3-13-J5: what is signed has no fractions and no number that JSON cannot hold', () => {
    const refused = [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53), 1e21, 5e-324, 333333333.3333333];
    expect(refused.map((value) => detailOf({ value }))).toEqual(refused.map(() => 'number'));
    for (const value of [0, -1, 1, 1725012345, 9007199254740991, -9007199254740991])
      expect(canonicalize(value)).toBe(String(value));
    expect(canonicalize([-0])).toBe('[0]');
  });

  it('A3-6.3-2: no value but plain JSON is signed', () => {
    const refused = [
      undefined,
      1n,
      Symbol('x'),
      () => 1,
      new Date(0),
      new Map(),
      new Set(),
      /x/,
      new Uint8Array(1),
      new (class Point {})(),
      Object.create({ inherited: 1 }),
      { [Symbol('x')]: 1 },
      new Array<number>(1),
    ];
    expect(refused.map((value) => detailOf({ value }))).toEqual(refused.map(() => 'type'));
    expect(['\ud800', 'x\udc00'].flatMap((text) => [detailOf(text), detailOf({ [text]: 1 })])).toEqual(
      Array(4).fill('surrogate'),
    );
    expect(detailOf({ toJSON: () => 1 })).toBe('type');
    expect(canonicalize({ toJSON: 'x' })).toBe('{"toJSON":"x"}');
  });

  it('keeps __proto__, constructor and toString as names', () => {
    const text = '{"__proto__":{"a":1},"constructor":1,"toString":2}';
    expect(canonicalize(parsed(text))).toBe(text);
  });

  it('refuses depth 33 and circles', () => {
    let value: unknown = [];
    for (let depth = 1; depth < 32; depth++) value = [value];
    expect(canonicalize(value)).toBe('['.repeat(32) + ']'.repeat(32));
    expect(detailOf([value])).toBe('depth');
    const circle: unknown[] = [];
    circle.push(circle);
    expect(detailOf(circle)).toBe('depth');
  });

  it('writes what it checked, also when a getter changes its answer', () => {
    let asked = 0;
    const value = {
      get a() {
        return asked++ === 0 ? 1 : 1.5;
      },
    };
    expect(canonicalize(value)).toBe('{"a":1}');
  });

  it('freezes the copies that it gives away, and never the value', () => {
    const value = { a: [{ b: 1 }], c: null };
    const copy = plainJson(value, 'integers');
    const { a } = Object(copy) as { readonly a: readonly unknown[] };
    expect([copy, a, a[0]].map(Object.isFrozen)).toEqual([true, true, true]);
    canonicalize(value);
    expect([value, value.a, value.a[0]].map(Object.isFrozen)).toEqual([false, false, false]);
  });

  it('agrees with the package canonicalize on doubles and on every plain value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), (value) => {
        expect(canonicalize(value, 'doubles')).toBe(oracle(value));
        expect(canonicalize(parsed(canonicalize(value, 'doubles')), 'doubles')).toBe(canonicalize(value, 'doubles'));
      }),
    );
    const numbers = [295147905179352830000, 1e23, 9.999999999999997e22, 1e21, 999999999999999900000, 1e-6, 9.999999999999997e-7];
    expect(numbers.map((value) => canonicalize(value, 'doubles'))).toEqual([
      '295147905179352830000',
      '1e+23',
      '9.999999999999997e+22',
      '1e+21',
      '999999999999999900000',
      '0.000001',
      '9.999999999999997e-7',
    ]);
  });
});
