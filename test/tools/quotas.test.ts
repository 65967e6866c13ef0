import { expect, it } from 'vitest';
import { defineTool, RecordedCalls, type ToolDefinition } from '../../src/tools/index.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import { Bench, SITE, variables } from './probe.ts';

const add = defineTool({ name: 'tool.t.add', run: () => 1 });

/** Calls `tool.t.add` so often. */
const outer: ToolDefinition = defineTool({
  name: 'tool.t.outer',
  args: [{ name: 'times', type: 'int' }] as const,
  run: async ({ times }, runtime) => {
    for (let call = 0; call < times; call++) await runtime.callTool('t.add', []);
  },
});

it('the calls of scripts and of tools to one tool count together against toolCallsPerTool', async () => {
  const bench = new Bench([add, outer], { limits: { toolCallsPerTool: 3 } });
  expect(await bench.call('tool.t.add')).toMatchObject({ t: 'ok' });
  expect(await bench.call('tool.t.outer', [2])).toMatchObject({ t: 'ok' });
  expect(await bench.call('tool.t.outer', [1])).toMatchObject({
    t: 'halt',
    error: { code: 'ERR_QUOTA', limit: 'toolCallsPerTool', allowed: 3, used: 4 },
  });
});

it('the calls of scripts and of tools count together against toolCalls', async () => {
  const within = new Bench([add, outer], { limits: { toolCalls: 4 } });
  expect(await within.call('tool.t.add')).toMatchObject({ t: 'ok' });
  expect(await within.call('tool.t.outer', [2])).toMatchObject({ t: 'ok' });
  const beyond = new Bench([add, outer], { limits: { toolCalls: 4 } });
  await beyond.call('tool.t.add');
  expect(await beyond.call('tool.t.outer', [3])).toMatchObject({
    t: 'halt',
    error: { limit: 'toolCalls', allowed: 4, used: 5 },
  });
});

it('a call of the script that comes after those of tools counts too', async () => {
  const bench = new Bench([add, outer], { limits: { toolCalls: 4 } });
  expect(await bench.call('tool.t.outer', [3])).toMatchObject({ t: 'ok' });
  expect(await bench.call('tool.t.add')).toMatchObject({ t: 'halt', error: { limit: 'toolCalls', allowed: 4, used: 5 } });
  const same = new Bench([add, outer], { limits: { toolCallsPerTool: 3 } });
  expect(await same.call('tool.t.outer', [3])).toMatchObject({ t: 'ok' });
  expect(await same.call('tool.t.add')).toMatchObject({ t: 'halt', error: { limit: 'toolCallsPerTool', allowed: 3, used: 4 } });
});

it('the calls that a recorded ask made count against toolCalls', async () => {
  const recorded: JournalEntry = {
    kind: 'ask',
    seq: 1,
    model: 'm',
    prompt: 'p',
    options: {},
    at: SITE,
    outcome: { ok: true, value: 'answer' },
    spent: { fuel: 1, toolCalls: 3, cpuMs: 1, turns: 1, tokens: 0 },
    begin: 0,
    ms: 1,
  };
  const made = { ...recorded, t: 'ask', left: { fuel: 9, memoryBytes: 9, toolCalls: 5 } } as const;
  const after = async (times: number) => {
    const bench = new Bench([add, outer], {
      limits: { toolCalls: 5 },
      init: { recorded: new RecordedCalls([recorded], { known: () => null }) },
    });
    expect(await bench.dispatcher.handle(made, variables())).toMatchObject({ t: 'ok', value: 'answer' });
    return bench.call('tool.t.outer', [times]);
  };
  expect(await after(1)).toMatchObject({ t: 'ok' });
  expect(await after(2)).toMatchObject({ t: 'halt', error: { limit: 'toolCalls', used: 6 } });
});
