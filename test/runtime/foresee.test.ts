import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { RealmSandbox } from '../../src/engine/sandbox.ts';
import { checkSettings, type ForeseeResult, type RunRequest, Runtime, type RuntimeSettings } from '../../src/runtime/index.ts';
import { checkedGrant, defineTool, type Grant, type ToolDefinition } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import type { Preview } from '../../src/wire/preview.ts';

const made: unknown[] = [];
const put = defineTool({
  name: 'tool.t.Put',
  args: [{ name: 'value', type: 'any', required: false }],
  setsVariables: false,
  run: ({ value }) => {
    made.push(value);
    return value ?? null;
  },
});
const setting = (name: string, setsVariables: boolean): ToolDefinition =>
  defineTool({ name, setsVariables, run: async (_, runtime) => runtime.setVar('a', 'set') });
const outer = defineTool({
  name: 'tool.t.Outer',
  setsVariables: false,
  run: (_, runtime) => runtime.callTool('tool.t.Set', []),
});
const approved = defineTool({ name: 'tool.t.Approved', requiresApproval: true, run: () => 1 });
const TOOLS = [put, setting('tool.t.Set', true), setting('tool.t.Kept', false), outer, approved];

function runtimeOf(settings: RuntimeSettings = {}): Runtime {
  const policy = { allow: ['tool.t.*'], deny: ['tool.t.Denied'] };
  return new Runtime(new RealmSandbox(), checkSettings({ tools: TOOLS, policy, ...settings }));
}

