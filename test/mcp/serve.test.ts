import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeEnvelope, type Keyring, ReplayCache } from '../../src/aeiou/index.ts';
import { randomIds, runtimeExecutor, systemClock } from '../../src/loop/index.ts';
import { mcpServer } from '../../src/mcp/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { newKeyring } from '../aeiou/kit.ts';

let runtime: Runtime;
let client: Client;
let serve: () => ReturnType<typeof mcpServer>;

beforeAll(async () => {
  const tools = ['Twice', 'Denied'].map((name) =>
    defineTool({ group: 'test', name, args: [{ name: 'n', type: 'number' }], run: ({ n }) => 2 * n }),
  );
  const keep = defineTool({ group: 'test', name: 'Keep', run: (_, call) => call.sandboxDir() });
  runtime = await createRuntime({
    tools: [...tools, keep],
    policy: { allow: ['tool.test.twice', 'tool.test.keep'] },
    limits: { fuel: 100_000 },
    concurrency: 2,
  });
  const keyring: Keyring = newKeyring('session', systemClock);
  const clock = systemClock;
  const turns = { executor: runtimeExecutor(runtime), keyring, clock, ids: randomIds, replay: new ReplayCache({ clock }) };
  serve = () => mcpServer({ runtime, turns, catalogue: () => 'tool.test.Twice(n)', version: '1' });
  const server = serve();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(ours), client.connect(theirs)]);
});

afterAll(async () => {
  await client.close();
  await runtime.close();
});

async function call(name: string, args: Record<string, unknown>): Promise<[isError: boolean, value: unknown]> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
  const [first] = content;
  if (structuredContent !== undefined && first?.type === 'text') expect(JSON.parse(first.text)).toEqual(structuredContent);
  return [isError === true, structuredContent ?? (first?.type === 'text' ? first.text : first)];
}

describe('this runtime as an MCP server', () => {
  it('offers run, check, turn and tools, each described', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['run', 'check', 'turn', 'tools']);
    for (const { description } of tools) expect(description?.length).toBeGreaterThan(20);
    expect(await call('tools', {})).toEqual([false, 'tool.test.Twice(n)']);
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
      expect.objectContaining({ diagnostics: [], findings: [] }),
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
    const [isError, text] = await call('run', { src: 5 });
    expect([isError, text]).toEqual([true, expect.stringContaining('src')]);
  });

  it('is served over HTTP by a transport of the protocol as well', async () => {
    const http = createServer((request, response) => {
      const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      void serve()
        .connect(transport)
        .then(() => transport.handleRequest(request, response));
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const remote = new Client({ name: 'test', version: '1' });
    try {
      await remote.connect(
        new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)),
      );
      const { structuredContent } = await remote.callTool({
        name: 'run',
        arguments: { src: 'command\n  emit 6 * 7\nendcommand' },
      });
      expect(structuredContent).toMatchObject({ ok: true, values: [42] });
    } finally {
      await remote.close();
      http.closeAllConnections();
      http.close();
    }
  });
});
