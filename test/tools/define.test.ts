import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { matchArgs } from '../../src/tools/dispatch/arguments.ts';
import {
  type ArgSpecs,
  type ArgsOf,
  defineTool,
  type FromJsonSchema,
  type JsonSchema,
  type ToolDefinition,
  type ToolInit,
} from '../../src/tools/index.ts';

import { ConfigError } from '../../src/wire/errors.ts';
import { TimeDate, type Value } from '../../src/wire/values.ts';
import { Bench, variables } from './probe.ts';

const nothing = (): null => null;

const JSON_ARGS = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 2, description: 'Where.' },
    mode: { enum: ['fast', 'safe'] },
    limits: { type: 'array', items: { type: 'integer' } },
    depth: { type: 'integer', default: 3 },
  },
  required: ['path', 'mode'],
} as const;

/** The same two arguments, item and an optional count, in every way to declare them. */
const WAYS: readonly (readonly [string, ToolDefinition])[] = [
  ['zod, each', defineTool({ name: 'tool.t.A', args: { item: z.string(), count: z.number().optional() }, run: nothing })],
  [
    'zod, all',
    defineTool({ name: 'tool.t.A', args: z.object({ item: z.string(), count: z.number().optional() }), run: nothing }),
  ],
  ['valibot, each', defineTool({ name: 'tool.t.A', args: { item: v.string(), count: v.optional(v.number()) }, run: nothing })],
  [
    'arktype, each',
    defineTool({ name: 'tool.t.A', args: { item: type('string'), count: type('number | undefined') }, run: nothing }),
  ],
  ['arktype, all', defineTool({ name: 'tool.t.A', args: type({ item: 'string', 'count?': 'number' }), run: nothing })],
  [
    'JSON Schema, all',
    defineTool({
      name: 'tool.t.A',
      args: { type: 'object', properties: { item: { type: 'string' }, count: { type: 'number' } }, required: ['item'] },
      run: nothing,
    }),
  ],
  [
    'ArgTypes',
    defineTool({
      name: 'tool.t.A',
      args: [
        { name: 'item', type: 'string' },
        { name: 'count', type: 'number', required: false },
      ],
      run: nothing,
    }),
  ],
];