const command = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand`;

async function run(source: string, request: Partial<RunRequest> = {}) {
  await using runtime = runtimeOf();
  const fork = runtime.interpreter({ host: { logger: SILENT_LOGGER } }).fork();
  return await fork.runRequest({ sources: [{ name: 'src', text: source }], ...request });
}

async function preview(source: string, options: Parameters<Runtime['foresee']>[1] = {}): Promise<Preview> {
  await using runtime = runtimeOf();
  const foreseen: ForeseeResult = await runtime.foresee(source, options);
  if (!foreseen.ok) throw new Error(foreseen.diagnostics[0]?.message);
  return foreseen.preview;
}

async function grant(source: string): Promise<Grant> {
  await using runtime = runtimeOf();
  const foreseen = await runtime.foresee(source);
  if (!foreseen.ok) throw new Error(foreseen.diagnostics[0]?.message);
  return foreseen.grant;
}

describe('issue 22.3: what a runtime foresees of a run', () => {
  it('has the verdict of the policy, the effects, the limits, and says nothing of programs that cannot run', async () => {
    const source = command(
      'call tool.t.Put("a")',
      'call tool.x.Denied(1)',
      'call tool.t.Approved()',
      'while true',
      'call tool.t.Put(2)',
      'endwhile',
    );
    const { calls, fuel, toolCalls, because, sources } = await preview(source, { limits: { toolCalls: 7, toolCallsPerTool: 5 } });
    expect(
      calls.map(({ number, name, most, limitedBy, effects, verdict }) => [number, name, most, limitedBy, effects, verdict]),
    ).toEqual([
      [
        1,
        'tool.t.put',
        1,
        null,
        'write',
        {
          allowed: true,
          reason: 'the pattern tool.t.* of allow matches',
          rule: 'allow',
          approval: false,
          policy: 'keeps',
          path: [],
        },
      ],
      [
        2,
        'tool.x.denied',
        1,
        null,
        null,
        { allowed: false, reason: "tool 'tool.x.denied' not found", rule: null, approval: false, policy: 'breaks', path: [] },
      ],
      [
        3,
        'tool.t.approved',
        1,
        null,
        'write',
        {
          allowed: true,
          reason: 'the pattern tool.t.* of allow matches',
          rule: 'allow',
          approval: true,
          policy: 'keeps',
          path: [],
        },
      ],
      [4, 'tool.t.put', 5, 'toolCallsPerTool', 'write', expect.objectContaining({ allowed: true })],
    ]);
    expect([fuel.by, toolCalls]).toEqual(['limit', { most: 7, by: 'limit' }]);
    expect(because).toMatchObject({ file: 'src', line: 2 });
    expect(sources).toEqual([{ name: 'src', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    await using runtime = runtimeOf();
    expect(await runtime.foresee('command')).toMatchObject({ ok: false, preview: null, diagnostics: [{ file: 'src' }] });
    expect(made).toEqual([]);
  });

  it('knows the values, the libraries, the call and the events of the run, and what a turn finds', async () => {
    const lib = 'func f(needs a) means\ncall tool.t.Put(a)\nendfunc\non event "e" as x do\ncall f("event")\nendon\n';
    const { calls } = await preview(command('call f(v)'), {
      lib,
      values: { v: 3 },
      call: { name: 'f', args: [4] },
      events: [{ name: 'e' }],
    });
    expect(calls.map(({ args, file }) => [args, file])).toEqual([3, 4, 'event'].map((value) => [[{ value }], 'lib']));
    await using runtime = runtimeOf();
    const text = command('call tool.t.Put(userdata)', 'emit tool.aeiou.magic("LOOP", {"action": "done"})');
    const turn = await runtime
      .interpreter()
      .fork()
      .foresee({ sources: [{ name: 'a', text }], asTurn: true });
    expect(turn.preview?.calls.map(({ args, verdict }) => [args?.[0], verdict?.allowed])).toEqual([
      [{}, true],
      [{ value: 'LOOP' }, true],
    ]);
  });
});

describe('issue 22.3: a run that is bound to a grant', () => {
  it('refuses a call outside of it when the program makes it, with code 1003, and makes the others', async () => {
    made.length = 0;
    const bound = await grant(command('call tool.t.Put("a")', 'call tool.t.Put("b")'));
    const result = await run(command('call tool.t.Put("b")', 'call tool.t.Put("a")', 'call tool.t.Put("a")'), { bound });
    expect(result).toMatchObject({ ok: false, error: { code: 'NS1003', kind: 'policy', line: 4 } });
    expect(result.error?.message).toContain('outside of the grant: call 1 of it, tool.t.put, was made as often as it may be');
    const caught = command(
      'on error do',
      'emit system_error.code',
      'clear_error',
      'endon',
      'call tool.t.Put("c")',
      'call tool.t.Put("a")',
    );
    expect(await run(caught, { bound })).toMatchObject({ ok: true, emits: ['1003'] });
    expect(made).toEqual(['b', 'a', 'a']);
  });

  it('is bound together with the policy and approvals, and allows nothing that they deny', async () => {
    const source = command('call tool.t.Denied()');
    const denied = await run(source, { bound: await grant(source) });
    expect(denied.error?.code).not.toBeUndefined();
    const needs = command('call tool.t.Approved()');
    const refused = await run(needs, { bound: await grant(needs) });
    expect(refused.error).toMatchObject({ code: 'NS1003', message: expect.stringContaining('approv') });
  });

  it('issue 47: does not take the call of an argument for a later one, and knows that an argument is what another call returned', async () => {
    // In the text, the call with the argument stands first.
    expect((await grant(command('call tool.t.Put(tool.t.Kept())'))).order).toBeUndefined();
    const loop = command('for each id in tool.t.Kept()', 'call tool.t.Put(id)', 'endfor');
    expect((await grant(loop)).order).toEqual([{ tool: 'tool.t.put', needs: 'tool.t.kept', within: 'turn' }]);
    const source = command('set id = tool.t.Put(tool.t.Put("a"))', 'call tool.t.Put(id)');
    const bound = await grant(source);
    expect(bound.calls.map(({ number, returned }) => [number, returned])).toEqual([
      [1, undefined],
      [2, { value: { call: 1 } }],
      [3, { value: { call: 2 } }],
    ]);
    expect(await run(source, { bound })).toMatchObject({ ok: true });
    const other = await run(command('set id = tool.t.Put(tool.t.Put("a"))', 'call tool.t.Put("other")'), { bound });
    expect(other.error?.hint).toContain('value what call 1 returned');
  });

  it('refuses promptuser and ask outside of it, and calls that run together', async () => {
    const bound = await grant(command('call tool.t.Put(1)'));
    for (const lines of [['ask "m", "p" into a'], ['together', 'call tool.t.Put(1)', 'call tool.t.Put(2)', 'endtogether']])
      expect((await run(command(...lines), { bound })).error?.message).toContain('outside of the grant');
  });

  it('takes a grant as JSON, and refuses what is none', async () => {
    const bound = await grant(command('call tool.t.Put({"k": [1, x]}, -0 * 1)', 'ask "m", "p"'));
    const again: unknown = JSON.parse(JSON.stringify(bound));
    expect(() => checkedGrant('it', again)).not.toThrow();
    for (const bad of [
      null,
      {},
      { ...bound, version: 2 },
      { ...bound, calls: [{}] },
      { ...bound, calls: [{ ...bound.calls[0], when: { value: { min: 'x' } } }] },
      { ...bound, calls: [bound.calls[0], bound.calls[0]] },
    ])
      expect(() => checkedGrant('it', bad)).toThrow(ConfigError);
  });

  it('leaves the gate as it is: nothing of the gate knows previews, and a preview is no approval', () => {
    const gate = join(import.meta.dirname, '../../src/gate');
    const files = readdirSync(gate, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files)
      expect(readFileSync(join(gate, file), 'utf8')).not.toMatch(/preview|foresee|foreseen|\bbound\b.*calls/i);
  });
});

describe('issue 22.3: a tool that is declared to set no variables', () => {
  it('cannot, nor can the tools that it calls; any other tool can', async () => {
    const source = (tool: string): string =>
      command('set a = 1', 'on error do', 'emit system_error.code', 'clear_error', 'endon', `call tool.t.${tool}()`, 'emit a');
    expect((await run(source('Set'))).emits).toEqual(['set']);
    for (const tool of ['Kept', 'Outer']) expect((await run(source(tool))).emits).toEqual(['43', '1']);
  });
});
