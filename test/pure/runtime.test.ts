import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { type AuditRecord, defineTool, Policy, type ToolDefinition } from '../../src/tools/index.ts';
import { pureTools, toolsTools } from '../../stdlib-tools/index.ts';
import { ALL } from '../stdlib-tools/call.ts';

const LENGTH = 'command\nemit tool.str.Length("héllo")\nendcommand\n';

const mock = (answer: unknown, name = 'tool.str.Length'): ToolDefinition =>
  defineTool({ name, args: [{ name: 'input_string' }], run: () => answer });

describe('what a run may call', () => {
  it('a policy decides before the run: what it denies is code 1003 with its reason, as for any tool', async () => {
    const tools = pureTools();
    await using denied = await createRuntime({ tools, concurrency: 1 });
    const nothing = await denied.run(LENGTH);
    expect([nothing.error?.code, nothing.error?.kind]).toEqual(['NS1003', 'policy']);
    expect(nothing.error?.message).toContain("tool 'tool.str.length' was not found in the policy's allow list");
    await using some = await createRuntime({
      tools,
      policy: { allow: ['tool.str.*'], deny: ['tool.str.toupper'] },
      concurrency: 1,
    });
    expect((await some.run(LENGTH)).emits).toEqual(['5']);
    const upper = await some.run('command\nemit tool.str.ToUpper("a")\nendcommand\n');
    expect(upper.error?.message).toContain('denied by policy rule: tool.str.toupper');
    const list = await some.run(
      'command\nemit tool.list.Length([])\non error do\nemit system_error.code\nclear_error\nendon\nendcommand\n',
    );
    expect(list.emits).toEqual(['1003']);
  });

  it('a policy of a fork can only tighten, and a breach halts where the policy says so', async () => {
    await using runtime = await createRuntime({ tools: pureTools(), policy: ALL, concurrency: 1 });
    const root = runtime.interpreter();
    const fork = root.fork({ policy: { allow: ['tool.math.*'], onPolicyBreach: 'halt' } });
    expect((await fork.execute('command\nemit tool.math.Add(1, 2)\nendcommand\n')).emits).toEqual(['3']);
    const halted = await fork.execute(`command\nemit tool.str.Length("a")\non error do\nclear_error\nendon\nendcommand\n`);
    expect([halted.ok, halted.error?.code]).toEqual([false, 'NS1003']);
  });

  it('a tool of the host with the same name takes its place: a registered one, and one of the fork alone', async () => {
    await using runtime = await createRuntime({ tools: [mock(42), ...pureTools()], policy: ALL, concurrency: 1 });
    const run = await runtime.run(LENGTH);
    expect([run.emits, run.usage.toolCalls, run.journal.length]).toEqual([['42'], 1, 1]);
    await using other = await createRuntime({ tools: [...pureTools(), mock(43)], policy: ALL, concurrency: 1 });
    expect((await other.run(LENGTH)).emits).toEqual(['43']);
    await using third = await createRuntime({ tools: pureTools(), policy: ALL, concurrency: 1 });
    expect(
      (
        await third
          .interpreter()
          .fork({ tools: [mock(44)] })
          .execute(LENGTH)
      ).emits,
    ).toEqual(['44']);
    expect((await third.interpreter().fork().execute(LENGTH)).emits).toEqual(['5']);
    await expect(createRuntime({ tools: [...pureTools(), ...pureTools('str')] })).rejects.toThrow(
      /there is a tool tool\.str\.Length already/,
    );
  });

  it('a tool that is not registered is unknown, even if the interpreter has it', async () => {
    await using runtime = await createRuntime({ tools: pureTools('math'), policy: ALL, concurrency: 1 });
    expect((await runtime.run(LENGTH)).error?.code).toBe('NS3');
  });

  it('counts as no tool call, is not recorded nor audited, and works where no call is allowed', async () => {
    const audited: AuditRecord[] = [];
    const audit = (record: AuditRecord): void => void audited.push(record);
    await using runtime = await createRuntime({
      tools: pureTools(),
      policy: ALL,
      audit,
      concurrency: 1,
      limits: { toolCalls: 0 },
    });
    const { emits, usage, journal } = await runtime.run(
      'command\nset n = 0\nwhile n < 5000\nset n = n + tool.str.Length("a")\nendwhile\nemit n\nendcommand\n',
    );
    expect([emits, usage.toolCalls, journal, audited]).toEqual([['5000'], 0, [], []]);
  });

  it('a limit of calls that nobody could count is refused when it is configured', async () => {
    const policy = new Policy({ allow: ['*'], toolMaxCalls: { 'tool.str.Length': 3 } });
    await expect(createRuntime({ tools: pureTools(), policy })).rejects.toThrow(
      /toolMaxCalls cannot bound tool\.str\.length: it runs inside/,
    );
    await using runtime = await createRuntime({ tools: pureTools(), policy: ALL, concurrency: 1 });
    expect(() => runtime.interpreter().fork({ policy })).toThrow(/toolMaxCalls cannot bound/);
    await using mocked = await createRuntime({ tools: [mock(1), ...pureTools()], policy, concurrency: 1 });
    expect((await mocked.run(LENGTH)).ok).toBe(true);
  });

  it('a tool of the host cannot call it: code 35 says where it runs', async () => {
    const asking = defineTool({ name: 'tool.t.Ask', run: (_, runtime) => runtime.callTool('tool.str.Length', ['a']) });
    await using runtime = await createRuntime({ tools: [asking, ...pureTools()], policy: ALL, concurrency: 1 });
    const { error } = await runtime.run('command\nemit tool.t.Ask()\nendcommand\n');
    expect([error?.code, error?.message]).toEqual(['NS35', 'tool.str.Length runs inside the isolate: only a script can call it']);
  });

  it('is called from procedures, event handlers and names of events too, in any spelling', async () => {
    await using runtime = await createRuntime({ tools: pureTools(), policy: ALL, concurrency: 1 });
    const source = [
      'func main(needs t) means\nreturn tool.STR.length(t)\nendfunc',
      'on event tool.str.ToLower("TICK") as e do\nemit tool.tool.str.ToUpper(e.payload[0].Payload)\nendon\n',
    ].join('\n');
    const { error, result, emits } = await runtime.run(source, {
      call: { name: 'main', args: ['😀😀'] },
      events: [{ name: 'tick', payload: 'x' }],
    });
    expect([error, result, emits]).toEqual([null, 2, ['X']]);
  });
});