describe('arguments by any schema', () => {
  it.each(WAYS)('%s: the same calls pass and fail', async (_way, tool) => {
    expect(tool.parameters.map(({ name, required }) => [name, required])).toEqual([
      ['item', true],
      ['count', false],
    ]);
    const passes = async (given: readonly Value[]): Promise<boolean> => (await matchArgs(tool, given)).ok;
    expect(await Promise.all([['tea'], ['tea', 2], ['tea', null]].map(passes))).toEqual([true, true, true]);
    expect(await Promise.all([[], [1], [null], ['tea', 'x'], ['tea', 2, 3]].map(passes))).toEqual(Array(5).fill(false));
    expect(await matchArgs(tool, ['tea', 2])).toMatchObject({ value: { item: 'tea', count: 2 } });
    expect(await matchArgs(tool, [1])).toMatchObject({ problem: expect.stringMatching(/argument 'item': \S/) });
    expect(await matchArgs(tool, [])).toMatchObject({ problem: expect.stringContaining('missing required arguments: item') });
  });

  it('one schema of all may compare arguments, and says which one is wrong', async () => {
    const range = z.object({ low: z.number(), high: z.number() });
    const tool = defineTool({
      name: 'tool.t.Range',
      args: range.refine(({ low, high }) => low <= high, { message: 'low is above high', path: ['low'] }),
      run: nothing,
    });
    expect(await matchArgs(tool, [1, 2])).toMatchObject({ ok: true });
    expect(await matchArgs(tool, [2, 1])).toMatchObject({
      problem: expect.stringContaining("argument 'low': low is above high"),
    });
  });

  it('JSON Schema: defaults are filled in, and what is within an argument is named', async () => {
    const tool = defineTool({ name: 'tool.t.J', args: JSON_ARGS, run: nothing });
    expect(await matchArgs(tool, ['/x', 'fast'])).toMatchObject({ value: { path: '/x', mode: 'fast', depth: 3 } });
    expect(await matchArgs(tool, ['/x', 'slow', [1, 2.5]])).toMatchObject({
      problem: expect.stringMatching(/argument 'mode': .*"fast".*; argument 'limits': 1: /),
    });
    const each = defineTool({
      name: 'tool.t.J',
      args: { n: { type: 'integer', minimum: 1 }, unit: { enum: ['ms', 's'], default: 's' } },
      run: nothing,
    });
    expect(await matchArgs(each, [2])).toMatchObject({ value: { n: 2, unit: 's' } });
    expect(await matchArgs(each, [0])).toMatchObject({ ok: false });
    expect(each.parameters.map(({ required }) => required)).toEqual([true, false]);
  });

  it('JSON Schema: a bound may be zero', async () => {
    const tool = defineTool({ name: 'tool.t.J', args: { a: { type: 'array', items: {}, maxItems: 0 } }, run: nothing });
    expect(await matchArgs(tool, [[]])).toMatchObject({ ok: true });
    expect(await matchArgs(tool, [[1]])).toMatchObject({ ok: false });
  });

  it('a schema whose library says nothing usable about it is documented as anything', () => {
    const validate = (value: unknown) => ({ value });
    for (const jsonSchema of [null, 'none', {}, { input: 1, output: 2 }]) {
      const schema = { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } } as const;
      const tool = defineTool({ name: 'tool.t.J', args: { a: schema }, run: nothing });
      expect(tool.parameters.map((parameter) => parameter.schema)).toEqual([{}]);
    }
  });

  it('JSON Schema: a property may have the name of any keyword, and notes stand beside keywords', async () => {
    const args = {
      type: 'object',
      properties: {
        minLenght: { type: ['string', 'null'], minLength: 1, title: 'T', examples: ['x'], 'x-note': 1 },
        $ref: {
          allOf: [
            { type: 'string', format: 'date' },
            { enum: ['2025-01-01'], maxLength: 20 },
          ],
        },
      },
    } as const;
    const tool = defineTool({ name: 'tool.t.J', args: { o: args }, run: nothing });
    expect(await matchArgs(tool, [{ minLenght: 'x' }])).toMatchObject({ ok: true });
    expect(await matchArgs(tool, [{ minLenght: '' }])).toMatchObject({ ok: false });
    expect(await matchArgs(tool, [{ $ref: 'x' }])).toMatchObject({ ok: false });
  });

  it('values of the language that JSON lacks are no strings and no maps to a schema', async () => {
    const tool = defineTool({ name: 'tool.t.J', args: { at: { type: 'string' } }, run: nothing });
    expect(await matchArgs(tool, [new TimeDate('2025-01-01T00:00:00Z')])).toMatchObject({ ok: false });
    expect(await matchArgs(tool, [new Uint8Array(2)])).toMatchObject({ ok: false });
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'a JSON Schema with an unknown type',
      () => defineTool({ name: 'tool.t.A', args: { a: { type: 'strin' as 'string' } }, run: nothing }),
      /tool\.t\.A: 'a' has a JSON Schema that cannot be used: Unsupported type: strin/,
    ],
    [
      'keywords that nothing enforces',
      () => defineTool({ name: 'tool.t.A', args: { type: 'object', properties: {}, if: {} }, run: nothing }),
      /args has a JSON Schema that cannot be used/,
    ],
    [
      'a schema of no object',
      () => defineTool({ name: 'tool.t.A', args: { type: 'string' } as never, run: nothing }),
      /does not say which arguments there are/,
    ],
    [
      'an object whose members nobody can see',
      () => defineTool({ name: 'tool.t.A', args: v.object({ a: v.string() }), run: nothing }),
      /one schema for each argument/,
    ],
    [
      'args of another kind',
      () => defineTool({ name: 'tool.t.A', args: 5 as never, run: nothing }),
      /args must be a list of arguments/,
    ],
    [
      'returns of another kind',
      () => defineTool({ name: 'tool.t.A', run: nothing, ...Object({ returns: 5 }) }),
      /returns must be an ArgType/,
    ],
    ...(
      [
        ['a misspelt keyword', { type: 'string', minLenght: 3 }, /'minLenght' is not a keyword/],
        ['an unknown format', { type: 'string', format: 'postcode' }, /'format' cannot be "postcode"/],
        ['a bound that is a text', { type: 'string', minLength: '3' }, /'minLength' cannot be "3"/],
        ['a list of names with a number in it', { type: 'object', required: ['a', 1] }, /'required' cannot be \["a",1\]/],
        ['a size of a list without its items', { type: 'array', maxItems: 3 }, /'maxItems' is not enforced without 'items'/],
        ['a bound without a type', { minLength: 3 }, /'minLength' is not enforced without 'type'/],
        ['a keyword of an older draft', { type: 'object', dependencies: {} }, /'dependencies' is not a keyword/],
        ['a misspelling deep within', { type: 'array', items: { anyOf: [{ maximun: 1 }] } }, /'items.anyOf.maximun'/],
        ['a misspelling in a definition', { $ref: '#/$defs/a', $defs: { a: { tpye: 'string' } } }, /'\$defs.a.tpye'/],
        [
          'a type beside a reference',
          { type: 'string', $ref: '#/$defs/a', $defs: { a: {} } },
          /'\$ref' is not enforced together/,
        ],
        ['anyOf beside oneOf', { anyOf: [{ type: 'string' }], oneOf: [{ type: 'string' }] }, /'anyOf' is not enforced together/],
        ['a bound of another type', { type: 'string', minimum: 3 }, /'minimum' is not enforced with the type "string"/],
        ['a format of no text', { type: ['integer', 'null'], format: 'email' }, /'format' is not enforced with the type/],
        ['a bound that is no number', { type: 'number', maximum: Number.NaN }, /'maximum' cannot be null/],
        ['a step of nothing', { type: 'number', multipleOf: 0 }, /'multipleOf' cannot be 0/],
        ['a bound of an older draft', { type: 'integer', exclusiveMinimum: true }, /without 'minimum' beside it/],
        ['a count of nothing', { type: 'array', items: {}, minContains: 2 }, /without 'contains' beside it/],
        ['items of an older draft', { type: 'array', items: {}, additionalItems: false }, /'additionalItems' is not a keyword/],
        [
          'a required name that no property has',
          { type: 'object', properties: { path: { type: 'string' } }, required: ['pathh'] },
          /'required' is not enforced without properties of these names/,
        ],
        [
          'a name that no object can have as its own',
          { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') },
          /'properties' cannot be/,
        ],
        ['a value of another type', { type: 'string', enum: ['a', 1] }, /'enum' has a value that the keywords beside it refuse/],
        ['a value beyond a bound', { enum: [1, 2], minimum: 2 }, /'enum' has a value that the keywords beside it refuse/],
        ['one value of another type', { type: 'string', const: 1 }, /'const' has a value that the keywords beside it refuse/],
        ['one value beside several', { enum: ['a', 'b'], const: 'a' }, /'enum' and 'const' are not enforced together/],
        ['a reference to itself', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, /'\$ref' leads to itself/],
        [
          'a reference to itself below a property',
          { type: 'object', properties: { k: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#/$defs/a' } } },
          /'\$ref' leads to itself/,
        ],
        [
          'a reference to itself through choices',
          { type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: { anyOf: [{ allOf: [{ $ref: '#/$defs/a' }] }] } } },
          /'\$ref' leads to itself/,
        ],
        ['an object with a method', { validate: () => true }, /'validate' is not a keyword/],
        ['a schema of zod 3 before Standard Schema', new (class ZodString {})(), /must be a Standard Schema/],
        ['a Standard Schema without validate', { '~standard': { version: 1, vendor: 'x' } }, /must be a Standard Schema/],
      ] as const
    ).flatMap(([name, schema, problem]): [string, () => unknown, RegExp][] => [
      [`${name}`, () => defineTool({ name: 'tool.t.A', args: { a: schema as never }, run: nothing }), problem],
      [
        `${name}, as the result`,
        () => defineTool({ name: 'tool.t.A', run: nothing, ...Object({ returns: schema }) }),
        new RegExp(problem.source.replace('must be a Standard Schema', 'returns must be an ArgType')),
      ],
    ]),
    [
      'an argument whose schema has no keyword',
      () => defineTool({ name: 'tool.t.A', args: { a: { const: undefined } }, run: nothing }),
      /must be a Standard Schema/,
    ],
    [
      'all arguments by a schema of zod 3',
      () => defineTool({ name: 'tool.t.A', args: new (class ZodObject {})() as never, run: nothing }),
      /args must be a list of arguments/,
    ],
    ...['integer', 'String', 'array', 'int[]', 'null'].map((returns): [string, () => unknown, RegExp] => [
      `the result '${returns}', a type that nothing checks`,
      () => defineTool({ name: 'tool.t.A', returns, run: nothing }),
      /tool\.t\.A: returns is '.*', which is not an ArgType/,
    ]),
    ['a group that is a full name', () => defineTool({ group: 'tool.t', name: 'A b', run: nothing }), /tool\.group\.Name/],
    [
      'no time at all',
      () => defineTool({ name: 'tool.t.A', timeoutMs: 0, run: nothing }),
      /timeoutMs must be a whole number from 1 to 2147483647, got 0/,
    ],
    ['half a byte', () => defineTool({ name: 'tool.t.A', maxArgBytes: 0.5, run: nothing }), /maxArgBytes must be a whole number/],
    [
      'a size as text',
      () => defineTool({ name: 'tool.t.A', maxResultBytes: '1' as never, run: nothing }),
      /maxResultBytes must be/,
    ],
  ])('finding 12: refuses %s', (_name, make, problem) => {
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(problem);
  });

  it.each<[string, ArgSpecs]>([
    ['an ArgType', [{ name: 'box', type: 'map', default: { items: [1] } }]],
    ['one JSON Schema', { type: 'object', properties: { box: { type: 'object', default: { items: [1] } } } }],
    ['a JSON Schema each', { box: { type: 'object', default: { items: [1] } } }],
  ])('%s: a default is new at every call, whatever a tool does to it', async (_way, args) => {
    const fill = defineTool({
      name: 'tool.t.Fill',
      args,
      run: (given: object) => {
        const { box } = given as { box: { items: number[] } };
        const { items } = box;
        items.push(2);
        return items.length;
      },
    });
    const bench = new Bench([fill]);
    for (let call = 0; call < 3; call++) expect(await bench.call('tool.t.Fill')).toEqual({ t: 'ok', value: 2 });
  });

  it('a default is the value that was declared, and one that no script could give is refused', async () => {
    const items = [1];
    const count = defineTool({
      name: 'tool.t.Count',
      args: [{ name: 'l', type: 'list', default: items }],
      run: ({ l }) => l.length,
    });
    items.push(2);
    expect(await new Bench([count]).call('tool.t.Count')).toEqual({ t: 'ok', value: 1 });
    expect(() => defineTool({ name: 'tool.t.F', args: [{ name: 'f', default: (() => 1) as never }], run: () => 1 })).toThrow(
      /the default of 'f' is not a value of a script: a function/,
    );
  });

  it('a group and a short name make the full one', () => {
    expect(defineTool({ group: 'shop.eu', name: 'Price', run: nothing })).toMatchObject({ name: 'tool.shop.eu.Price' });
  });
});

