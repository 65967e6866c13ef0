import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ArgType, argTypeNames, coerce } from '../../src/tools/define/argtypes.ts';
import { matchArgs } from '../../src/tools/dispatch/arguments.ts';
import { type ArgSpec, defineTool } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { readNumber } from '../../src/wire/numbers.ts';
import { ErrorValue, Fuzzy, Handle, TimeDate, type Value } from '../../src/wire/values.ts';

const bytes = new Uint8Array([104, 105]);
const time = new TimeDate('2025-01-01T00:00:00Z');
const handle = new Handle('file', '1');

/** The table of language.md 9.4, row by row: what is accepted and what comes out. */
const ACCEPTED: readonly (readonly [ArgType, Value, unknown])[] = [
  ['any', handle, handle],
  ['string', 'x', 'x'],
  ['int', 3, 3],
  ['int', ' 42 ', 42],
  ['int', '-7.0', -7],
  ['int', '1_000', 1000],
  ['int', new Fuzzy(1), 1],
  ['float', 1.5, 1.5],
  ['float', ' 1e3', 1000],
  ['float', 'Inf', Number.POSITIVE_INFINITY],
  ['float', '0x1p-2', 0.25],
  ['bool', true, true],
  ['bool', 2, true],
  ['bool', 0, false],
  ['bool', 'TRUE', true],
  ['bool', 'False', false],
  ['bool', '1', true],
  ['bool', '0', false],
  ['map', { a: 1 }, { a: 1 }],
  ['map', new ErrorValue({ code: 1 }), { code: 1 }],
  ['list', [1], [1]],
  ['slice', [1, 'a'], [1, 'a']],
  ['slice_any', [], []],
  ['slice_string', ['a', null], ['a', '']],
  ['slice_int', [2.9, -2.9, true, '7', '3.5'], [2, -2, 1, 7, 3]],
  ['slice_float', [1, '2.5'], [1, 2.5]],
  ['slice_bool', ['true', 0, null], [true, false, false]],
  ['slice_map', [{ a: 1 }], [{ a: 1 }]],
  ['blob', bytes, bytes],
  ['blob', 'hi', bytes],
  ['nil', 5, null],
  ['handle', 'a-1.b:c', 'a-1.b:c'],
  ['nodeid', 'N_1', 'N_1'],
  ['nodeid', { _version: 'N_9' }, 'N_9'],
  ['entityid', 'E_1', 'E_1'],
  ['entityid', { id: 'E_2', x: 1 }, { id: 'E_2', x: 1 }],
  ['embedding', [0.5, 2], Float32Array.of(0.5, 2)],
];

const REFUSED: readonly (readonly [ArgType, Value, RegExp])[] = [
  ['string', 1, /^expected string, got number$/],
  ['string', true, /got boolean/],
  ['string', handle, /got handle/],
  ['int', 1.5, /integer-like value, got 1\.5/],
  ['int', '1.5', /integer/],
  ['int', 2 ** 63, /integer/],
  ['int', Number.NaN, /integer/],
  ['int', true, /got boolean/],
  ['float', 'x1', /float or number-like value, got string/],
  ['float', '1e999', /float/],
  ['bool', 'yes', /boolean-like value, got string/],
  ['bool', [], /got list/],
  ['map', [], /expected map, got list/],
  ['map', bytes, /expected map, got bytes/],
  ['list', { a: 1 }, /expected list, got map/],
  ['slice_string', ['a', 1], /element 1: expected string, got number/],
  ['slice_int', ['x'], /element 0: expected number, got string/],
  ['slice_int', [''], /element 0/],
  ['slice_int', [2 ** 63], /element 0: expected integer, got 9223372036854776000/],
  ['slice_int', ['Inf'], /element 0: expected integer, got Infinity/],
  ['slice_float', [' 1'], /element 0/],
  ['slice_bool', ['maybe'], /element 0/],
  ['slice_map', [[]], /element 0: expected map, got list/],
  ['blob', 1, /expected bytes or string, got number/],
  ['handle', 'a b', /expected handle, got string/],
  ['nodeid', 'N_', /node id/],
  ['entityid', { id: 'X_1' }, /entity id/],
  ['embedding', ['x'], /element 0/],
  ['timedate', 1, /expected timedate, got number/],
  ['timedate', 'yesterday', /expected timedate, but/],
];

