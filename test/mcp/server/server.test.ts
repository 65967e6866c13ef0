import { existsSync } from 'node:fs';
import type { Client, ProgressCallback } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeEnvelope } from '../../../src/aeiou/index.ts';
import type { mcpServers } from '../../../src/mcp/index.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { SLOW } from '../../groups.ts';
import { connected, service } from './kit.ts';

let runtime: Runtime;
let servers: ReturnType<typeof mcpServers>;
let client: Client;

const number = { args: [{ name: 'n', type: 'number' }] } as const;
const twice = defineTool({ name: 'tool.test.Twice', ...number, effects: 'none', run: ({ n }) => 2 * n });
const denied = defineTool({ name: 'tool.test.Denied', ...number, run: ({ n }) => 2 * n });
const keep = defineTool({ name: 'tool.test.Keep', effects: 'read', run: (_, call) => call.sandboxDir() });

beforeAll(async () => {
  const policy = { allow: ['tool.test.twice', 'tool.test.keep'] };
  ({ runtime, servers } = await service(
    [twice, keep, denied],
    { tools: [twice, keep] },
    { policy, limits: { fuel: 100_000 }, concurrency: 2 },
  ));
  client = await connected(servers);
});

afterAll(async () => {
  await client.close();
  await runtime.close();
});

async function call(name: string, args: Record<string, unknown>): Promise<[isError: boolean, value: unknown]> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  const [first] = content;
  if (structuredContent !== undefined && first?.type === 'text') expect(first.text).toBe(JSON.stringify(structuredContent));
  return [isError === true, structuredContent ?? (first?.type === 'text' ? first.text : first)];
}