describe('what run receives is typed from the schemas', () => {
  it('zod, valibot and arktype, each and all', () => {
    expectTypeOf<ArgsOf<{ a: z.ZodString; b: z.ZodOptional<z.ZodNumber> }>>().toEqualTypeOf<{
      readonly a: string;
      readonly b: number | undefined;
    }>();
    const all = z.object({ a: z.string(), n: z.number().default(1) });
    expectTypeOf<ArgsOf<typeof all>>().toEqualTypeOf<{ a: string; n: number }>();
    const valibot = { a: v.pipe(v.string(), v.transform(Number)) };
    expectTypeOf<ArgsOf<typeof valibot>>().toEqualTypeOf<{ readonly a: number }>();
    const ark = type({ a: 'string[]' });
    expectTypeOf<ArgsOf<typeof ark>>().toEqualTypeOf<{ a: string[] }>();
  });

  it('JSON Schema', () => {
    expectTypeOf<ArgsOf<typeof JSON_ARGS>>().toEqualTypeOf<{
      readonly path: string;
      readonly mode: 'fast' | 'safe';
      readonly depth: number;
      readonly limits?: readonly number[];
    }>();
    expectTypeOf<FromJsonSchema<{ type: ['string', 'null'] }>>().toEqualTypeOf<string | null>();
    expectTypeOf<FromJsonSchema<{ anyOf: [{ const: 1 }, { type: 'boolean' }] }>>().toEqualTypeOf<1 | boolean>();
    expectTypeOf<FromJsonSchema<{ $ref: '#/x' }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromJsonSchema<{ type: 'object' }>>().toEqualTypeOf<Readonly<Record<string, unknown>>>();
  });

  it('and in defineTool itself, with nothing written twice', () => {
    defineTool({
      name: 'tool.t.A',
      args: { type: 'object', properties: { n: { type: 'integer' }, s: { type: 'string' } }, required: ['n'] },
      run(args) {
        expectTypeOf(args).toEqualTypeOf<{ readonly n: number; readonly s?: string }>();
      },
    });
    defineTool({
      name: 'tool.t.A',
      args: { a: z.string(), b: { type: 'boolean' } },
      run(args) {
        expectTypeOf(args).toEqualTypeOf<{ readonly a: string; readonly b: boolean }>();
      },
    });
    defineTool({
      name: 'tool.t.A',
      args: [
        { name: 'a', type: 'slice_int' },
        { name: 'b', required: false },
      ],
      run(args) {
        expectTypeOf(args).toEqualTypeOf<{ readonly a: readonly number[]; readonly b: Value }>();
      },
    });
  });

  it('what run may return is what the schema of returns takes', () => {
    type Returning<R extends z.ZodType | string | JsonSchema> = ReturnType<ToolInit<readonly [], R>['run']>;
    expectTypeOf<Returning<z.ZodNumber>>().toEqualTypeOf<number | Promise<number>>();
    expectTypeOf<Returning<'int'>>().toEqualTypeOf<number | null | undefined | Promise<number | null | undefined>>();
    expectTypeOf<Returning<'a list of rows'>>().toEqualTypeOf<unknown>();
    expectTypeOf<Returning<{ readonly type: 'string' }>>().toEqualTypeOf<string | Promise<string>>();
    // @ts-expect-error: a text is no number
    defineTool({ name: 'tool.t.A', returns: z.number(), run: () => 'x' });
    // @ts-expect-error: a text is no number
    defineTool({ name: 'tool.t.A', returns: 'int', run: () => 'x' });
  });
});

