import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, decodeOrdered, encode } from '../../src/wire/codec.ts';
import { MAX_DEPTH } from '../../src/wire/decoder.ts';
import { parseFrame } from '../../src/wire/frames.ts';
import { isIndex, isPlaced, keyOf, moves, nameOf } from '../../src/wire/mapkeys.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { jsonBeginning, jsonText, plainMaps } from '../../src/wire/tagged.ts';
import { ErrorValue, TooLargeError, ValueError } from '../../src/wire/values.ts';

/** Keys of every kind: whole numbers that JavaScript moves, those that it does not, tags, and what needs a second `$`. */
const key = fc.oneof(
  fc.nat(30).map(String),
  fc.constantFrom('0', '4294967294', '4294967295', '9007199254740991', '01', '-1', '1.5', '1e3', '', ' 1', '__proto__'),
  fc.constantFrom('$', '$$', '$1', '$2', '$$1', '$num', '$error', 'a', 'b'),
  fc.string({ maxLength: 4 }),
);
const keys = fc.uniqueArray(key, { maxLength: 8 });

/** A value of the model: maps are JavaScript's `Map`, which keeps every order. */
type Model = null | boolean | number | string | readonly Model[] | Map<string, Model>;

const { model } = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<Model>(null, true, 1, '$10', 'text'),
    fc.array(tie('model'), { maxLength: 3 }),
    fc.tuple(keys, fc.array(tie('model'), { minLength: 8, maxLength: 8 })).map(([names, items]): Model => {
      return new Map(names.map((name, index) => [name, items[index] ?? null]));
    }),
  ),
}));

/** JSON with every key in its place, written by hand. */
function textOf(value: Model): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return `{${[...value].map(([name, item]) => `${JSON.stringify(name)}:${textOf(item)}`).join(',')}}`;
}

/** The model of JavaScript's own maps and lists; it throws for a plain object. */
function modelOf(value: unknown): Model {
  if (Array.isArray(value)) return value.map(modelOf);
  if (value instanceof Map) return new Map([...value].map(([name, item]) => [name, modelOf(item)]));
  if (typeof value === 'object' && value !== null) throw new TypeError('a plain object');
  return value as Model;
}

const sent = (json: TaggedJson): TaggedJson => JSON.parse(JSON.stringify(json));

describe('names of keys', () => {
  it('an index is what an object of JavaScript puts first, and nothing else', () => {
    fc.assert(
      fc.property(key, (each) => {
        expect(isIndex(each)).toBe(
          Object.keys(
            Object.fromEntries([
              ['x', 1],
              [each, 2],
            ]),
          )[0] === each && each !== 'x',
        );
      }),
    );
  });

  it('keys move exactly when an object gives them in another order', () => {
    fc.assert(
      fc.property(keys, (each) => {
        const order = Object.keys(Object.fromEntries(each.map((name) => [name, null])));
        expect(moves(each)).toBe(order.some((name, index) => name !== each[index]));
      }),
    );
  });

  it('no two keys have the same name, no name is a tag, and every name leads back to its key', () => {
    fc.assert(
      fc.property(keys, fc.boolean(), (each, placed) => {
        const names = each.map((name) => nameOf(name, placed));
        expect(new Set(names).size).toBe(each.length);
        expect(names.map(keyOf)).toEqual(each);
      }),
    );
  });

  it.each(['$num', '$', '$01', '$-1', '$1.5', '$4294967295', '$ 1', '$1e3'])('%s is no key', (name) => {
    expect(keyOf(name)).toBeNull();
    expect(isPlaced(name)).toBe(false);
    expect(() => decode({ [name]: 1, a: 2 })).toThrow(ValueError);
  });
});

