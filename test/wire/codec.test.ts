import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode } from '../../src/wire/codec.ts';
import { MAX_DEPTH } from '../../src/wire/decoder.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { ErrorValue, Fuzzy, Handle, TimeDate, TooLargeError, type Value, ValueError } from '../../src/wire/values.ts';

const bare = (entries: Record<string, unknown>): object => Object.assign(Object.create(null), entries);
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
};

describe('tagged JSON', () => {
  const pairs: readonly (readonly [string, Value, TaggedJson])[] = [
    ['nil', null, null],
    ['a boolean', true, true],
    ['a number', 1.5, 1.5],
    ['NaN', Number.NaN, { $num: 'NaN' }],
    ['infinity', Number.POSITIVE_INFINITY, { $num: 'Infinity' }],
    ['minus infinity', Number.NEGATIVE_INFINITY, { $num: '-Infinity' }],
    ['minus zero', -0, { $num: '-0' }],
    ['a text', 'ä\u0000"\ud83d\ude00', 'ä\u0000"\ud83d\ude00'],
    ['bytes', new Uint8Array([0, 255, 16]), { $bytes: 'AP8Q' }],
    ['no bytes', new Uint8Array(), { $bytes: '' }],
    ['a timedate', new TimeDate('2025-10-15T08:00:00.25Z'), { $time: '2025-10-15T08:00:00.25Z' }],
    ['a fuzzy', new Fuzzy(0.25), { $fuzzy: 0.25 }],
    ['a handle without id', new Handle('file'), { $handle: 'file' }],
    ['a handle with id', new Handle('file', 'file-7'), { $handle: { kind: 'file', id: 'file-7' } }],
    ['an error', new ErrorValue({ code: 9, message: 'no key' }), { $error: { code: 9, message: 'no key' } }],
    ['a list', [1, [null]], [1, [null]]],
    ['a map whose key starts with $', { $num: 'NaN', $$: 1 }, { $$num: 'NaN', $$$: 1 }],
  ];

  it.each(pairs)('%s: to JSON and back', (_name, value, json) => {
    expect(encode(value)).toEqual(json);
    const back = decode(json);
    expect(back).toEqual(
      value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
        ? bare({ ...value })
        : value,
    );
    expect(Object.is(back, value) || typeof value === 'object').toBe(true);
  });

  it('gives maps without a prototype, so that a key is never a member of Object', () => {
    const map = decode(JSON.parse('{"__proto__":{"polluted":1},"constructor":2}'));
    expect(Object.getPrototypeOf(map)).toBeNull();
    expect(Object.keys(map ?? {})).toEqual(['__proto__', 'constructor']);
    expect(JSON.stringify(encode(map))).toBe('{"__proto__":{"polluted":1},"constructor":2}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('whatever JSON a tool makes of plain values comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (json) => {
        const back = decode(encode(json));
        expect(JSON.parse(JSON.stringify(encode(back)))).toEqual(JSON.parse(JSON.stringify(encode(json))));
        // -0 has a tag of its own, JSON.stringify writes it as 0.
        expect(JSON.stringify(back)).toBe(JSON.stringify(json));
      }),
    );
  });

  it.each<[string, TaggedJson]>([
    ['an unknown tag', { $date: '2025' }],
    ['a tag beside another key', { $num: 'NaN', x: 1 }],
    ['two tags', { $num: 'NaN', $fuzzy: 1 }],
    ['a number that is none', { $num: 'nan' }],
    ['base64 with a blank', { $bytes: 'AP 8' }],
    ['base64 without its padding', { $bytes: 'AP8' }],
    ['base64 with bits left over', { $bytes: 'AP9=' }],
    ['a day that does not exist', { $time: '2025-02-29T00:00:00Z' }],
    ['a fuzzy in words', { $fuzzy: '1' }],
    ['an error that is no map', { $error: 'x' }],
    ['a handle of nothing', { $handle: '' }],
    ['a tag deep inside', [{ a: { $what: 1 } }]],
  ])('refuses %s', (_name, json) => {
    expect(() => decode(json)).toThrow(ValueError);
  });

  it('refuses nesting beyond the limit in both directions, and takes the limit itself', () => {
    const deepest = nested(MAX_DEPTH);
    expect(encode(decode(encode(deepest)))).toEqual(deepest);
    expect(() => encode(nested(MAX_DEPTH + 1))).toThrow(/deeper than 500 levels/);
    expect(() => decode(nested(MAX_DEPTH + 1) as TaggedJson)).toThrow(/deeper than 500 levels/);
    expect(() => encode(nested(100_000))).toThrow(ValueError);
  });
});