describe('a result is held to what returns promises', () => {
  const call = (returns: string | z.ZodType | JsonSchema, result: unknown) =>
    new Bench([defineTool({ name: 'tool.t.X', returns, run: (): unknown => result })]).call('tool.t.x');

  it.each<[string, string | z.ZodType | JsonSchema, unknown, unknown]>([
    ['an ArgType', 'int', 5, 5],
    ['an ArgType fits it, as it fits an argument', 'int', '5', 5],
    ['nil, which an ArgType says nothing about', 'int', undefined, null],
    ['a list of an ArgType', 'slice_string', ['a'], ['a']],
    ['words', 'a number, or so', 'x', 'x'],
    ['any', 'any', 'x', 'x'],
    ['zod', z.object({ n: z.number() }), { n: 1 }, { n: 1 }],
    ['zod, which may transform', z.date(), new Date(0), { $time: '1970-01-01T00:00:00Z' }],
    ['JSON Schema', { type: ['integer', 'null'] }, null, null],
  ])('%s', async (_name, returns, result, value) => {
    expect(await call(returns, result)).toEqual({ t: 'ok', value });
  });

  it.each<[string, string | z.ZodType | JsonSchema, unknown, RegExp]>([
    ['an ArgType', 'int', 'five', /expected integer or integer-like value, got string/],
    ['zod', z.object({ n: z.number() }), { n: 'x' }, /n: Invalid input: expected number/],
    ['nil where the schema wants more', z.string(), undefined, /expected string/],
    ['JSON Schema', { type: 'integer', minimum: 3 }, 2, />=3/],
  ])('%s that is broken is code 21', async (_name, returns, result, problem) => {
    const reply = await call(returns, result);
    expect(reply).toMatchObject({ t: 'error', code: 21, message: expect.stringMatching(problem) });
    expect(reply).toMatchObject({ message: expect.stringContaining("'tool.t.x' returned something else than it promises") });
  });

  it('says in words what a schema means', () => {
    const words = (returns: string | z.ZodType | JsonSchema): string =>
      defineTool({ name: 'tool.t.X', returns, run: (): unknown => null }).returns;
    expect([
      words(z.array(z.number())),
      words({ type: 'array', items: { enum: ['a', 'b'] } }),
      words({ type: ['string', 'null'] }),
      words({ const: 'on' }),
      words({ description: 'the price', type: 'number' }),
      words({}),
      words(z.date()),
    ]).toEqual(['list of number', 'list of ("a" | "b")', 'string | nil', '"on"', 'the price', 'any', 'any']);
  });
});