describe('P9: the order of keys between host and worker', () => {
  it('survives JSON, both ways, with keys of every kind at every depth', () => {
    fc.assert(
      fc.property(model, (value) => {
        const once = decodeOrdered(sent(encode(value)));
        expect(textOf(modelOf(once))).toBe(textOf(value));
        // Through a tool that gives back a copy of what it got.
        expect(JSON.stringify(encode(structuredClone(once)))).toBe(JSON.stringify(encode(value)));
      }),
    );
  });

  it('is written only where JavaScript would change it', () => {
    const json = (...names: string[]): string => JSON.stringify(encode(new Map(names.map((name) => [name, 1]))));
    expect(json('10', '2')).toBe('{"$10":1,"$2":1}');
    expect(json('a', '1')).toBe('{"a":1,"$1":1}');
    expect(json('2', '10', 'a')).toBe('{"2":1,"10":1,"a":1}');
    expect(json('$1', '10', '2')).toBe('{"$$1":1,"$10":1,"$2":1}');
    expect(json('4294967295', '1')).toBe('{"4294967295":1,"$1":1}');
  });

  it('a key that is left out moves nothing', () => {
    const map = new Map<string, unknown>([
      ['10', undefined],
      ['2', 1],
    ]);
    expect(JSON.stringify(encode(map))).toBe('{"2":1}');
  });

  it('is the same in the fields of an error', () => {
    const json = { $error: { message: 'm', $10: 1, $2: { $5: 3, $3: 4 } } };
    const error = decodeOrdered(json);
    expect(error instanceof ErrorValue && error.fields).toEqual({ 2: { 3: 4, 5: 3 }, 10: 1, message: 'm' });
    expect(JSON.stringify(encode(error))).toBe(JSON.stringify(json));
    expect(encode(decode(json))).toEqual({ $error: { 2: { 3: 4, 5: 3 }, 10: 1, message: 'm' } });
  });

  it('a map is a plain object all the same: each key by its own name, JavaScript with its own order', () => {
    const map = decode({ $10: 'x', $2: { $$num: 1 } });
    expect(map).toEqual({ 10: 'x', 2: { $num: 1 } });
    expect(Object.getPrototypeOf(map)).toBeNull();
    expect(Object.keys(map ?? {})).toEqual(['2', '10']);
  });

  it('takes a name with $ wherever it stands, and refuses one key twice', () => {
    expect(decode({ $5: 1 })).toEqual({ 5: 1 });
    expect(decode({ a: 1, $5: { $num: '-0' } })).toEqual({ a: 1, 5: -0 });
    expect(() => decode({ 10: 1, $10: 2 })).toThrow(/twice/);
    expect(() => decode([{ $error: { 1: 1, $1: 1 } }])).toThrow(/twice/);
    expect(() => decode({ $10: 1, $num: 'NaN' })).toThrow(ValueError);
    expect(() => decode({ $10: '\ud800', $2: 1 })).toThrow(ValueError);
  });

  it('counts the bytes that it takes, and no level of depth', () => {
    fc.assert(
      fc.property(model, (value) => {
        const bytes = Buffer.byteLength(JSON.stringify(encode(value)));
        expect(encode(value, bytes)).toEqual(encode(value));
        expect(() => encode(value, bytes - 1)).toThrow(TooLargeError);
      }),
    );
    const nested = (depth: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level++)
        value = new Map<string, unknown>([
          ['7', 0],
          ['3', value],
        ]);
      return value;
    };
    const deepest = encode(nested(MAX_DEPTH));
    // The frame's own depth is bounded too.
    expect(parseFrame(JSON.stringify(deepest))).toEqual(deepest);
    expect(JSON.stringify(encode(decodeOrdered(deepest)))).toBe(JSON.stringify(deepest));
    expect(() => encode(nested(MAX_DEPTH + 1))).toThrow(/deeper than 500 levels/);
    expect(() => decode({ $7: 0, $3: deepest })).toThrow(/deeper than 500 levels/);
  });
});

describe('values as results show them', () => {
  it('have every key under its own name, and their text has the order of the script', () => {
    fc.assert(
      fc.property(model, (value) => {
        const tagged = (each: Model): Model => {
          if (Array.isArray(each)) return each.map(tagged);
          if (!(each instanceof Map)) return each;
          return new Map([...each].map(([name, item]) => [name.startsWith('$') ? `$${name}` : name, tagged(item)]));
        };
        const json = sent(encode(value));
        expect(jsonText(json)).toBe(textOf(tagged(value)));
        expect(JSON.stringify(plainMaps(json))).toBe(JSON.stringify(JSON.parse(textOf(tagged(value)))));
      }),
    );
  });

  it('have the same beginning where only that is written', () => {
    fc.assert(
      fc.property(model, fc.nat(60), (value, units) => {
        const json = encode(value);
        const [whole, beginning] = [jsonText(json), jsonBeginning(json, units)];
        expect([beginning.slice(0, units), beginning.length > units]).toEqual([whole.slice(0, units), whole.length > units]);
      }),
    );
    for (const units of [4, 5, 6, 7]) expect(jsonBeginning('abc😀de', units).slice(0, units)).toBe('"abc😀de"'.slice(0, units));
  });

  it('are not read further than their beginning is long', () => {
    const text = 'x'.repeat(2 ** 20);
    expect(jsonBeginning({ a: [text, text] }, 400).length).toBeLessThan(420);
    const read: string[] = [];
    const items = new Proxy(
      Array.from({ length: 10_000 }, (_, index) => index),
      {
        get: (list, key) => {
          read.push(String(key));
          return Reflect.get(list, key);
        },
      },
    );
    expect(jsonBeginning(items, 400).length).toBeLessThan(410);
    expect(read.length).toBeLessThan(1000);
  });

  it('are the same object where no key has a $ of its place', () => {
    const json = { a: [{ $num: 'NaN' }, { $$1: 1 }] };
    expect(plainMaps(json)).toBe(json);
    expect(jsonText([{ $$x: 1, $10: { $bytes: '' }, $2: 3 }])).toBe('[{"$$x":1,"10":{"$bytes":""},"2":3}]');
  });

  it('of a key that is there twice the last one counts, and __proto__ is a key like any other', () => {
    expect(plainMaps(JSON.parse('{"10":1,"$10":2}'))).toEqual({ 10: 2 });
    expect(jsonText(JSON.parse('{"10":1,"$10":2}'))).toBe('{"10":2}');
    const json = JSON.parse('{"$10":1,"__proto__":{"polluted":1},"$2":1}');
    expect(plainMaps(json)).toEqual(JSON.parse('{"10":1,"__proto__":{"polluted":1},"2":1}'));
    expect(jsonText(json)).toBe('{"10":1,"__proto__":{"polluted":1},"2":1}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