describe('this runtime as an MCP server', () => {
  it('offers run, check, turn and tools, each described', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['run', 'check', 'turn', 'tools']);
    for (const { description } of tools) expect(description?.length).toBeGreaterThan(20);
    expect(await call('tools', {})).toEqual([false, expect.stringContaining('tool.test.Twice(n: number)')]);
    expect(await call('tools', { names: '*keep' })).toEqual([false, expect.not.stringContaining('tool.test.Twice')]);
    expect(await call('tools', { names: 'tool.no.*' })).toEqual([false, 'no tool has a name like tool.no.*']);
  });

  it('runs a program with a library, arguments and globals, as run --jsonl does', async () => {
    const args = {
      src: 'func f(needs x) means\n  emit g\n  return tool.test.Twice(x)\nendfunc',
      call: 'f',
      args: [21],
      globals: { g: 'hi' },
    };
    expect(await call('run', args)).toEqual([
      false,
      expect.objectContaining({ ok: true, emits: ['hi'], result: 42, error: null }),
    ]);
  });

  it('says what went wrong: the program, the policy, a limit, the request', async () => {
    const codeOf = async (args: Record<string, unknown>) => {
      const [isError, value] = await call('run', args);
      return [isError, (value as { error: { code: string } }).error.code];
    };
    expect(await codeOf({ src: 'command\n  fail "x"\nendcommand' })).toEqual([true, 'NS1']);
    expect(await codeOf({ src: 'command\n  emit (\nendcommand' })).toEqual([true, 'NS15']);
    expect(await codeOf({ src: 'command\n  emit tool.test.Denied(1)\nendcommand' })).toEqual([true, 'NS1003']);
    expect(await codeOf({ src: 'command\n  while true\n    set x = 1\n  endwhile\nendcommand' })).toEqual([true, 'ERR_QUOTA']);
    expect(await codeOf({ src: 'command\nendcommand', limits: { fule: 1 } })).toEqual([true, 'ERR_USAGE']);
    expect(await codeOf({ src: 'command\nendcommand', limits: { fuel: 0 } })).toEqual([true, 'ERR_USAGE']);
  });

  it('checks programs without running them', async () => {
    expect(await call('check', { sources: { 'a.ns': 'command\n  emit 1\nendcommand' } })).toEqual([
      false,
      expect.objectContaining({ findings: [], cost: [expect.objectContaining({ kind: 'command' })] }),
    ]);
    const [isError, report] = await call('check', { sources: { 'a.ns': 'command\n  call nothing()\nendcommand' } });
    expect([isError, report]).toEqual([true, expect.objectContaining({ findings: [expect.objectContaining({ line: 2 })] })]);
  });

  it('runs a turn and decides', async () => {
    const actions = 'command\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
    const envelope = composeEnvelope({ userdata: '{"subject":"s","fields":{}}', actions });
    const [isError, turn] = await call('turn', { envelope: new TextDecoder().decode(envelope), sid: 's-1', turn: 3 });
    expect([isError, turn]).toEqual([false, expect.objectContaining({ sid: 's-1', turn: 3, decision: 'DONE' })]);
    const [halted] = await call('turn', { envelope: 'nonsense' });
    expect(halted).toBe(true);
  });

  it('keeps nothing for a session that is over, so that no client fills the machine turn by turn', async () => {
    const turn = async (action: string) => {
      const actions = `command\n  emit tool.test.Keep()\n  emit tool.aeiou.magic("LOOP", {"action": "${action}"})\nendcommand`;
      const envelope = composeEnvelope({ userdata: '{"subject":"s","fields":{}}', actions });
      const [, value] = await call('turn', { envelope: new TextDecoder().decode(envelope) });
      const [path = ''] = (value as { output: string }).output.split('\n');
      return existsSync(path);
    };
    expect(await Promise.all([turn('continue'), turn('done'), turn('abort')])).toEqual([true, false, false]);
  });

  it('ends a program when its client no longer waits', async () => {
    const controller = new AbortController();
    const src = 'command\n  while true\n    set x = 1\n  endwhile\nendcommand';
    const running = client.callTool({ name: 'run', arguments: { src } }, { signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toThrow();
    expect((await call('run', { src: 'command\n  emit 1\nendcommand' }))[0]).toBe(false);
  });

  it('refuses arguments of the wrong form before anything runs', async () => {
    for (const [tool, args] of Object.entries({
      run: { src: 'command\nendcommand', limit: { fuel: 5 } },
      check: { sources: {}, source: '' },
      turn: { envelope: '', id: 's' },
      tools: { name: 'tool.str.*' },
    }))
      expect(await call(tool, args)).toEqual([true, expect.stringContaining(Object.keys(args).at(-1) ?? '')]);
    const [isError, text] = await call('run', { src: 5 });
    expect([isError, text]).toEqual([true, expect.stringContaining('src')]);
  });

  it('answers with structured content that fits the output schema of each tool, whatever the outcome', async () => {
    const { tools } = await client.listTools();
    const actions = 'command\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
    const envelope = new TextDecoder().decode(composeEnvelope({ userdata: '{"subject":"s","fields":{}}', actions }));
    const answers: readonly (readonly [string, Record<string, unknown>])[] = [
      ['run', { src: "command\n  emit [1, {'a': nil, '$k': -0.0}]\n  whisper self, 'w'\nendcommand" }],
      ['run', { src: 'command\n  emit 1 / 0\nendcommand' }],
      ['run', { src: 'command\n  emit )\n  let x = 1\nendcommand' }],
      ['run', { src: 'command\n  emit tool.test.Denied(1)\nendcommand' }],
      ['run', { src: 'command\n  while true\n    set x = 1\n  endwhile\nendcommand' }],
      ['run', { src: '', args: [1] }],
      [
        'check',
        {
          sources: {
            'a.ns': 'command\n  emit 1\nendcommand',
            'b.ns': 'func f() means\n  while true\n    emit 1\n  endwhile\nendfunc',
          },
        },
      ],
      ['check', { sources: { 'a.ns': 'command\n  let x = )\nendcommand' } }],
      ['check', { sources: { 'a.ns': 'command\n  emit tool.test.Denied(1)\nendcommand' } }],
      ['turn', { envelope }],
      ['turn', { envelope: envelope.replace('done', 'fly') }],
      ['turn', { envelope: 'nonsense' }],
    ];
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
    const checks = new Map(
      tools.flatMap((tool) =>
        tool.outputSchema ? [[tool.name, ajv.compile(JSON.parse(JSON.stringify(tool.outputSchema)))]] : [],
      ),
    );
    expect([...checks.keys()]).toEqual(['run', 'check', 'turn']);
    for (const [name, args] of answers) {
      const [, value] = await call(name, args);
      const check = checks.get(name);
      expect(check?.(value) === true ? [] : check?.errors, JSON.stringify([name, args])).toEqual([]);
    }
    // A schema that allows everything would pass as well.
    for (const check of checks.values()) expect([check({}), check({ ok: true })]).toEqual([false, false]);
  });

  it('says of every tool what it may do, by the tools that programs can call', async () => {
    const hints = async (of: Client) =>
      Object.fromEntries((await of.listTools()).tools.map(({ name, annotations }) => [name, annotations]));
    const quiet = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    const reading = { ...quiet, openWorldHint: true };
    expect(await hints(client)).toEqual({
      run: reading,
      check: quiet,
      turn: { ...reading, idempotentHint: false },
      tools: quiet,
    });
    const save = defineTool({ name: 'tool.test.Save', effects: 'write', run: () => null });
    for (const [tool, run] of [
      [twice, quiet],
      [save, { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
    ] as const) {
      const other = await service([tool]);
      const asked = await connected(other.servers);
      expect(await hints(asked)).toMatchObject({ run, check: quiet });
      await asked.close();
      await other.runtime.close();
    }
  });

  it('reports progress to a client that asks for it: output and calls, counted, before the answer', async () => {
    const src = 'command\n  emit "one"\n  call tool.test.Keep()\n  for each i in [1, 2, 3]\n    emit i\n  endfor\nendcommand';
    const steps: [number, string | undefined][] = [];
    const onprogress: ProgressCallback = ({ progress, message }) => steps.push([progress, message]);
    await client.callTool({ name: 'run', arguments: { src } }, { onprogress });
    expect(steps[0]).toEqual([1, 'one']);
    const told = steps.length;
    await client.callTool(
      { name: 'run', arguments: { src: `command\n  emit "${'x'.repeat(5000)}"\nendcommand` } },
      { onprogress },
    );
    expect(steps.slice(told)).toEqual([[1, 'x'.repeat(200)]]);
    await client.callTool({ name: 'run', arguments: { src } });
    expect(steps).toHaveLength(told + 1);
  });

  it('has no more than one report of progress under way', async () => {
    const src = 'command\n  set i = 0\n  while i < 2000\n    emit i\n    set i = i + 1\n  endwhile\nendcommand';
    let reports = 0;
    const { structuredContent } = await client.callTool(
      { name: 'run', arguments: { src } },
      {
        onprogress: () => {
          reports += 1;
        },
      },
    );
    expect(structuredContent).toMatchObject({ ok: true });
    expect(reports).toBeGreaterThan(0);
    expect(reports).toBeLessThan(200);
  });

  it('ends the oldest of too many sessions that could go on', SLOW, async () => {
    const actions = 'command\n  emit tool.test.Keep()\n  emit tool.aeiou.magic("LOOP", {"action": "continue"})\nendcommand';
    const envelope = new TextDecoder().decode(composeEnvelope({ userdata: '{"subject":"s","fields":{}}', actions }));
    const paths: string[] = [];
    for (let n = 0; n < 102; n += 1) {
      const [, value] = await call('turn', { envelope, sid: `s-${n}` });
      paths.push((value as { output: string }).output.split('\n')[0] ?? '');
    }
    expect(paths.map((path) => existsSync(path)).indexOf(true)).toBe(2);
    expect(existsSync(paths.at(-1) ?? '')).toBe(true);
  });
});