describe('what a tool may return besides', () => {
  it('undefined is nil, and leaves a key of a map out', () => {
    expect(encode(undefined)).toBeNull();
    expect(encode([undefined, 1])).toEqual([null, 1]);
    expect(JSON.stringify(encode({ a: undefined, b: 1 }))).toBe('{"b":1}');
  });

  it('a Date is a timedate, a safe bigint a number, a Map a map, a typed array a list', () => {
    expect(encode(new Date(Date.UTC(2025, 0, 2, 3, 4, 5, 600)))).toEqual({ $time: '2025-01-02T03:04:05.6Z' });
    expect(encode(new Date(0))).toEqual({ $time: '1970-01-01T00:00:00Z' });
    expect(encode(9007199254740991n)).toBe(9007199254740991);
    expect(
      JSON.stringify(
        encode(
          new Map([
            ['b', 1],
            ['a', 2],
          ]),
        ),
      ),
    ).toBe('{"b":1,"a":2}');
    expect(encode(Float32Array.of(0.5, 2))).toEqual([0.5, 2]);
  });

  const cycle: unknown[] = [];
  cycle.push({ again: cycle });
  it.each<[string, unknown, RegExp]>([
    ['a function', { a: [() => 1] }, /^at \.a\[0\]: a function has no counterpart/],
    ['a lone surrogate', ['a', '\ud800'], /^at \[1\]: a text holds a lone surrogate/],
    ['a lone surrogate in a key', { '\udc00': 1 }, /a text holds a lone surrogate/],
    ['a symbol', Symbol('s'), /^a symbol has no counterpart/],
    ['a cycle', cycle, /^at \[0\]\.again: the value contains itself/],
    ['a class instance', { when: new (class Point {})() }, /^at \.when: Point is a class instance/],
    ['a Promise within', [Promise.resolve(1)], /^at \[0\]: Promise is a class instance/],
    ['a Set', new Set(), /^Set is a class instance/],
    ['an invalid Date', new Date(Number.NaN), /invalid Date/],
    ['a bigint beyond 2^53', 2n ** 53n, /9007199254740992 does not fit/],
    ['a symbol as key', { [Symbol('k')]: 1 }, /Symbol\(k\) is a symbol/],
    ['a Map with number keys', new Map([[1, 2]]), /the key 1 is a number/],
  ])('refuses %s and says where', (_name, value, problem) => {
    expect(() => encode(value)).toThrow(problem);
    expect(() => encode(value)).toThrow(ValueError);
  });

  it('reads bytes of any size', () => {
    const bytes = decode({ $bytes: 'AAAA'.repeat(2 ** 24) });
    expect(bytes instanceof Uint8Array && bytes.length).toBe(3 * 2 ** 24);
  });

  it('the same object twice is no cycle', () => {
    const shared = { a: 1 };
    expect(encode([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });
});

describe('the size check', () => {
  it('counts exactly the bytes of the JSON, so the limit itself fits and one byte less does not', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4, withBigInt: false, withDate: false }), (value) => {
        let json: TaggedJson;
        try {
          json = encode(value);
        } catch (error) {
          expect(error).toBeInstanceOf(ValueError);
          return;
        }
        const bytes = Buffer.byteLength(JSON.stringify(json));
        expect(() => encode(value, bytes)).not.toThrow();
        expect(() => encode(value, bytes - 1)).toThrow(/larger than/);
      }),
    );
  });

  it('refuses what is huge before it is made', () => {
    const wide = Array.from({ length: 20 }).reduce<unknown>((inner) => [inner, inner, inner, inner], 'x');
    expect(() => encode(wide, 1000)).toThrow(/larger than 1000 bytes/);
    expect(() => encode(new Array(1e9), 1000)).toThrow(/larger than 1000 bytes/);
    expect(() => encode('x'.repeat(2 ** 28), 1000)).toThrow(/larger than 1000 bytes/);
    expect(() => encode(new Uint8Array(2 ** 28), 1000)).toThrow(/larger than 1000 bytes/);
  });
});

describe('values', () => {
  it('a timedate knows its calendar', () => {
    for (const text of ['2024-02-29T23:59:59.123456789+05:30', '0001-01-01T00:00:00Z', '2000-02-29T00:00:00-23:59'])
      expect(new TimeDate(text).text).toBe(text);
    for (const text of [
      '1900-02-29T00:00:00Z',
      '2025-13-01T00:00:00Z',
      '2025-00-01T00:00:00Z',
      '2025-01-01T24:00:00Z',
      '2025-01-01',
      '',
    ])
      expect(() => new TimeDate(text)).toThrow(ValueError);
  });

  it('a timedate gives the Date of its instant, to the millisecond', () => {
    expect(new TimeDate('2025-01-01T02:00:00.123456789+02:00').toDate().toISOString()).toBe('2025-01-01T00:00:00.123Z');
    expect(new TimeDate('2025-01-01t00:00:00z').toDate().getTime()).toBe(Date.UTC(2025, 0, 1));
  });

  it('a fuzzy is put between 0 and 1', () => {
    expect([new Fuzzy(-1).degree, new Fuzzy(2).degree, new Fuzzy(0.3).degree]).toEqual([0, 1, 0.3]);
    expect(() => new Fuzzy(Number.NaN)).toThrow(ValueError);
  });

  it('an error value keeps its fields for good', () => {
    const error = new ErrorValue({ code: 1, message: 'm' });
    expect(error.message).toBe('m');
    expect(Object.isFrozen(error.fields)).toBe(true);
    expect(new ErrorValue({}).message).toBe('');
  });
});

describe('text that is none', () => {
  it.each([
    ['value', ['\ud800']],
    ['key', { '\udc00x': 1 }],
  ])('a lone surrogate in a %s is refused when read, too', (_where, json) => {
    expect(() => decode(json)).toThrow('a text holds a lone surrogate');
  });
});

it('issue 44: a long text is counted as its JSON has bytes, whatever it holds', () => {
  const controls = Array.from({ length: 0x30 }, (_, unit) => String.fromCharCode(unit)).join('');
  for (const piece of [controls, '"\\\u007f\u2028', 'é€😀', 'a\n']) {
    const text = piece.repeat(Math.ceil(5000 / piece.length));
    const bytes = Buffer.byteLength(JSON.stringify(text));
    expect(encode(text, bytes)).toBe(text);
    expect(() => encode(text, bytes - 1)).toThrow(TooLargeError);
  }
});
