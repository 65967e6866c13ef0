import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerRequest, defineTool, type Runtime } from '../../src/entries/index.ts';
import { ScriptBench } from '../../src/testing/index.ts';

let bench: ScriptBench;
let runtime: Runtime;
let calls = 0;
beforeAll(async () => {
  bench = await ScriptBench.create({
    tools: [defineTool({ name: 'tool.t.Ok', run: () => ++calls }), defineTool({ name: 'tool.t.Denied', run: () => ++calls })],
    policy: { allow: ['tool.t.*'], deny: ['*.denied'] },
  });
  runtime = bench.runtime;
});
afterAll(() => bench[Symbol.asyncDispose]());

const LIB = 'func one() means\n  return 1\nendfunc\n';
const COMMAND = 'command\n  emit one()\nendcommand\n';

describe('a library holds definitions', () => {
  it('so a command block in it is a usage error with its place, and nothing runs', async () => {
    const expected = {
      ok: false,
      phase: 'load',
      emits: [],
      error: { kind: 'usage', code: 'ERR_USAGE', source: 'lib2', line: 2, column: 1 },
      usage: { fuel: 0 },
    };
    expect(await runtime.run(COMMAND, { lib: [LIB, `\n${COMMAND}`] })).toMatchObject(expected);
    const line = JSON.stringify({ src: COMMAND, lib: [LIB, `\n${COMMAND}`] });
    expect(await answerRequest(runtime, line)).toMatchObject(expected);
    // A tree that the worker still has from before is looked at as well.
    expect(await answerRequest(runtime, line)).toMatchObject(expected);
  });

  it('and the same text as a source of its own runs', async () => {
    (await bench.run(COMMAND, { lib: LIB })).expectEmits('1');
    const sources = [LIB, COMMAND].map((text, index) => ({ name: `f${index}`, text }));
    expect(await runtime.interpreter().fork().runRequest({ sources })).toMatchObject({ ok: true, emits: ['1'] });
  });

  it('syntax errors come first', async () => {
    expect(await runtime.run('', { lib: 'command\n  emit )\nendcommand\n' })).toMatchObject({
      phase: 'parse',
      error: { kind: 'syntax' },
    });
  });
});

describe('checkFirst', () => {
  const both = 'command\n  emit tool.t.Ok()\n  emit tool.t.Denied()\nendcommand\n';

  it('executes nothing when any call that stands there would be denied', async () => {
    calls = 0;
    const result = await runtime.run(both, { checkFirst: true });
    expect(result).toMatchObject({
      ok: false,
      phase: 'request',
      emits: [],
      journal: [],
      error: {
        kind: 'policy',
        code: 'NS1003',
        source: 'src',
        line: 3,
        message: expect.stringContaining('denied by policy rule: *.denied'),
      },
    });
    expect(calls).toBe(0);
  });

  it('sees libraries of the root, and calls that no path leads to', async () => {
    const root = runtime.interpreter();
    await root.load('func never() means\n  return tool.t.Denied()\nendfunc\n', 'mylib');
    expect(await root.fork().execute('command\n  emit 1\nendcommand\n', { checkFirst: true })).toMatchObject({
      error: { code: 'NS1003', source: 'mylib', line: 2 },
    });
  });

  it('without it the program runs up to the call', async () => {
    calls = 0;
    expect(await runtime.run(both)).toMatchObject({ ok: false, phase: 'exec', emits: ['1'], error: { code: 'NS1003' } });
    expect(calls).toBe(1);
    await expect(runtime.run(both, { checkFirst: 1 as never })).rejects.toThrow('checkFirst must be true or false, got number');
  });
});

describe('a turn that is checked first', () => {
  const turn = (...texts: readonly string[]) =>
    runtime
      .interpreter()
      .fork()
      .runRequest({ sources: texts.map((text, index) => ({ name: `f${index}`, text })), asTurn: true, checkFirst: true });

  it('is rejected with every denied call, in their order, and its definitions may name any tool', async () => {
    const result = await turn(LIB, 'command\n  call tool.t.Denied()\n  call tool.t.Ok()\n  call tool.t.denied()\nendcommand\n');
    expect(result).toMatchObject({ ok: false, usage: { fuel: 0 }, error: { code: 'NS1003', source: 'f1', line: 2 } });
    expect(result.findings?.map(({ line, tool }) => [line, tool])).toEqual([
      [2, 'tool.t.denied'],
      [4, 'tool.t.denied'],
    ]);
    const library = 'func never() means\n  return tool.t.Denied()\nendfunc\n';
    expect(await turn(library, 'command\n  emit 1\nendcommand\n')).toMatchObject({ ok: true, emits: ['1'] });
  });

  it('is rejected with every syntax error and its fix, or because it is not one command block', async () => {
    const { errors = [] } = await turn('command\n  let x = 1\n  let y = 2\nendcommand\n');
    expect(errors.map(({ line, fix }) => [line, fix?.edits.length])).toEqual([
      [2, 1],
      [3, 1],
    ]);
    const two = 'command\n  emit 1\nendcommand\n';
    expect(await turn(`${two}${two}`)).toMatchObject({
      emits: [],
      error: { kind: 'syntax', message: expect.stringContaining('2 command blocks') },
    });
    expect(await turn(two, two)).toMatchObject({ emits: [], error: { kind: 'syntax' } });
  });
});