describe('what comes before a run', () => {
  it('check knows the arguments of pure tools and what the policy says of them', async () => {
    await using runtime = await createRuntime({ tools: pureTools(), policy: { allow: ['tool.str.*'] }, concurrency: 1 });
    const text = 'command\nemit tool.str.Length("a", "b")\nemit tool.str.Lenght("a")\nemit tool.list.Length([])\nendcommand\n';
    const { findings } = await runtime.check([{ name: 'a.ns', text }]);
    expect(findings.map(({ code, line }) => [code, line])).toEqual([
      ['LINT_ARGUMENT_COUNT', 2],
      ['LINT_UNKNOWN_TOOL', 3],
      ['LINT_DENIED_TOOL', 4],
    ]);
  });

  it('the estimate counts them as what they are: no call to the host, and no variable that changes', async () => {
    await using runtime = await createRuntime({ tools: pureTools(), policy: ALL, concurrency: 1 });
    const text = 'command\nset n = 3\nset x = tool.str.Length("abc")\nwhile n > 0\nset n = n - 1\nendwhile\nendcommand\n';
    const { estimates } = await runtime.check([{ name: 'a.ns', text }]);
    const { usage } = await runtime.run(text);
    const [{ least, most, because } = { least: 0, most: 0, because: null }] = estimates;
    expect([least, most, because?.message]).toEqual([usage.fuel, null, 'the cost of `tool.str.Length` depends on its arguments']);
  });
});

