import { describe, expect, it, onTestFinished } from 'vitest';
import { createRuntime, type RunRequest, type RuntimeOptions } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import type { RunResult } from '../../src/wire/result.ts';
import { Handle } from '../../src/wire/values.ts';

async function forks(options: RuntimeOptions = {}): Promise<(text: string, request?: RunRequest) => Promise<RunResult>> {
  const runtime = await createRuntime({ concurrency: 1, ...options });
  onTestFinished(() => runtime.close());
  const root = runtime.interpreter();
  const turn = runtime.turn({ sessionId: 's', turnIndex: 1 });
  return (text, request = {}) =>
    root.fork({ turn }).runRequest({ sources: [{ name: 'typed', text, interactive: true }], ...request });
}

describe('variables that go from run to run', () => {
  it('are found set, and what the command blocks leave comes back, exactly', async () => {
    const run = await forks();
    const first = await run(
      'set m = {"10": 1, "2": [nil, true], "$num": "x"}\nset zero = -0\nset none = nil\nset t = "z\\u00e4\\u0000\\n"',
      { variables: [] },
    );
    expect(first).toMatchObject({ ok: true, variables: { lost: [] } });
    expect(first.variables?.kept).toContainEqual({ name: 'zero', value: { $num: '-0' } });
    const second = await run('emit m\nemit none\nset m["3"] = t\nset none = 5', {
      variables: first.variables?.kept ?? [],
    });
    expect(second.emits).toEqual(['{"10": 1, "2": [nil, true], "$num": "x"}', 'nil']);
    const third = await run('emit m\nemit none', { variables: second.variables?.kept ?? [] });
    expect(third.emits).toEqual(['{"10": 1, "2": [nil, true], "$num": "x", "3": "zä\\x00\\n"}', '5']);
  });

  it('a name that no source mentions travels too, and so do those that no object should have as a key', async () => {
    const run = await forks();
    const first = await run('set __proto__ = 1\nset constructor = [2]', { variables: [] });
    const second = await run('set other = 3', { variables: first.variables?.kept ?? [] });
    expect(second.variables?.kept).toEqual([
      { name: '__proto__', value: 1 },
      { name: 'constructor', value: [2] },
      { name: 'other', value: 3 },
    ]);
  });

  it('a handle is still the same object of the session', async () => {
    class Box {
      readonly text: string;
      constructor(text: string) {
        this.text = text;
      }
    }
    const open = defineTool({
      name: 'tool.box.Open',
      args: [{ name: 'text', type: 'string' }],
      run: ({ text }, runtime) => runtime.handles.create('box', new Box(text)),
    });
    const look = defineTool({
      name: 'tool.box.Look',
      args: [{ name: 'box', type: 'any' }],
      run: ({ box }, runtime) => {
        const found = box instanceof Handle ? runtime.handles.get(box, 'box') : null;
        return found instanceof Box ? found.text : null;
      },
    });
    const run = await forks({ tools: [open, look], policy: { allow: ['tool.box.*'] } });
    const first = await run('set box = tool.box.Open("inside")', { variables: [] });
    expect(first.error).toBeNull();
    const second = await run('emit tool.box.Look(box)', { variables: first.variables?.kept ?? [] });
    expect(second.emits).toEqual(['inside']);
  });

  it('what a tool sets under a name of its own is kept', async () => {
    const tool = defineTool({ name: 'tool.x.Set', args: [], run: (_, runtime) => runtime.setVar('from_tool', 7) });
    const run = await forks({ tools: [tool], policy: { allow: ['tool.x.*'] } });
    const result = await run('call tool.x.Set()', { variables: [] });
    expect(result.variables?.kept).toEqual([{ name: 'from_tool', value: 7 }]);
  });

  it('what does not fit into an answer of a tool is named, and the rest is kept', async () => {
    const run = await forks({ limits: { toolBytes: 200 } });
    const long = 'x'.repeat(180);
    const result = await run(`set a = 1\nset long = "${long}"\nset list = ["${long}", 1]\nset b = 2`, { variables: [] });
    expect(result).toMatchObject({ ok: true, variables: { lost: ['long', 'list'] } });
    expect(result.variables?.kept.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('they count as any other value: a run that has no room for them is over its memory', async () => {
    const run = await forks();
    const value = 'x'.repeat(600_000);
    const result = await run('set y = 1', { variables: [{ name: 'x', value }], limits: { memoryBytes: 1024 * 1024 } });
    expect(result.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'memoryBytes' });
  });

  it('a run that fails leaves none, one that was given none neither', async () => {
    const run = await forks();
    expect(await run('set x = 1\nemit 1 / 0', { variables: [] })).not.toHaveProperty('variables');
    expect(await run('set x = 1')).not.toHaveProperty('variables');
    expect(await run('func f() means\nreturn 1\nendfunc', { variables: [] })).not.toHaveProperty('variables');
  });

  it('a source that was typed is no file, though it has the same name and text', async () => {
    const run = await forks();
    expect((await run('emit 1')).emits).toEqual(['1']);
    const file = await run('', { sources: [{ name: 'typed', text: 'emit 1' }] });
    expect(file).toMatchObject({ ok: false, phase: 'parse', emits: [] });
    expect((await run('emit 1')).emits).toEqual(['1']);
  });

  it.each([['endif'], ['a b'], ['']])('the name %j is refused', async (name) => {
    const run = await forks();
    const request = { variables: [{ name, value: 1 }] };
    await expect(run('emit 1', request)).rejects.toBeInstanceOf(ConfigError);
  });
});

describe('definitions that take the place of earlier ones', () => {
  const first = { name: 'a', text: 'func f() means\nreturn 1\nendfunc\nfunc g() means\nreturn f()\nendfunc' };
  const second = { name: 'b', text: 'func f() means\nreturn 2\nendfunc' };
  const use = { name: 'c', text: 'emit g()', interactive: true };

  it('every caller gets the later one', async () => {
    const run = await forks();
    expect((await run('', { sources: [first, second, use], redefine: true })).emits).toEqual(['2']);
  });

  it('without being asked for it is code 42 as ever', async () => {
    const run = await forks();
    expect((await run('', { sources: [first, second, use] })).error).toMatchObject({ code: 'NS42' });
  });
});
