// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type Runtime } from '../../src/entries/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { threadSandbox } from '../../src/sandbox/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { command } from '../cli/spawn.ts';

const OPTIONS = {
  concurrency: 1,
  policy: { allow: ['*'] },
  tools: [
    ...pureTools(),
    defineTool({ name: 'tool.t.Echo', args: [{ name: 'value', required: false }], run: ({ value }) => value ?? null }),
    defineTool({ name: 'tool.t.Set', args: [], run: (_given, caller) => caller.setVar('x', 2) }),
    defineTool({ name: 'tool.t.Never', args: [], run: () => new Promise<never>(() => {}) }),
  ],
};
const ENDLESS = command('while true', '  set x = 1', 'endwhile');

let threads: Runtime;
let processes: Runtime;
beforeAll(async () => {
  threads = await openRuntime(OPTIONS, threadSandbox);
  processes = await createRuntime(OPTIONS);
});
afterAll(() => Promise.all([threads.close(), processes.close()]));

describe('workers in threads', () => {
  it.each([
    ['values and calls', command('set x = 1', 'call tool.t.Set()', 'emit x', 'emit tool.t.Echo({"a": [1, "ä", nil]})')],
    ['calls that run together', command('emit together(tool.t.Echo(1), tool.t.Echo("b"))')],
    ['a pure tool', command('emit tool.text.Split("a b", " ")')],
    [
      'a frame of several pieces both ways',
      command(
        'set t = "x"',
        'for each i in [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]',
        '  set t = t + t',
        'endfor',
        'emit len(tool.t.Echo(t))',
      ),
    ],
    ['an error with its place', command('emit 1', 'emit missing')],
    ['a source that does not parse', 'command\n  emit )\nendcommand'],
    ['the limit of fuel', ENDLESS],
    ['the limit of memory', command('set l = ["x"]', 'while true', '  set l = l + l', 'endwhile')],
  ])('do with %s what processes do', async (_what, source) => {
    const settings = { limits: { fuel: 200_000, memoryBytes: 4 * 1024 * 1024, textLength: 1_000_000 } };
    const [here, there] = await Promise.all([threads, processes].map((runtime) => runtime.run(source, settings)));
    const seen = (result: typeof here) => ({
      ...{ emits: result?.emits, values: result?.values, error: result?.error, whispers: result?.whispers },
      ...{ fuel: result?.usage.fuel, memory: result?.usage.peakMemoryBytes, calls: result?.usage.toolCalls },
      journal: result?.journal.map(({ kind }) => kind),
    });
    expect(seen(here)).toEqual(seen(there));
    expect(here?.usage.fuel ?? here?.error).not.toBe(undefined);
  });

  it('evaluate as deep as processes do', async () => {
    const library = 'func f(needs n returns r) means\n  if n > 0\n    return 1 + f(n - 1)\n  endif\n  return 0\nendfunc\n';
    const run = (runtime: Runtime) =>
      runtime.run(library, { call: { name: 'f', args: [450] }, limits: { callDepth: 500, evalDepth: 10_000 } });
    const [here, there] = await Promise.all([threads, processes].map(run));
    expect(here?.error).toEqual(there?.error);
    expect(here?.result).toEqual(there?.result);
  });

  it('end when a run is cancelled while it computes, and another thread takes the next run', async () => {
    const cancel = new AbortController();
    const run = threads.run(ENDLESS, { signal: cancel.signal });
    setTimeout(() => cancel.abort(), 50);
    expect((await run).error?.code).toBe('ERR_CANCELLED');
    expect((await threads.run(command('emit 1'))).emits).toEqual(['1']);
  });

  it('end a call whose tool does not answer in time', async () => {
    const { error } = await threads.run(command('emit tool.t.Never()'), { limits: { toolMs: 30 } });
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', limit: 'toolMs' });
  });

  it('serve runs that follow each other within one round of the event loop', async () => {
    for (let n = 0; n < 200; n++)
      expect((await threads.run(command('emit tool.t.Echo(1)', 'emit tool.t.Echo(2)'))).emits).toEqual(['1', '2']);
  });

  it('are no launcher, and no option of a runtime selects them', async () => {
    expect(threads.launcher).toBe('none');
    await expect(createRuntime({ launcher: 'thread' as never })).rejects.toThrow('launcher must be one of');
  });
});
