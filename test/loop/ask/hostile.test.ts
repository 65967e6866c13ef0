import { expect, it } from 'vitest';
import type { AskRequest, SandboxPort } from '../../../src/runtime/index.ts';
import { Runtime } from '../../../src/runtime/runtime.ts';
import { checkSettings } from '../../../src/runtime/settings.ts';
import type { CallIo } from '../../../src/sandbox/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import type { AskLeft, GuestCall } from '../../../src/wire/protocol.ts';
import { NO_USAGE } from '../../../src/wire/result.ts';

const AT = { fork: 'f', source: 's', line: 1, column: 1 };
const io: CallIo = {
  signal: new AbortController().signal,
  over: false,
  whenOver: () => () => {},
  queries: [],
  repeat: async () => {},
  getVar: async () => ({ found: false, value: null }),
  setVar: async () => null,
  defineConst: async () => null,
};

/** A sandbox whose guest was taken over: it makes these calls, whatever the program is. */
function rogue(calls: readonly GuestCall[]): SandboxPort {
  return {
    async run(_, handlers) {
      let cpuMs = 0;
      for (const call of calls) {
        const reply = await handlers.onCall(call, { ...io, cpuMs: () => cpuMs });
        if ('spent' in reply && reply.spent !== undefined) cpuMs += reply.spent.cpuMs;
      }
      const done = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null } as const;
      const counted = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
      return { result: { ...done, ...counted }, usage: NO_USAGE, errors: [], outputComplete: true };
    },
    parse: async () => ({ diagnostics: [], files: [] }),
    foresee: async () => ({ diagnostics: [], foreseen: null }),
    check: async () => ({ diagnostics: [], files: [], findings: [], estimates: [] }),
    format: async ({ text }) => ({ text, diagnostics: [] }),
    close: async () => {},
  };
}

it('threat: a guest that lies about what it has left gets no more than its limits, less what the host has charged and counted', async () => {
  const lie: AskLeft = { fuel: 1e15, memoryBytes: 2 ** 40, toolCalls: 1e9 };
  const ask = (seq: number): GuestCall => ({ t: 'ask', seq, model: 'm', prompt: 'p', options: null, left: lie, at: AT });
  const tool: GuestCall = { t: 'tool', seq: 2, name: 'tool.t.Many', args: [], at: AT };
  const lefts: AskRequest['left'][] = [];
  const spent = { fuel: 700, toolCalls: 4, cpuMs: 300, turns: 1, tokens: 0 };
  const limits = { fuel: 1000, memoryBytes: 1_000_000, toolCalls: 10, cpuMs: 500, wallMs: 60_000 };
  const one = defineTool({ name: 'tool.t.One', run: () => 1 });
  const many = defineTool({
    name: 'tool.t.Many',
    run: async (_, runtime) => {
      await runtime.callTool('tool.t.One', []);
      return runtime.callTool('tool.t.One', []);
    },
  });
  const settings = checkSettings({
    limits,
    tools: [one, many],
    policy: { allow: ['tool.t.*'] },
    ask: async ({ left }) => {
      lefts.push(left);
      return { t: 'ok', value: null, spent };
    },
  });
  await using runtime = new Runtime(rogue([ask(1), tool, ask(3), ask(4)]), settings);
  await runtime.run('command\nendcommand');
  const shown = lefts.map(({ fuel, memoryBytes, toolCalls, cpuMs }) => ({ fuel, memoryBytes, toolCalls, cpuMs }));
  expect(shown).toEqual([
    { fuel: 1000, memoryBytes: 1_000_000, toolCalls: 10, cpuMs: 500 },
    // Four calls of the first loop, one of the program, two of its tool.
    { fuel: 300, memoryBytes: 1_000_000, toolCalls: 3, cpuMs: 200 },
    { fuel: 0, memoryBytes: 1_000_000, toolCalls: 0, cpuMs: 0 },
  ]);
});