describe("a tool's own bounds", () => {
  it('time: code 37, the signal is aborted, and the call is over', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: 'tool.t.Slow',
      timeoutMs: 20,
      async run(_args, runtime) {
        await new Promise((resolve) => runtime.signal.addEventListener('abort', resolve));
        seen.push(runtime.signal.reason);
        await runtime.getVar('x').catch((error: unknown) => seen.push(error));
      },
    });
    expect(await new Bench([tool]).call('tool.t.slow')).toEqual({
      t: 'error',
      code: 37,
      message: "tool 'tool.t.slow' took longer than 20 ms",
    });
    await expect.poll(() => seen).toMatchObject([{ nsCode: 37 }, { code: 'ERR_TURN_CLOSED' }]);
  });

  it('time is not up for a tool that answers, and its timer is gone', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const tool = defineTool({ name: 'tool.t.Quick', timeoutMs: 60_000, run: () => 1 });
    expect(await new Bench([tool]).call('tool.t.quick')).toEqual({ t: 'ok', value: 1 });
    expect(timers()).toBe(before);
  });

  it('a run that is given up does not wait for it', async () => {
    const tool = defineTool({ name: 'tool.t.Slow', timeoutMs: 60_000, run: () => new Promise<null>(() => {}) });
    const port = variables();
    const reply = new Bench([tool]).call('tool.t.slow', [], port);
    port.abort.abort();
    expect(await reply).toMatchObject({ t: 'halt' });
  });

  it.each([
    [10, 'ok'],
    [9, 'error'],
  ])('arguments of 10 bytes where %i are allowed: %s', async (maxArgBytes, t) => {
    let ran = false;
    const tool = defineTool({
      name: 'tool.t.A',
      args: [{ name: 'a' }],
      maxArgBytes,
      run: () => {
        ran = true;
      },
    });
    // ["123456"] as JSON
    expect(await new Bench([tool]).call('tool.t.a', ['123456'])).toMatchObject(t === 'ok' ? { t } : { t, code: 4 });
    expect(ran).toBe(t === 'ok');
  });

  it.each([
    [8, 'ok'],
    [7, 'error'],
  ])('a result of 8 bytes where %i are allowed: %s, and a script may catch it', async (maxResultBytes, t) => {
    const tool = defineTool({ name: 'tool.t.A', maxResultBytes, run: () => '123456' });
    expect(await new Bench([tool]).call('tool.t.a')).toMatchObject(t === 'ok' ? { t } : { t, code: 37 });
  });
});
