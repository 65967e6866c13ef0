import { describe, expect, it } from 'vitest';
import { canonicalize, JsonError, parseStrict } from '../../../src/aeiou/index.ts';
import { thrownBy } from '../kit.ts';

/** SplitMix64 with a fixed seed: all bit patterns are equally likely, and every run gets the same ones. */
function* bitPatterns(seed: bigint): Generator<bigint> {
  for (let state = seed; ; ) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let mixed = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    yield mixed ^ (mixed >> 31n);
  }
}

const view = new DataView(new ArrayBuffer(8));
function doubleOf(bits: bigint): number {
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** Finite doubles of all magnitudes: random bit patterns without the infinities and NaN. */
function finiteDoubles(count: number, seed: bigint): number[] {
  const found: number[] = [];
  for (const bits of bitPatterns(seed)) {
    const value = doubleOf(bits);
    if (Number.isFinite(value)) found.push(value);
    if (found.length === count) return found;
  }
  return found;
}

describe('numbers of canonical JSON (RFC 8785, ECMAScript shortest form)', () => {
  it('one million random doubles are written as JSON.stringify writes them, and read back as themselves', {
    timeout: 300_000,
  }, () => {
    const all = finiteDoubles(1_000_000, 8785n);
    expect(all).toHaveLength(1_000_000);
    expect(new Set(all.map((value) => Math.floor(Math.log10(Math.abs(value)) / 50))).size).toBeGreaterThan(10);
    for (let from = 0; from < all.length; from += 10_000) {
      const chunk = all.slice(from, from + 10_000);
      const text = canonicalize(chunk, 'doubles');
      if (text !== JSON.stringify(chunk)) expect(text).toBe(JSON.stringify(chunk));
      const back = JSON.parse(text);
      const wrong = chunk.filter((value, i) => !Object.is(back[i], value));
      expect(wrong).toEqual([]);
    }
  });

  it('no shorter text reads back as the same double', () => {
    for (const value of finiteDoubles(20_000, 1n)) {
      const digits = significantDigits(canonicalize(value, 'doubles'));
      if (digits > 1) expect(Number(value.toPrecision(digits - 1))).not.toBe(value);
      expect(digits).toBeLessThanOrEqual(17);
    }
  });

  it('whole numbers around every power of two are exact, and exponents change where ECMAScript says', () => {
    for (let power = 0; power < 1024; power++)
      for (const value of [2 ** power, 2 ** power - 1, 2 ** power + 1, 2 ** -power])
        expect(canonicalize(value, 'doubles')).toBe(JSON.stringify(value));
    expect([1e20, 1e21, 1e-6, 1e-7, -0, 5e-324, 1.7976931348623157e308].map((value) => canonicalize(value, 'doubles'))).toEqual([
      '100000000000000000000',
      '1e+21',
      '0.000001',
      '1e-7',
      '0',
      '5e-324',
      '1.7976931348623157e+308',
    ]);
  });

  it('A3-13-J5: the token profile refuses every one that is no safe integer, writing and reading', () => {
    const values = [...finiteDoubles(5_000, 2n), ...finiteDoubles(5_000, 3n).map((value) => value % 1e6)];
    for (const value of values) {
      if (Number.isSafeInteger(value)) continue;
      expect(thrownBy(() => canonicalize(value))).toMatchObject({ code: 'ERR_JSON', detail: 'number' });
      const reading = thrownBy(() => parseStrict(JSON.stringify(value), { numbers: 'integers', padding: false }));
      expect(reading).toBeInstanceOf(JsonError);
    }
  });

  it('A3-13-J3: of integers the profile takes exactly those up to 2^53-1', () => {
    for (const bits of Array.from(
      { length: 10_000 },
      (
        (source) => () =>
          source.next().value ?? 0n
      )(bitPatterns(4n)),
    )) {
      const integer = BigInt.asIntN(54 + Number(bits & 7n), bits >> 3n);
      const safe = integer >= -9007199254740991n && integer <= 9007199254740991n;
      const read = () => parseStrict(String(integer), { numbers: 'integers', padding: false });
      if (safe) expect(canonicalize(read())).toBe(String(integer));
      else expect(thrownBy(read)).toMatchObject({ detail: 'number' });
    }
  });
});

describe('texts of canonical JSON', () => {
  it('A3-13-J2: every code point comes back, is escaped only where RFC 8785 escapes, and lone surrogates are refused', () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      const text = String.fromCodePoint(point);
      if (point >= 0xd800 && point < 0xe000) {
        if (point % 64 === 0) expect(thrownBy(() => canonicalize(text))).toMatchObject({ detail: 'surrogate' });
        continue;
      }
      const written = canonicalize(text);
      const plain = point >= 0x20 && text !== '"' && text !== '\\';
      if (plain ? written !== `"${text}"` : JSON.parse(written) !== text) expect({ point, written }).toBe(null);
    }
  });

  it('A3-13-J1: nothing is normalised: forms that look the same, and marks in any order, stay as they are', () => {
    for (const text of [
      'é',
      'e\u0301',
      '\u1e9b\u0323',
      '\ufb01',
      '\u2126',
      'q\u0307\u0323',
      'q\u0323\u0307',
      '\uac00',
      '\u1100\u1161',
      '\u0344',
    ]) {
      expect(canonicalize(text)).toBe(`"${text}"`);
      expect(parseStrict(canonicalize({ [text]: text }), { numbers: 'integers', padding: false })).toEqual({ [text]: text });
    }
    const names = { 'e\u0301': 1, é: 2, e: 3 };
    expect(canonicalize(names)).toBe('{"e":3,"e\u0301":1,"é":2}');
  });

  it('A3-13-J4: names beyond the basic plane sort by their first unit, before U+E000 to U+FFFF', () => {
    const points = [0x0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x10ffff];
    const object = Object.fromEntries(points.toReversed().map((point) => [String.fromCodePoint(point), point]));
    expect([...canonicalize(object).matchAll(/:(\d+)/g)].map(([, point]) => Number(point))).toEqual([
      0x0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0x10000, 0x1f600, 0x10ffff, 0xe000, 0xfeff, 0xfffd, 0xffff,
    ]);
  });
});

function significantDigits(text: string): number {
  const [mantissa = ''] = text.split('e');
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '');
  return text.includes('.') ? digits.length : digits.replace(/0+$/, '').length || 1;
}