describe('ArgTypes', () => {
  it.each(ACCEPTED)('%s takes %j', (type, value, result) => {
    expect(coerce(type, value)).toEqual({ ok: true, value: result });
  });

  it.each(REFUSED)('%s refuses %j', (type, value, problem) => {
    expect(coerce(type, value)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });

  it('every type has a row above, or in the test of P6', () => {
    const rows = new Set<string>(ACCEPTED.map(([type]) => type));
    const p6 = ['number', 'boolean', 'void', 'map_string_string', 'map_string_int', 'map_string_any', 'map_any_any', 'timedate'];
    expect(argTypeNames().filter((name) => !rows.has(name) && !p6.includes(name))).toEqual([]);
  });

  it('P6: number, boolean, void, the map types and timedate work, and handle takes a handle', () => {
    const taken: readonly (readonly [ArgType, Value, unknown])[] = [
      ['number', '1.5', 1.5],
      ['boolean', 'true', true],
      ['void', 1, null],
      ['map_string_string', { a: 'x', b: null }, { a: 'x', b: '' }],
      ['map_string_int', { a: '3' }, { a: 3 }],
      ['map_string_any', { a: [1] }, { a: [1] }],
      ['map_any_any', { a: 1 }, { a: 1 }],
      ['timedate', time, time],
      ['timedate', time.text, time],
      ['handle', handle, handle],
    ];
    for (const [type, value, result] of taken) expect(coerce(type, value)).toEqual({ ok: true, value: result });
    expect(coerce('map_string_string', { a: 1 })).toEqual({
      ok: false,
      problem: "expected map of strings, but 'a': expected string, got number",
    });
    expect(coerce('map_string_int', { a: 1.5 })).toMatchObject({ ok: false });
  });

  it('text is a number exactly where the language says so', () => {
    const numbers: Record<string, number> = {
      '+1.': 1,
      '.5': 0.5,
      '1_0': 10,
      '1e+2': 100,
      '-inf': Number.NEGATIVE_INFINITY,
      '0X1.8P1': 3,
      '-0x.8p0': -0.5,
    };
    for (const [text, value] of Object.entries(numbers)) expect(readNumber(text)).toBe(value);
    expect(readNumber('nan')).toBeNaN();
    for (const text of ['', '.', '_1', '1_', '1__0', '0x10', '1e', '--1', '1,5', '٣', '0xp1'])
      expect(readNumber(text)).toBeUndefined();
  });
});

const tool = (args: readonly ArgSpec[]) => defineTool({ name: 'tool.t.Probe', args, run: () => null });

describe('matching arguments', () => {
  it('P6: a surplus argument is an error that shows the signature', async () => {
    const result = await matchArgs(tool([{ name: 'a' }, { name: 'b', required: false }]), [1, 2, 3]);
    expect(result).toEqual({
      ok: false,
      problem: "tool 'tool.t.probe' argument validation failed: takes 2 arguments (a, b?), got 3",
    });
    expect(await matchArgs(tool([]), [1])).toMatchObject({ problem: expect.stringContaining('takes no arguments, got 1') });
  });

  it('P6: a declared default is used for what is left out and for nil', async () => {
    const given = tool([{ name: 'a' }, { name: 'n', type: 'int', default: 10 }]);
    expect(await matchArgs(given, ['x'])).toEqual({ ok: true, value: expect.objectContaining({ a: 'x', n: 10 }) });
    expect(await matchArgs(given, ['x', null])).toMatchObject({ value: { n: 10 } });
    expect(await matchArgs(given, ['x', 3])).toMatchObject({ value: { n: 3 } });
  });

  it('a default of null makes an argument one that may be left out', async () => {
    const given = tool([{ name: 'a' }, { name: 'n', type: 'int', default: null }]);
    expect(await matchArgs(given, ['x'])).toEqual({ ok: true, value: expect.objectContaining({ a: 'x', n: null }) });
    expect(await matchArgs(given, ['x', 3])).toMatchObject({ value: { n: 3 } });
  });

  it('all problems come in one message', async () => {
    const given = tool([{ name: 'a', type: 'string' }, { name: 'b', type: 'int' }, { name: 'c' }, { name: 'd' }]);
    expect(await matchArgs(given, [1, 'x'])).toMatchObject({
      problem:
        "tool 'tool.t.probe' argument validation failed: missing required arguments: c, d; " +
        "argument 'a': expected string, got number; argument 'b': expected integer or integer-like value, got string",
    });
  });

  it('nil is refused where an argument is required, and passes as nil where it is not', async () => {
    expect(await matchArgs(tool([{ name: 'a' }]), [null])).toMatchObject({
      problem: expect.stringContaining("argument 'a': is required, but was nil"),
    });
    expect(await matchArgs(tool([{ name: 'a', type: 'int', required: false }]), [])).toMatchObject({
      ok: true,
      value: { a: null },
    });
  });

  it('a schema decides for its argument; nil counts as left out where the schema wants that', async () => {
    const given = defineTool({
      name: 'tool.t.Schema',
      args: { path: z.string().startsWith('/'), limit: z.number().optional(), note: z.string().nullable() },
      run: (args) => args.path.length + (args.limit ?? 0),
    });
    expect(await matchArgs(given, ['/x', 3, 'n'])).toMatchObject({ ok: true, value: { path: '/x', limit: 3, note: 'n' } });
    expect(await matchArgs(given, ['/x', null, null])).toMatchObject({
      ok: true,
      value: { path: '/x', limit: undefined, note: null },
    });
    expect(await matchArgs(given, ['x', 'y', null])).toMatchObject({
      problem: expect.stringMatching(/argument 'path': Invalid string: must start with "\/"; argument 'limit': Invalid input/),
    });
    expect(await matchArgs(given, [])).toMatchObject({
      problem: expect.stringMatching(/missing required arguments: path, note$/),
    });
  });

  it('a schema may transform, and may answer later', async () => {
    const given = defineTool({
      name: 'tool.t.Async',
      args: { n: z.string().transform(async (text) => Number(text)) },
      run: () => null,
    });
    expect(await matchArgs(given, ['12'])).toMatchObject({ ok: true, value: { n: 12 } });
  });
});

describe('defining a tool', () => {
  const run = (): null => null;
  it.each<[string, () => unknown, RegExp]>([
    ['a name without parts', () => defineTool({ name: 'tool', run }), /tool\.group\.Name or tool\.Name, got 'tool'/],
    ['a name with a blank', () => defineTool({ name: 'tool.a.b c', run }), /tool\.group\.Name/],
    ['an unknown type', () => tool([{ name: 'a', type: 'integer' as ArgType }]), /unknown type 'integer'; known are any, string/],
    ['a default of the wrong type', () => tool([{ name: 'a', type: 'int', default: 'x' }]), /default of 'a' does not fit/],
    ['two arguments of one name', () => tool([{ name: 'a' }, { name: 'a' }]), /'a' is declared twice/],
    [
      'a misspelt demand for trust',
      () => defineTool({ name: 'tool.a.b', requiresTrst: true, run } as never),
      /unknown key 'requiresTrst' in tool\.a\.b; known are/,
    ],
    ['a misspelt field of an argument', () => tool([{ name: 'a', requird: false } as never]), /unknown key 'requird'/],
    [
      'a demand for trust that is no truth value',
      () => defineTool({ name: 'tool.a.b', requiresTrust: 0 as never, run }),
      /tool\.a\.b: requiresTrust must be true or false, got number/,
    ],
    ['an argument without a name', () => tool([{} as never]), /args\[0\]\.name must be a text, got undefined/],
    ['`required` in words', () => tool([{ name: 'a', required: 'no' as never }]), /args\[0\]\.required must be true or false/],
    [
      'a capability that stands alone',
      () => defineTool({ name: 'tool.a.b', capabilities: 'fs:read' as never, run }),
      /tool\.a\.b: capabilities must be a list, got string/,
    ],
    [
      'a capability that is no text',
      () => defineTool({ name: 'tool.a.b', capabilities: [5 as never], run }),
      /tool\.a\.b: capabilities\[0\] must be a text, got number/,
    ],
    ['nothing at all', () => defineTool(undefined as never), /a tool must be an object, got undefined/],
    ['an argument name with a dash', () => tool([{ name: 'a-b' }]), /'a-b' is not an argument name/],
    [
      'a required argument after an optional one',
      () => tool([{ name: 'a', required: false }, { name: 'b' }]),
      /'b' stands after an optional one/,
    ],
    ['no function', () => defineTool({ name: 'tool.a.b', run: 1 as never }), /run must be a function/],
    ['a capability without verb', () => defineTool({ name: 'tool.a.b', capabilities: ['fs'], run }), /'fs' is not a capability/],
    [
      'effects in other words',
      () => defineTool({ name: 'tool.a.b', effects: 'reads' as never, run }),
      /effects must be none, read or write/,
    ],
    [
      'an argument that is no schema',
      () => defineTool({ name: 'tool.a.b', args: { a: {} as never }, run }),
      /'a' must be a Standard Schema/,
    ],
  ])('refuses %s', (_name, make, problem) => {
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(problem);
  });

  it('is frozen, assumes the worst about effects, and keeps the name as written', () => {
    const made = tool([{ name: 'a' }]);
    expect(made).toMatchObject({
      name: 'tool.t.Probe',
      canonicalName: 'tool.t.probe',
      effects: 'write',
      requiresTrust: false,
      returns: 'any',
    });
    for (const part of [made, made.parameters, ...made.parameters, made.capabilities]) expect(Object.isFrozen(part)).toBe(true);
  });
});

it('finding 8: arguments that a schema refuses in more places than a call has arguments', async () => {
  const schema = z.object({ list: z.array(z.number()) });
  const tool = defineTool({ name: 'tool.t.Sum', args: schema, run: () => null });
  const given = { list: Array.from({ length: 200_000 }, () => 'x') };
  expect(await matchArgs(tool, [given.list])).toMatchObject({ ok: false });
});
