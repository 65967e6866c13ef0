import { describe, expect, it } from 'vitest';
import { defineTool, Policy, suggestRow } from '../../src/tools/index.ts';
import { decideCall } from '../../src/tools/policy/decide.ts';
import { knownOf } from '../../src/wire/foreseen.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

const SEND = defineTool({
  name: 'tool.mail.Send',
  args: [
    { name: 'to', type: 'string' },
    { name: 'body', type: 'any', required: false },
  ],
  run: () => null,
});

const rowOf = (...calls: readonly (readonly TaggedJson[])[]) =>
  suggestRow(
    SEND,
    calls.map((args) => args.map(knownOf)),
  );
/** The condition for `to` when the calls had these. */
const seen = (...values: readonly TaggedJson[]) => rowOf(...values.map((value) => [value]))?.['to'];

describe('issue 46: policy suggest, a row of conditions from the calls of a tool', () => {
  it.each([
    ['one value', ['ada@example.com'], 'ada@example.com'],
    ['a star in it', ['a*b'], 'a\\*b'],
    ['values that came again', ['a', 'b', 'a', 'b'], { in: ['a', 'b'] }],
    ['texts with one ending', ['ada@example.com', 'bob@example.com', 'eve@example.com'], '*@example.com'],
    ['texts with one beginning', ['/data/a.txt', '/data/b.csv'], '/data/*'],
    ['no more than a separator in common', ['/a', '/b'], { type: 'string', maxLength: 16 }],
    ['a beginning that ends with a backslash', ['C:\\a', 'C:\\b'], { type: 'string', maxLength: 16 }],
    ['texts of some length', ['x'.repeat(20), 'y'], { type: 'string', maxLength: 32 }],
    ['numbers', [5, 500, 30], { min: 5, max: 500 }],
    ['no number', [{ $num: 'NaN' }, 1], { type: 'number' }],
    ['both booleans', [true, false, true, false], { type: 'boolean' }],
    ['nil', [null, null], null],
    ['nil or texts alike', [null, 'a@x.org', 'b@x.org'], { in: [null, '*@x.org'] }],
    ['values of several types', [1, 'a'], { type: ['number', 'string'] }],
    ['lists', [['a@x.org'], ['b@x.org', 'a@x.org']], { each: '*@x.org', maxLength: 16 }],
    ['empty lists', [[]], { type: 'list', maxLength: 16 }],
    [
      'maps of the same keys',
      [
        { id: 1, kind: 'a' },
        { id: 2, kind: 'a' },
      ],
      { entries: { id: { min: 1, max: 2 }, kind: 'a' } },
    ],
    ['maps of other keys', [{ a: 1 }, { b: 1 }], { type: 'map' }],
  ] as const)('%s', (_, values, condition) => {
    expect(seen(...(values as readonly TaggedJson[]))).toEqual(condition);
  });

  it('names arguments that were left out, and the entries of a tool that takes them in one map', () => {
    expect(rowOf(['a'], ['a', 'hello'], ['a', 'world'])).toEqual({ to: 'a', body: { type: ['nil', 'string'] } });
    const served = defineTool({ name: 'tool.mcp.Send', args: [{ name: 'arguments', type: 'map' }], run: () => null });
    expect(suggestRow(served, [[knownOf({ to: 'a', 'x y': 1 })]])).toEqual({ to: 'a' });
  });

  it('is one row that every call meets, whatever the calls were', () => {
    const parts: readonly TaggedJson[] = [
      '',
      '*',
      '\\',
      '\\*',
      'a.b',
      'a.c',
      '/x/*/y',
      0,
      -1.5,
      true,
      null,
      [],
      {},
      { $bytes: '' },
      { $num: '-0' },
    ];
    for (let seed = 1; seed < 3000; seed++) {
      const pick = (index: number): TaggedJson => parts[(seed * (2 * index + 3) + index * index) % parts.length] ?? null;
      const calls = Array.from({ length: 1 + (seed % 5) }, (_, call) => {
        const [one, two] = [pick(call), pick(call + seed)];
        return seed % 3 === 0 ? [[one, two]] : seed % 3 === 1 ? [{ k: one, j: [two] }, two] : [one, two];
      });
      const row = rowOf(...calls);
      const policy = new Policy({ allow: ['*'], ...(row === null ? {} : { when: { 'tool.mail.Send': [row] } }) });
      for (const args of calls) {
        const question = {
          tool: SEND,
          args: args.map(knownOf),
          before: { called: () => null },
          labels: null,
          isTool: () => true,
        };
        expect({ args, broken: decideCall(policy, question) }).toEqual({ args, broken: [] });
      }
    }
  });
});
