import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/entries/index.ts';
import { coerce } from '../../src/tools/define/argtypes.ts';
import type { Value } from '../../src/wire/values.ts';
import { fakeRuntime } from './fake.ts';

const tools = [
  defineTool({
    name: 'tool.memory.Put',
    args: [{ name: 'path' }, { name: 'value' }, { name: 'note', required: false }],
    run: () => null,
  }),
  defineTool({ name: 'tool.os.Sleep', requiresTrust: true, run: () => null }),
];
const magic = { name: 'tool.aeiou.magic', least: 2, most: 3 };

describe('what a check is told about the runtime', () => {
  it('its tools with their counts of arguments: those that are required at least', async () => {
    const { runtime, sandbox } = fakeRuntime(async () => undefined, { tools, policy: { allow: ['*'] } });
    await runtime.check([{ name: 'a', text: '' }], { globals: ['g'] });
    expect(sandbox.environment).toEqual({
      globals: ['g'],
      tools: [{ name: 'tool.memory.put', least: 2, most: 3 }, { name: 'tool.os.sleep', least: 0, most: 0 }, magic],
      complete: true,
      denied: [],
    });
    await runtime.check([{ name: 'a', text: '' }], { tools: 'any' });
    expect(sandbox.environment).toMatchObject({ complete: false });
  });

  it('what the arguments of the tools that are called have to be', async () => {
    const types = ['string', 'int', 'slice_int', 'map', 'bool', 'any'] as const;
    const own = ['tool.a.A', 'tool.a.B'].map((name) =>
      defineTool({ name, args: types.map((type, index) => ({ name: `a${index}`, type })), run: () => null }),
    );
    const { runtime, sandbox } = fakeRuntime(async () => undefined, { tools: own, policy: { allow: ['*'] } });
    sandbox.called = ['tool.a.a'];
    await runtime.check([{ name: 'a', text: '' }]);
    const takes = sandbox.environment?.tools?.flatMap((tool) => (tool.takes === undefined ? [] : [[tool.name, tool.takes]]));
    expect(takes).toEqual([['tool.a.a', ['string', 'number', 'list', 'map', null, null]]]);
    const literals: readonly (readonly [kind: string, value: Value])[] = [
      ['string', 'x'],
      ['number', 1],
      ['boolean', true],
      ['list', []],
      ['map', {}],
    ];
    for (const [index, type] of types.slice(0, 4).entries())
      for (const [kind, value] of literals)
        if (!(type === 'int' && kind === 'string'))
          expect([type, kind, coerce(type, value).ok]).toEqual([type, kind, kind === takes?.[0]?.[1]?.[index]]);
  });

  it("which of the host's own tools declare a boolean as their result", async () => {
    const made = (name: string, returns?: string | { readonly type: 'boolean' }) =>
      defineTool({ name, returns, run: () => true });
    const own = [made('tool.a.A', 'bool'), made('tool.a.B', { type: 'boolean' }), made('tool.a.C', 'string'), made('tool.a.D')];
    const { runtime, sandbox } = fakeRuntime(async () => undefined, { tools: own, policy: { allow: ['*'] } });
    await runtime.check([{ name: 'a', text: '' }]);
    expect(sandbox.environment?.tools?.flatMap(({ name, answers }) => (answers ? [name] : []))).toEqual(['tool.a.a', 'tool.a.b']);
  });

  it('which of the tools that the sources call its policy refuses, and why', async () => {
    const { runtime, sandbox } = fakeRuntime(async () => undefined, { tools, policy: { allow: ['*'], deny: ['*.put'] } });
    sandbox.called = ['tool.memory.put', 'tool.os.sleep', 'tool.memory.put', 'tool.other.x', 'tool.aeiou.magic'];
    await runtime.check([{ name: 'a', text: '' }]);
    expect(sandbox.environment?.denied?.map(({ name }) => name)).toEqual(['tool.memory.put', 'tool.os.sleep']);
    expect(sandbox.environment?.denied?.[0]?.reason).toBe("tool 'tool.memory.put' denied by policy rule: *.put");
    await runtime.check([{ name: 'a', text: '' }], { policy: false });
    expect(sandbox.environment?.denied).toEqual([]);
  });

  it('the tool of every turn needs no entry in the allow list', async () => {
    const { runtime, sandbox } = fakeRuntime(async () => undefined, {});
    sandbox.called = ['tool.aeiou.magic', 'tool.other.x'];
    await runtime.check([{ name: 'a', text: '' }]);
    expect(sandbox.environment?.denied?.map(({ name }) => name)).toEqual(['tool.other.x']);
  });
});
