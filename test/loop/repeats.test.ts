import { describe, expect, it } from 'vitest';
import { LoopController } from '../../src/loop/controller.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { explainTurn, plainPalette } from '../../src/report/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool, type ToolRuntime } from '../../src/tools/index.ts';
import { newKeyring, reply, TestClock } from './fake.ts';
import { run } from './host.ts';

describe('a turn that another process runs again (issue 20)', () => {
  it('makes the same call with the same key and a higher fence, and its record lists what may have happened twice', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const seen: ToolRuntime['call'][] = [];
    const reached = Promise.withResolvers<void>();
    const never = Promise.withResolvers<void>();
    const tools = (dies: boolean) => [
      defineTool({
        name: 'tool.t.Book',
        run: async (_, { call: { key, fence } }) => {
          seen.push({ key, fence });
          if (!dies) return 1;
          reached.resolve();
          await never.promise;
          return 1;
        },
      }),
      defineTool({ name: 'tool.t.Put', effects: 'write', idempotent: true, run: () => 1 }),
      defineTool({ name: 'tool.t.Look', effects: 'read', run: () => 1 }),
    ];
    const host = async (dies: boolean) => {
      const runtime = await createRuntime({ tools: tools(dies), policy: { allow: ['tool.t.*'] }, concurrency: 1 });
      const loop = new LoopController({ runtime, clock, store, keyring: newKeyring('test', clock), owner: String(dies) });
      return { runtime, loop };
    };
    const program =
      'command\nset a = tool.t.Put()\nset b = tool.t.Look()\nset c = tool.t.Book()\nemit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
    const agent = { reply: async () => reply(program) };
    const [dead, next] = [await host(true), await host(false)];
    const given = dead.loop.runLoop(run(agent)).catch(() => null);
    await reached.promise;
    // The lease ends, and another host takes the session over and dies.
    clock.ms += 60_000;
    const { fence } = await store.claim('s', { owner: 'other', ms: 1 });
    await store.release('s', fence);
    never.resolve();
    await given;
    const { decision, turns } = await next.loop.resume('s', { agent });
    expect(decision).toBe('DONE');
    expect(seen.map(({ key }) => key)).toEqual(Array(2).fill(expect.stringMatching(/^s\/1\.1\/[\w-]{22}$/)));
    expect(seen.map(({ fence }) => fence)).toEqual([1, 3]);
    const [record] = turns;
    expect(record?.repeats).toEqual([3]);
    const lines = record === undefined ? [] : explainTurn(record, plainPalette);
    expect(lines.filter((line) => line.includes('twice'))).toHaveLength(1);
    await dead.runtime.close();
    await next.runtime.close();
  });
});
