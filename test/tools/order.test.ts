import { describe, expect, it } from 'vitest';
import { ScriptRun, ToolBench } from '../../src/testing/index.ts';
import { journalText } from '../../src/testing/journal.ts';
import { NOT_APPROVED } from '../../src/tools/dispatch/approval.ts';
import { defineTool, loadMockTools, recordTools } from '../../src/tools/index.ts';
import { usageError } from '../../src/wire/errorinfo.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { refusedResult } from '../../src/wire/result.ts';
import { Bench, SITE, variables } from './probe.ts';

const map = new Map<string, unknown>([
  ['10', 1],
  ['$b', [true]],
  [
    '2',
    new Map([
      ['7', 'x'],
      ['3', null],
    ]),
  ],
]);
const JSON_TEXT = '{"$10":1,"$$b":[true],"$2":{"$7":"x","$3":null}}';
const same = defineTool({ name: 'tool.o.Same', args: [{ name: 'm', type: 'any' }], orderedMaps: true, run: ({ m }) => m });

const answered = (reply: unknown): string => JSON.stringify(Object(reply).value);

describe('P9: whole-number keys in mocks', () => {
  it('a recording keeps their places, and answers calls with the same keys in any order', async () => {
    const bench = new Bench([same]);
    expect(answered(await bench.call('tool.o.Same', [map]))).toBe(JSON_TEXT);
    const { text } = recordTools(bench.dispatcher.finish(null).entries, [same]);
    const mocks = (): Bench => new Bench(loadMockTools(text, 'calls.yaml'));
    expect(answered(await mocks().call('tool.o.Same', [map]))).toBe(JSON_TEXT);
    expect(answered(await mocks().call('tool.o.Same', [new Map([...map].reverse())]))).toBe(JSON_TEXT);
  });

  it('calls with the same keys in another order are one case', async () => {
    const bench = new Bench([same]);
    await bench.call('tool.o.Same', [
      new Map([
        ['10', 1],
        ['2', 2],
      ]),
    ]);
    await bench.call('tool.o.Same', [
      new Map([
        ['2', 2],
        ['10', 1],
      ]),
    ]);
    const { text } = recordTools(bench.dispatcher.finish(null).entries, [same]);
    expect(text.match(/when:/g)).toHaveLength(1);
  });

  it('a file names them with a $, also around what is computed; messages and texts show them without', async () => {
    const file = `
tools:
  tool.o.Make: { args: [a], cases: [{ returns: { $10: { $arg: a }, x: 1, $2: { $default: [{ $arg: a }, 3] } } }] }
  tool.o.Text: { args: [a], cases: [{ returns: { $text: "got {{a}}" } }] }
  tool.o.Want: { args: [a], cases: [{ when: { a: [{ "10": 1 }] }, returns: 1 }] }
  tool.o.Put: { args: [a], cases: [{ set: [{ at: [kept, { $arg: a }], to: 1 }], returns: { $state: kept } }] }
`;
    const bench = new Bench(loadMockTools(file, 'tools.yaml'));
    expect(answered(await bench.call('tool.o.Make', [7]))).toBe('{"$10":7,"x":1,"$2":7}');
    expect(answered(await bench.call('tool.o.Text', [map]))).toBe(
      '"got {\\"10\\":1,\\"$$b\\":[true],\\"2\\":{\\"7\\":\\"x\\",\\"3\\":null}}"',
    );
    expect(await bench.call('tool.o.Want', [map])).toMatchObject({
      message: expect.stringContaining('{"10":1,"$$b":[true],"2":'),
    });
    for (const key of ['9', '10', '2', '9']) await bench.call('tool.o.Put', [key]);
    expect(answered(await bench.call('tool.o.Put', ['9']))).toBe('{"$9":1,"$10":1,"$2":1}');
  });
});

describe('P9: whole-number keys around a call', () => {
  it('the plan that a human approves is that of the values, in whatever order', async () => {
    const tool = defineTool({ name: 'tool.o.Same', args: [{ name: 'm' }], requiresApproval: true, run: ({ m }) => m });
    const told = await Promise.all(
      [map, new Map([...map].reverse())].map((value) => new Bench([tool]).call('tool.o.Same', [value])),
    );
    for (const reply of told)
      expect(reply).toMatchObject({ t: 'error', code: 1003, message: expect.stringContaining(NOT_APPROVED) });
    expect(told.map((reply) => Object(reply).hint)).toEqual([
      'the plan is {"tool":"tool.o.same","args":[{"2":{"3":null,"7":"x"},"10":1,"$$b":[true]}]}',
      'the plan is {"tool":"tool.o.same","args":[{"2":{"3":null,"7":"x"},"10":1,"$$b":[true]}]}',
    ]);
  });

  it('a key twice, which no program can send, is no argument', async () => {
    const bench = new Bench([same]);
    const call = { t: 'tool', seq: 1, name: 'tool.o.Same', args: [{ 10: 1, $10: 2 }], at: SITE } as const;
    expect(await bench.dispatcher.handle(call, variables())).toMatchObject({ t: 'error', code: 4 });
  });

  it('a bench of the kit gives what a program would get; expectations do not ask for the order', async () => {
    await using bench = new ToolBench([same]);
    expect(await bench.call('tool.o.Same', [map])).toEqual({ 2: { 3: null, 7: 'x' }, 10: 1, $b: [true] });
    const args: TaggedJson[] = JSON.parse(`[${JSON_TEXT}]`);
    const journal = [
      {
        kind: 'tool',
        seq: 1,
        name: 'tool.o.same',
        args,
        at: SITE,
        outcome: { ok: true, value: args[0] ?? null },
        begin: 0,
        ms: 1,
      },
    ] as const;
    const run = new ScriptRun({ ...refusedResult(usageError('none')), journal, values: [{ 2: 1, 10: 2 }] });
    const plain = { 2: { 3: null, 7: 'x' }, 10: 1, $b: [true] };
    run.expectCalls({ tool: 'tool.o.Same', args: [plain], returns: map });
    run.expectValues(
      new Map([
        ['10', 2],
        ['2', 1],
      ]),
    );
    const shown = '{"2":{"3":null,"7":"x"},"10":1,"$$b":[true]}';
    expect(journalText(journal)).toBe(`test.ns:2 tool.o.same(${shown}) -> ${shown}\n`);
  });
});
