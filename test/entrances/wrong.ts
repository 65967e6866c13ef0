import type { TaggedJson } from '../../src/wire/protocol.ts';

/** The value is refused. */
export const REFUSED = Symbol('refused');

/** What an entrance gives back for a value, as tagged JSON. */
export type Kept = TaggedJson | typeof REFUSED;

/**
 * How an entrance reads a value. `script`: any JavaScript value that a program can hold, by the rules of the tools' results. `tagged`: tagged
 * JSON already, kept as it is. `json`: any JSON, kept as it is. `canonical`: what canonical JSON can write.
 */
export type Reader = 'script' | 'tagged' | 'json' | 'canonical';

/** A value of a kind that is often lost on the way, and what must become of it at an entrance of each kind. */
export interface Wrong {
  readonly name: string;
  make(): unknown;
  readonly becomes: Readonly<Record<Reader, Kept>>;
}

class Point {
  readonly x = 1;
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

const cyclic = (): unknown => {
  const map: Record<string, unknown> = {};
  map['self'] = map;
  return map;
};

const throwing = (): unknown => ({
  get part() {
    throw new TypeError('no such part');
  },
});

/** A value that no entrance takes. */
const refused = (name: string, make: () => unknown): Wrong => ({
  name,
  make,
  becomes: { script: REFUSED, tagged: REFUSED, json: REFUSED, canonical: REFUSED },
});

/** A value of JavaScript that JSON does not have, and a program does. */
const converted = (name: string, make: () => unknown, script: Kept, canonical: Kept = REFUSED): Wrong => ({
  name,
  make,
  becomes: { script, tagged: REFUSED, json: REFUSED, canonical },
});

/** JSON, which every entrance keeps, if it does not say otherwise. */
const kept = (name: string, make: () => TaggedJson, other: Partial<Record<Reader, Kept>> = {}): Wrong => {
  const value = own(JSON.stringify(make()));
  return { name, make, becomes: { script: value, tagged: value, json: value, canonical: value, ...other } };
};

const own = (text: string): TaggedJson => JSON.parse(text);

export const WRONG: readonly Wrong[] = [
  converted('undefined', () => undefined, null),
  refused('a function', () => () => 1),
  refused('a class', () => Point),
  refused('a symbol', () => Symbol('s')),
  converted('a small bigint', () => 5n, 5),
  refused('a large bigint', () => 2n ** 70n),
  converted('NaN', () => Number.NaN, { $num: 'NaN' }),
  converted('Infinity', () => Number.POSITIVE_INFINITY, { $num: 'Infinity' }),
  converted('-Infinity', () => Number.NEGATIVE_INFINITY, { $num: '-Infinity' }),
  // Canonical JSON writes 0 for it, by RFC 8785.
  converted('-0', () => -0, { $num: '-0' }, 0),
  kept('the smallest number', () => Number.MIN_VALUE),
  kept('the largest number', () => Number.MAX_VALUE),
  converted('a list with a gap', () => new Array(1), [null]),
  converted('a list with a field', () => Object.assign([1], { extra: 2 }), [1]),
  refused('a list of functions', () => [() => 1]),
  converted('a Map', () => new Map([['b', 1]]), { b: 1 }),
  refused('a Map with keys that are no text', () => new Map([[1, 1]])),
  refused('a Set', () => new Set([1])),
  refused('a WeakMap', () => new WeakMap()),
  refused('a promise within a value', () => [Promise.resolve(1)]),
  converted('a date', () => new Date(0), { $time: '1970-01-01T00:00:00Z' }),
  refused('a date that is none', () => new Date(Number.NaN)),
  refused('an error', () => new Error('x')),
  refused('a regular expression', () => /x/),
  refused('an address', () => new URL('https://example.test')),
  refused('a number in an object', () => Object(1)),
  refused('a text in an object', () => Object('x')),
  refused('a class instance', () => new Point()),
  kept('a proxy', () => new Proxy({ a: 1 }, {})),
  refused('a proxy that was revoked', () => revoked({})),
  refused('a list that was revoked', () => revoked([])),
  refused(
    'a proxy whose keys throw',
    () =>
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new RangeError('no keys');
          },
        },
      ),
  ),
  refused(
    'a proxy whose prototype throws',
    () =>
      new Proxy(
        {},
        {
          getPrototypeOf: () => {
            throw new RangeError('no prototype');
          },
        },
      ),
  ),
  converted('bytes', () => new Uint8Array([1, 2]), { $bytes: 'AQI=' }),
  converted('a typed array', () => new Float64Array([0.5, 1]), [0.5, 1]),
  refused('a buffer of bytes', () => new ArrayBuffer(2)),
  refused('a view of bytes', () => new DataView(new ArrayBuffer(2))),
  refused('a value within itself', cyclic),
  refused('600 levels', () => nested(600)),
  kept('50 levels', () => nested(50) as TaggedJson, { canonical: REFUSED }),
  kept('25 levels', () => nested(25) as TaggedJson),
  refused('a getter that throws', throwing),
  refused('a key that is a symbol', () => ({ [Symbol('s')]: 1 })),
  kept('an object without a prototype', () => Object.assign(Object.create(null), { a: 1 })),
  kept('a frozen object', () => Object.freeze({ a: Object.freeze([1]) })),
  kept('a lone surrogate', () => 'a\ud800b', { script: REFUSED, tagged: REFUSED, canonical: REFUSED }),
  kept('a key with a lone surrogate', () => ({ '\udc00': 1 }), { script: REFUSED, tagged: REFUSED, canonical: REFUSED }),
  kept('a NUL and a line separator', () => 'a\u0000b\u2028'),
  kept('keys that differ by case', () => ({ a: 1, A: 2 })),
  kept('the key __proto__', () => own('{"__proto__": {"x": 1}, "constructor": 2}')),
  kept('keys that look like indexes', () => ({ b: 1, '1': 2, '0': 3 })),
  kept('the empty key', () => ({ '': 1 })),
  kept('a tag', () => ({ $num: 'NaN' }), { script: { $$num: 'NaN' } }),
  kept('an unknown tag', () => ({ $what: 1 }), { script: { $$what: 1 }, tagged: REFUSED }),
  kept('a tag with a wrong content', () => ({ $time: 'soon' }), { script: { $$time: 'soon' }, tagged: REFUSED }),
  kept('a tag beside a key', () => ({ $num: '1', b: 2 }), { script: { $$num: '1', b: 2 }, tagged: REFUSED }),
  kept('null', () => null),
  kept('the empty text', () => ''),
  kept('an empty list', () => []),
  kept('an empty map', () => ({})),
  kept('a long text', () => 'é'.repeat(20_000)),
  kept('a long list', () => Array.from({ length: 5000 }, (_, index) => index)),
  kept('a wide map', () => Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, index]))),
];
