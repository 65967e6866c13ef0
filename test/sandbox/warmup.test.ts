// @module-tag slow
import { afterAll, describe, expect, it } from 'vitest';
import type { Sandbox, SandboxResult } from '../../src/sandbox/index.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { RunInput } from '../../src/wire/protocol.ts';
import { childrenOf, sleep, until } from './children.ts';
import { closeSandboxes, handlers, OK, REAL, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const MB = 1024 * 1024;

/** A program that shows whatever a run of another one in the same isolate could have left: names, counters, texts, patterns, numbers of calls. */
const LIBRARY = `
func f(needs n) means
  if n == 0
    return [1, {'k': 'x'}]
  endif
  return f(n - 1)
endfunc
on event "e" as e do
  emit e
endon
`;
const COMMANDS = `
command
  on error do
    emit system_error_message
    clear_error
  endon
  emit typeof b
  emit typeof n
  emit self
  emit f(40)
  emit \`\`\`{{self}} of\`\`\` + len("é😀")
  emit eval("{{self}}")
  set x = tool.t.Hear([1, 2])
  emit x
  emit 1 / 0
  set l = []
  set l[300] = 1
  set s = 'x' * 3000
  emit len(s + l)
  whisper self, s
  call nothing(1)
endcommand
`;

const inputOf = (memoryBytes: number): RunInput => ({
  sources: [
    { name: 'lib', text: LIBRARY },
    { name: 'src', text: COMMANDS },
  ],
  globals: { given: 1 },
  call: { name: 'f', args: [2] },
  events: [{ name: 'e', source: 's', payload: null }],
  limits: { ...defaultLimits('run'), memoryBytes },
  forkId: 'fork',
  turn: false,
  stdin: false,
});

/** All that can be told of a run but its times. */
async function told(sandbox: Sandbox, memoryBytes: number): Promise<unknown> {
  const seen = handlers();
  const { result, usage, errors, outputComplete }: SandboxResult = await sandbox.run(inputOf(memoryBytes), seen);
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = usage;
  return {
    result,
    used: { fuel, peakMemoryBytes, toolCalls, outputBytes },
    errors,
    outputComplete,
    emits: seen.emits,
    calls: seen.calls,
  };
}

describe('an isolate in which a program of our own has run to warm it up', () => {
  it('is no different for a program from one that was made for it: same results, fuel, memory, numbers and errors', async () => {
    const sandbox = await sandboxOf({ files: REAL });
    const warm = await told(sandbox, defaultLimits('run').memoryBytes);
    // No isolate stands ready for such a limit, so these are made when they are asked for, and nothing has run in them.
    const cold = await told(sandbox, 100 * MB);
    expect(cold).toEqual(warm);
    // The next one of that limit is warm again, once the worker had time to prepare it.
    await sleep(200);
    expect(await told(sandbox, 100 * MB)).toEqual(warm);
    expect(warm).toMatchObject({ emits: expect.arrayContaining(['nil']), calls: [{ seq: 1, at: { fork: 'fork' } }] });
    await sandbox.close();
  });

  it('is made for the least memory there is, too', async () => {
    const sandbox = await sandboxOf({ files: REAL, memoryBytes: 64 * 1024 });
    const small: RunInput = {
      ...inputOf(64 * 1024),
      sources: [{ name: 'src', text: 'command\n  emit 1\nendcommand\n' }],
      call: null,
    };
    for (let n = 0; n < 3; n++) {
      expect((await sandbox.run(small, handlers())).result.error).toBeNull();
      await sleep(100);
    }
    await sandbox.close();
  });
});

describe('workers stand ready', () => {
  it('as many as may compute are started before anybody asks, and a run takes one of them', async () => {
    const before = new Set(childrenOf(process.pid));
    const sandbox = await sandboxOf({ files: REAL, concurrency: 2 });
    const own = (): number[] => childrenOf(process.pid).filter((pid) => !before.has(pid));
    // What limits a worker has ended before the worker is ready.
    await until(() => sandbox.load().idle === 2);
    const ready = own();
    expect(ready).toHaveLength(2);
    const one = 'command\n  call tool.t.Hear()\nendcommand\n';
    const both = Promise.withResolvers<void>();
    let open = 0;
    const meet = handlers(async () => {
      if (++open === 2) both.resolve();
      await both.promise;
      return OK;
    });
    const run = { ...inputOf(64 * MB), sources: [{ name: 'src', text: one }], call: null, events: [] };
    const results = await Promise.all([sandbox.run(run, meet), sandbox.run(run, meet)]);
    expect(results.map(({ result }) => result.error)).toEqual([null, null]);
    expect(own()).toEqual(ready);
    await sandbox.close();
  });

  it('one that is ended while it makes the next isolate costs nobody a run but the one that had it already', async () => {
    const before = new Set(childrenOf(process.pid));
    const sandbox = await sandboxOf({ files: REAL });
    const small: RunInput = {
      ...inputOf(64 * MB),
      sources: [{ name: 'src', text: 'command\n  emit 1\nendcommand\n' }],
      call: null,
      events: [],
    };
    for (let n = 0; n < 6; n++) {
      expect((await sandbox.run(small, handlers())).result.error).toBeNull();
      // The frame that asks for the next isolate goes out one turn of the event loop after the result.
      if (n % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      const mine = childrenOf(process.pid).filter((pid) => !before.has(pid));
      for (const pid of mine) process.kill(pid, 'SIGKILL');
      // The sandbox knows of the end when it has started another one.
      await until(() => childrenOf(process.pid).some((pid) => !before.has(pid) && !mine.includes(pid)));
    }
    await sandbox.close();
  });
});
