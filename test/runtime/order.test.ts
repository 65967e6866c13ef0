import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRuntime, defineTool, type OrderedValue, type Runtime } from '../../src/entries/index.ts';

/** What arrived at the tools. */
let seen: unknown;
const keep = <T>(value: T): T => {
  seen = value;
  return value;
};
const any = [{ name: 'm', type: 'any' }] as const;
const ordered = { orderedMaps: true } as const;
const numbers = z.map(z.string(), z.number());
const tools = [
  defineTool({ ...ordered, name: 'tool.o.Same', args: any, run: ({ m }) => keep(m) }),
  defineTool({ ...ordered, name: 'tool.o.Map', args: [{ name: 'm', type: 'map' }], returns: 'map', run: ({ m }) => keep(m) }),
  defineTool({ ...ordered, name: 'tool.o.Ints', args: [{ name: 'm', type: 'map_string_int' }], run: ({ m }) => keep(m) }),
  defineTool({ ...ordered, name: 'tool.o.Copy', args: any, run: ({ m }) => keep(structuredClone(m)) }),
  defineTool({ ...ordered, name: 'tool.o.Schema', args: { m: numbers }, run: ({ m }) => keep(m) }),
  defineTool({ ...ordered, name: 'tool.o.Default', args: [{ name: 'm', default: fallback() }], run: ({ m }) => keep(m) }),
  defineTool({ ...ordered, name: 'tool.o.Within', args: any, run: ({ m }) => ({ list: [m] }) }),
  defineTool({
    ...ordered,
    name: 'tool.o.Sorted',
    args: [{ name: 'm', type: 'map' }],
    run: ({ m }) => new Map<string, OrderedValue>([...m].toReversed()),
  }),
  defineTool({ name: 'tool.o.Plain', args: any, run: ({ m }) => keep(m) }),
  defineTool({ name: 'tool.o.PlainMap', args: [{ name: 'm', type: 'map' }], returns: 'map', run: ({ m }) => keep({ ...m }) }),
];

function fallback(): OrderedValue {
  return new Map([
    ['10', 1],
    ['b', 2],
    ['2', 3],
  ]);
}

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: { allow: ['tool.o.*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

const run = (...lines: readonly string[]) => runtime.run(`command\n${lines.join('\n')}\nendcommand`);
const MAP = "{'10': 1, 'b': 2, '2': 3}";
const TEXT = '{"10": 1, "b": 2, "2": 3}';
const IN_JAVASCRIPT = '{"2": 3, "10": 1, "b": 2}';

describe('P9: the order of whole-number keys', () => {
  it.each(['Same', 'Map', 'Ints', 'Copy', 'Schema'])(
    'survives tool.o.%s, which asks for ES maps and gives back what it gets or a copy',
    async (name) => {
      const { emits, error, journal } = await run(`emit tool.o.${name}(${MAP})`);
      expect([error, emits]).toEqual([null, [TEXT]]);
      expect(journal).toMatchObject([{ args: [{ $10: 1, b: 2, $2: 3 }], outcome: { ok: true, value: { $10: 1, b: 2, $2: 3 } } }]);
      expect(seen).toEqual(fallback());
    },
  );

  it('survives in a default, within what a tool makes, and in a Map, which has an order of its own', async () => {
    const { emits, error } = await run(
      `set was = ${MAP}`,
      'emit tool.o.Default()',
      'emit tool.o.Within(was)',
      'emit tool.o.Sorted(was)',
    );
    expect([error, emits]).toEqual([null, [TEXT, `{"list": [${TEXT}]}`, '{"2": 3, "b": 2, "10": 1}']]);
  });

  it.each(['Plain', 'PlainMap'])('is that of JavaScript in tool.o.%s, which gets plain objects', async (name) => {
    const { emits, journal } = await run(`emit tool.o.${name}(${MAP})`);
    expect(emits).toEqual([IN_JAVASCRIPT]);
    expect(journal).toMatchObject([{ args: [{ $10: 1, b: 2, $2: 3 }] }]);
    expect({ ...Object(seen) }).toEqual({ 10: 1, b: 2, 2: 3 });
  });

  it('comes with a Map as global, argument and payload; results are plain objects, or marked ones that can be sent again', async () => {
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
    const options = {
      lib: 'func f(needs m returns r) means\n  emit m\n  return m\nendfunc\non event "e" as e do\n  emit e["payload"][0]["Payload"]\nendon\n',
      values: { g: map },
      call: { name: 'f', args: [map] },
      events: [{ name: 'e', payload: map }],
    };
    const source = 'command\n  emit g\nendcommand';
    const result = await runtime.run(source, options);
    const text = '{"10": 1, "$b": {"7": 1, "3": 2}, "2": 3}';
    expect(result.emits).toEqual([text, text, text]);
    for (const value of [...result.values, result.result]) {
      expect(value).toEqual({ 10: 1, $$b: { 7: 1, 3: 2 }, 2: 3 });
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
    const marked = await runtime.run(source, { ...options, markedKeys: true });
    const json = '{"$10":1,"$$b":{"$7":1,"$3":2},"$2":3}';
    for (const value of [...marked.values, marked.result]) expect(JSON.stringify(value)).toBe(json);
    const again = await runtime.run(source, { globals: { g: structuredClone(marked.result) } });
    expect(again.emits).toEqual([text]);
  });
});
