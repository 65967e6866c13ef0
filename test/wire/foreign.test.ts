import { describe, expect, it } from 'vitest';
import { openSession } from '../../src/loop/open.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { encode } from '../../src/wire/codec.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { taggedFrom } from '../../src/wire/foreign.ts';
import { ValueError } from '../../src/wire/values.ts';
import { fakeRuntime } from '../runtime/fake.ts';

class Point {
  readonly x = 1;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Values that JSON changes or leaves out, what is said about each, and about which part of it. */
const ROWS: readonly (readonly [name: string, make: () => unknown, problem: string, part?: string])[] = [
  ['a Map', () => new Map([['a', 1]]), 'Map is not JSON'],
  ['a Set', () => new Set([1]), 'Set is not JSON'],
  ['an error', () => new Error('x'), 'Error is not JSON'],
  ['bytes', () => new Uint8Array([1]), 'Uint8Array is not JSON'],
  ['a date', () => new Date(0), 'Date is not JSON'],
  ['a class instance', () => new Point(), 'Point is not JSON'],
  ['a function', () => () => 1, 'a function is not JSON'],
  ['a symbol', () => Symbol('s'), 'a symbol is not JSON'],
  ['a bigint', () => 1n, 'a bigint is not JSON'],
  ['undefined', () => undefined, 'undefined is not JSON'],
  ['NaN', () => Number.NaN, 'JSON does not have NaN; write {"$num": "NaN"}'],
  ['an infinity', () => Number.NEGATIVE_INFINITY, 'JSON does not have -Infinity; write {"$num": "-Infinity"}'],
  ['-0', () => -0, 'JSON does not have -0; write {"$num": "-0"}'],
  ['a list with a gap', () => new Array(1), 'a list with gaps, or with more than its items, is not JSON'],
  ['a list with a field', () => Object.assign([1], { x: 2 }), 'a list with gaps, or with more than its items, is not JSON'],
  ['a key that is a symbol', () => ({ [Symbol('s')]: 1 }), 'an object with a symbol as a key is not JSON'],
  ['a proxy that was revoked', revoked, 'it cannot be read'],
  [
    'a getter that throws',
    () => ({
      get a() {
        throw new Error('boom');
      },
    }),
    'it cannot be read: boom',
    '.a',
  ],
];
const CHANGED = ROWS.map(([name, make, problem, part = '']) => [name, make, problem, part] as const);

describe('finding 9: a value that JSON would change', () => {
  it.each(CHANGED)('%s is refused with its path where tagged JSON is expected', (_name, make, problem, part) => {
    expect(() => taggedFrom(make())).toThrow(problem);
    expect(() => taggedFrom({ list: [0, make()] })).toThrow(`at .list[1]${part}: ${problem}`);
    expect(() => taggedFrom(make())).toThrow(ValueError);
  });

  it.each(CHANGED)('%s is refused as a part of a request of a host', async (_name, make) => {
    const { runtime } = fakeRuntime(async () => undefined);
    const fork = runtime.interpreter().fork();
    const run = (request: object): Promise<unknown> => fork.runRequest({ sources: [{ name: 'a', text: '' }], ...request });
    await expect(run({ globals: { g: make() } })).rejects.toThrow(ConfigError);
    await expect(run({ call: { name: 'f', args: [make()] } })).rejects.toThrow(/^argument 1 of f: /);
    await expect(run({ events: [{ name: 'e', source: '', payload: [make()] }] })).rejects.toThrow('payload of event e: at [0]');
    await expect(run({ variables: [{ name: 'v', value: make() }] })).rejects.toThrow(/^variable v: /);
  });

  it.each(CHANGED)('%s is refused in the configuration of a session', async (_name, make, _problem, part) => {
    const store = new MemoryStore();
    const opened = openSession(store, {}, { at: 1, sid: 's', configuration: { agent: make() } });
    await expect(opened).rejects.toThrow(`the configuration of the session: at .agent${part}: `);
    expect(await store.read('s')).toBeNull();
  });

  it('is kept where it is JSON, whatever its prototype is, and tags are checked', () => {
    const json = { a: [1, 'x', null, true, { $num: '-0' }], b: Object.assign(Object.create(null), { c: 0.5 }) };
    expect(taggedFrom(json)).toEqual(json);
    expect(() => taggedFrom({ a: { $what: 1 } })).toThrow(ValueError);
    const endless: unknown[] = [];
    endless.push(endless);
    expect(() => taggedFrom(endless)).toThrow('nests deeper than 500 levels');
  });

  it('and what throws while it is read is refused with its path, where JavaScript values are converted', () => {
    const getter = CHANGED.at(-1)?.[1];
    expect(() => encode({ list: [getter?.()] })).toThrow(new ValueError('at .list[0]: it cannot be read: boom'));
    expect(() => encode([revoked()])).toThrow(ValueError);
  });
});