describe('lists and maps that tools give and take (P25)', () => {
  const program = (call: string): string =>
    [
      'command',
      'set a = [[1, 2], [3], {"k": [4], "n": 1}]',
      'set m = {"x": [1], "y": {"z": [2]}}',
      'set before = tool.json.Stringify([a, m])',
      `set r = ${call}`,
      'set same = tool.json.Stringify(r)',
      'set r2 = r',
      'if is_list(r) and len(r) > 0',
      '  set r[0] = 99',
      'endif',
      'if is_list(r2) and len(r2) > 0',
      '  if is_list(r2[0]) and len(r2[0]) > 0',
      '    set r2[0][0] = 98',
      '  endif',
      '  if is_map(r2[0])',
      '    set r2[0].k = 97',
      '  endif',
      'endif',
      'if is_map(r2)',
      '  for each k, v in r2',
      '    if is_list(v)',
      '      set r2[k][0] = 96',
      '    endif',
      '  endfor',
      'endif',
      'emit before == tool.json.Stringify([a, m])',
      `set r = ${call}`,
      'set a[0][0] = "changed"',
      'set a[2].k[0] = "changed"',
      'set m.x[0] = "changed"',
      'set m.y.z[0] = "changed"',
      'emit same == tool.json.Stringify(r)',
      'endcommand',
    ].join('\n');

  const calls = [
    'tool.list.Append(a, a[0])',
    'tool.list.Prepend(a, m)',
    'tool.list.Insert(a, 1, m)',
    'tool.list.RemoveAt(a, 1)',
    'tool.list.Get(a, 0)',
    'tool.list.Get(a, 9, a)',
    'tool.list.Head(a)',
    'tool.list.Last(a)',
    'tool.list.Rest(a)',
    'tool.list.Tail(a, 2)',
    'tool.list.Slice(a, 0, 3)',
    'tool.list.Reverse(a)',
    'tool.list.Unique(a)',
    'tool.list.Flatten(a)',
    'tool.list.Chunk(a, 2)',
    'tool.list.Zip(a, a)',
    'tool.list.SortBy([a[2], a[2]], "n")',
    'tool.list.GroupBy([a[2]], "n")',
    'tool.map.Values(m)',
    'tool.map.Entries(m)',
    'tool.map.FromEntries([["x", a]])',
    'tool.map.Get(m, "x")',
    'tool.map.Set(m, "w", a)',
    'tool.map.Remove(m, "q")',
    'tool.map.Merge(m, {"v": a})',
    'tool.map.Pick(m, ["x", "y"])',
    'tool.map.Omit(m, ["q"])',
    'tool.shape.Select(m, "y.z")',
    'tool.shape.Select(a, [0])',
  ];

  it('are values: writing to one changes no other', async () => {
    await using runtime = await createRuntime({ tools: pureTools(), policy: ALL, concurrency: 1 });
    for (const call of calls) {
      const { emits, error } = await runtime.run(program(call));
      expect([call, error, emits]).toEqual([call, null, ['true', 'true']]);
    }
  });
});

describe('tool.tools', () => {
  const TOOLS = [...pureTools(), ...toolsTools()];
  const run = async (expression: string) => {
    await using runtime = await createRuntime({ tools: TOOLS, policy: ALL, concurrency: 1 });
    return await runtime.run(`command\nemit ${expression}\nendcommand\n`);
  };

  it('Help tells what a tool does, takes and gives, by any spelling of its name', async () => {
    const text = [
      'tool.str.Length(input_string: string) -> int',
      'Returns the number of characters (code points) in a string.',
      '  input_string: the string',
      'Example: tool.str.Length("héllo")  # 5',
    ].join('\n');
    for (const name of ['str.Length', 'tool.str.Length', 'STR.LENGTH'])
      expect((await run(`tool.tools.Help("${name}")`)).emits).toEqual([text]);
    const { error } = await run('tool.tools.Help("str.Lenght")');
    expect([error?.code, error?.hint]).toEqual(['NS3', 'did you mean tool.str.length?']);
  });

  it('List tells all that can be seen, or those of a part of a name; the reference has the same under meta', async () => {
    const [all] = (await run('tool.tools.List()')).values;
    expect(all).toHaveLength(TOOLS.length);
    expect((await run('tool.tools.List("str.tohex")')).values).toEqual([['tool.str.ToHex(input_string: string) -> string']]);
    expect((await run('len(tool.meta.ListTools())')).values).toEqual([TOOLS.length]);
    expect((await run('tool.meta.GetTool("str.Nope")')).values).toEqual([{ found: false }]);
    expect((await run('tool.meta.GetTool("list.Get")')).values[0]).toMatchObject({
      found: true,
      spec: {
        fullName: 'tool.list.Get',
        args: [{ name: 'list', required: true }, { name: 'index' }, { name: 'default', required: false }],
      },
    });
    expect((await run('tool.meta.ToolsHelp("math.add")')).emits[0]).toContain('### tool.math.Add');
  });

  it('is a call of the host, recorded like any', async () => {
    const { usage, journal } = await run('tool.tools.List("str.tohex")');
    expect([usage.toolCalls, journal.length]).toEqual([1, 1]);
  });
});
