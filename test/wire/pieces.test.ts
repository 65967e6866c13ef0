import { describe, expect, it } from 'vitest';
import { decode, decodeInPieces, decodeOrdered, decodeOrderedInPieces, encode, encodeInPieces } from '../../src/wire/codec.ts';
import { MAX_FRAME_VALUES, MAX_MAP_KEYS } from '../../src/wire/frames.ts';
import { inPieces, isHeavy, jsonBytes, jsonTexts, type Pieces, plainInPieces } from '../../src/wire/pieces.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { plainMaps } from '../../src/wire/tagged.ts';
import { ErrorValue, Fuzzy, TimeDate } from '../../src/wire/values.ts';

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const nested = (depth: number, value: TaggedJson): TaggedJson => (depth === 0 ? value : [nested(depth - 1, value)]);
const numbers = many(50_000, (index) => index);
const map = Object.fromEntries(many(16_000, (index) => [`k${index}`, index]));
const placed = Object.fromEntries(many(16_000, (index) => [`$${(index * 7919) % 20_011}`, index]));

/** Values that are too large for one piece, each of another shape. */
const HEAVY: Readonly<Record<string, TaggedJson>> = {
  'a wide list': numbers,
  'a wide map': map,
  'a map whose whole numbers keep their places': { a: placed },
  'small maps': many(20_000, (index) => ({ [`a${index % 7}`]: index, $$b: { $num: '-0' } })),
  'small lists around a large one': [...many(9_000, () => [1]), numbers, [], [numbers]],
  'lists deep within each other': [nested(400, numbers), ...many(100, () => nested(480, null))],
  'large bytes': { a: { $bytes: 'AAAA'.repeat(2 ** 18) } },
  texts: many(2_000, (index) => 'ä€"\\\n'.repeat(index % 200)),
  'a long text': ['x'.repeat(2 ** 20)],
  'a long text of long characters': `a${'\u{1f600}'.repeat(300_000)}`,
  'a map with long and absent texts': { a: 'ä'.repeat(600_000), b: 1, c: ['"'.repeat(600_000), 2], d: {}, e: [] },
  'an error with a large field': { a: { $error: { message: 'm', rows: numbers } } },
  tags: [...many(9_000, () => ({ $time: '2026-01-01T00:00:00Z' })), { $fuzzy: 0.5 }, { $bytes: 'AAAA' }],
  'a key like no other': [numbers, JSON.parse('{"__proto__":1,"$$x":2}')],
};

/** The result of work in pieces, and the number of the pieces. */
function done<T>(work: Pieces<T>): { result: T; pieces: number } {
  for (let pieces = 1; ; pieces++) {
    const piece = work.next();
    if (piece.done === true) return { result: piece.value, pieces };
  }
}

/** A value with the order of its keys, which comparisons of objects do not see. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value instanceof ErrorValue) return ['error', value.entries().map(([key, item]) => [key, ordered(item)])];
  if (value instanceof Map) return ['ordered', ...[...value].map(([key, item]) => [key, ordered(item)])];
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  if (value instanceof TimeDate || value instanceof Fuzzy) return String(value);
  return Object.getPrototypeOf(value) === null ? Object.entries(value).map(([key, item]) => [key, ordered(item)]) : value;
}

describe.each(Object.entries(HEAVY))('issue 18: %s', (_name, json) => {
  it('is heavy, and what is made of it in pieces is what is made of it at once', () => {
    expect(isHeavy(json)).toBe(true);
    const text = JSON.stringify(json);
    expect([...jsonTexts(json)].join('')).toBe(text);
    expect(Buffer.concat(done(jsonBytes(json)).result).toString()).toBe(text);
    const value = done(decodeInPieces(json));
    expect(ordered(value.result)).toEqual(ordered(decode(json)));
    const inOrder = done(decodeOrderedInPieces(json));
    expect(ordered(inOrder.result)).toEqual(ordered(decodeOrdered(json)));
    const encoded = done(encodeInPieces(inOrder.result, 1e9, MAX_FRAME_VALUES));
    expect(JSON.stringify(encoded.result)).toBe(JSON.stringify(json));
    expect(JSON.stringify(done(plainInPieces(json)).result)).toBe(JSON.stringify(plainMaps(json)));
  });
});

it('issue 18: a large value takes many pieces, and the caller rests after each', async () => {
  let rests = 0;
  const work = decodeInPieces(many(100, () => numbers));
  expect(await inPieces(work, async () => void rests++)).toHaveLength(100);
  expect(rests).toBeGreaterThan(500);
});

it.each<[string, TaggedJson]>([
  ['an unknown tag in a wide map', { ...map, $what: 1 }],
  ['one key twice, with and without its place', { ...placed, 5: 1 }],
  ['nesting beyond the bound', nested(501, numbers)],
  ['a lone surrogate', [numbers, '\ud800']],
])('%s is refused in pieces as it is at once', (_name, json) => {
  const refusal = (make: () => unknown): string => {
    try {
      return `made ${typeof make()}`;
    } catch (error) {
      return String(error);
    }
  };
  expect(refusal(() => done(decodeInPieces(json)))).toBe(refusal(() => decode(json)));
});

it.each<[string, unknown]>([
  ['a class instance', [numbers, { a: [new URL('a:b')] }]],
  ['a cycle', ((list: unknown[]) => list.push(...numbers, { list }) && list)([])],
  ['too many values', many(400_000, () => [1])],
  ['too many keys in one map', Object.fromEntries(many(MAX_MAP_KEYS + 1, (index) => [`k${index}`, index]))],
])('%s is refused in pieces as it is at once', (_name, value) => {
  expect(() => done(encodeInPieces(value, 1e9, MAX_FRAME_VALUES))).toThrow(
    ((): string => {
      try {
        encode(value, 1e9, MAX_FRAME_VALUES);
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
      return 'nothing';
    })(),
  );
});

it('the values of a map that is refused for its keys are not read beyond them', () => {
  let read = 0;
  const counted = { enumerable: true, get: () => ++read };
  const wide = Object.defineProperties({}, Object.fromEntries(many(2 * MAX_MAP_KEYS, (index) => [`k${index}`, counted])));
  expect(() => encode(wide, 1e9, MAX_FRAME_VALUES)).toThrow(`a map has more than ${MAX_MAP_KEYS} keys`);
  expect(read).toBe(MAX_MAP_KEYS + 1);
});

it('a map may have so many keys, and typed arrays and maps of JavaScript are read in pieces too', () => {
  const full = Object.fromEntries(many(MAX_MAP_KEYS, (index) => [`k${index}`, 0]));
  expect(done(encodeInPieces(full, 1e9, MAX_FRAME_VALUES)).pieces).toBeGreaterThan(5);
  expect(done(encodeInPieces(new Float32Array(20_000), 1e9, MAX_FRAME_VALUES)).pieces).toBeGreaterThan(2);
  expect(done(encodeInPieces(new Map(Object.entries(map)), 1e9, MAX_FRAME_VALUES)).result).toEqual(
    Object.assign(Object.create(null), map),
  );
});
