import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRuntime, defineTool, mapEntries, type Runtime, type Value } from '../../src/entries/index.ts';

/** What arrived at the tools. */
let seen: unknown;
const keep = <T>(value: T): T => {
  seen = value;
  return value;
};
const any = [{ name: 'm', type: 'any' }] as const;
const tools = [
  defineTool({ name: 'tool.o.Same', args: any, run: ({ m }) => keep(m) }),
  defineTool({ name: 'tool.o.Map', args: [{ name: 'm', type: 'map' }], returns: 'map', run: ({ m }) => keep(m) }),
  defineTool({ name: 'tool.o.Ints', args: [{ name: 'm', type: 'map_string_int' }], run: ({ m }) => keep(m) }),
  defineTool({ name: 'tool.o.Within', args: any, run: ({ m }) => ({ list: [m] }) }),
  defineTool({ name: 'tool.o.Any', args: { m: z.any() }, run: ({ m }) => keep(m) }),
  defineTool({ name: 'tool.o.Record', args: { m: z.record(z.string(), z.number()) }, run: ({ m }) => keep(m) }),
  defineTool({ name: 'tool.o.Copy', args: [{ name: 'm', type: 'map' }], run: ({ m }) => ({ ...m }) }),
  defineTool({
    name: 'tool.o.Sorted',
    args: [{ name: 'm', type: 'map' }],
    run: ({ m }) => new Map<string, Value>(mapEntries(m).toReversed()),
  }),
  defineTool({ name: 'tool.o.Nested', args: any, run: ({ m }, runtime) => runtime.callTool('tool.o.Same', [m]) }),
  defineTool({
    name: 'tool.o.Vars',
    run: async (_, runtime) => {
      await runtime.setVar('now', await runtime.getVar('was'));
      return null;
    },
  }),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: { allow: ['tool.o.*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

const run = (...lines: readonly string[]) => runtime.run(`command\n${lines.join('\n')}\nendcommand`);
const MAP = "{'10': 1, 'b': 2, '2': 3}";
const TEXT = '{"10": 1, "b": 2, "2": 3}';

describe('P9: the order of whole-number keys', () => {
  it.each(['Same', 'Map', 'Ints', 'Any', 'Nested'])('survives tool.o.%s, which gives back what it gets', async (name) => {
    const { emits, error, journal } = await run(`emit tool.o.${name}(${MAP})`);
    expect([error, emits]).toEqual([null, [TEXT]]);
    expect(journal).toMatchObject([{ args: [{ $10: 1, b: 2, $2: 3 }], outcome: { ok: true, value: { $10: 1, b: 2, $2: 3 } } }]);
    // Every tool sees a plain object.
    expect(seen).toEqual({ 10: 1, b: 2, 2: 3 });
    expect(mapEntries(Object(seen))).toEqual([
      ['10', 1],
      ['b', 2],
      ['2', 3],
    ]);
  });

  it('survives within what a tool makes, in variables that it sets, and in a Map, which has an order of its own', async () => {
    const { emits, error } = await run(
      `set was = ${MAP}`,
      'set now = nil',
      'call tool.o.Vars()',
      'emit now',
      'emit tool.o.Within(was)',
      'emit tool.o.Sorted(was)',
    );
    expect([error, emits]).toEqual([null, [TEXT, `{"list": [${TEXT}]}`, '{"2": 3, "b": 2, "10": 1}']]);
  });

  it('is that of JavaScript in what a schema or a tool copies', async () => {
    const { emits } = await run(`emit tool.o.Record(${MAP})`, `emit tool.o.Copy(${MAP})`);
    expect(emits).toEqual(['{"2": 3, "10": 1, "b": 2}', '{"2": 3, "10": 1, "b": 2}']);
  });

  it('comes with a Map as global, argument and payload; results are plain objects that mapEntries puts in order', async () => {
    const map = new Map<string, unknown>([
      ['10', 1],
      [
        '$b',
        new Map([
          ['7', 1],
          ['3', 2],
        ]),
      ],
      ['2', 3],
    ]);
    const result = await runtime.run('command\n  emit g\nendcommand', {
      lib: 'func f(needs m returns r) means\n  emit m\n  return m\nendfunc\non event "e" as e do\n  emit e["payload"][0]["Payload"]\nendon\n',
      values: { g: map },
      call: { name: 'f', args: [map] },
      events: [{ name: 'e', payload: map }],
    });
    const text = '{"10": 1, "$b": {"7": 1, "3": 2}, "2": 3}';
    expect(result.emits).toEqual([text, text, text]);
    for (const value of [...result.values, result.result]) {
      expect(JSON.parse(JSON.stringify(value))).toEqual({ 10: 1, $$b: { 7: 1, 3: 2 }, 2: 3 });
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(mapEntries(Object(value)).map(([key]) => key)).toEqual(['10', '$$b', '2']);
      expect(structuredClone(value)).toEqual(value);
    }
    const again = await runtime.run('command\n  emit g\nendcommand', { values: { g: Object(result.result)['$$b'] } });
    expect(again.emits).toEqual(['{"7": 1, "3": 2}']);
  });
});
