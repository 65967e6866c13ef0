// @module-tag slow
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Logger, SILENT_LOGGER } from '../../src/context/index.ts';
import { type McpServerConfig, McpSource } from '../../src/mcp/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { toolPrompt } from '../../src/tools/index.ts';
import type { RunResult } from '../../src/wire/result.ts';
import { tempFolder } from '../folder.ts';
import { honestServer } from './server.ts';
import { classicServer } from './servers.ts';

const directory = tempFolder();

const DIST = new URL('../../dist/src/mcp/index.js', import.meta.url).href;
const stdio = (mode: string, more: Partial<McpServerConfig> = {}): McpServerConfig => ({ ...classicServer(mode), ...more });

/** What a program gives that emits these expressions, one after the other, with the tools of a server `s`. */
async function emits(config: McpServerConfig, ...expressions: string[]): Promise<RunResult> {
  await using source = await McpSource.connect({ s: config });
  return await run(source, ...expressions);
}

/** All programs run in one runtime; each run gets the tools of its source. */
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1 });
});
afterAll(() => runtime.close());

function run({ tools }: McpSource, ...expressions: string[]): Promise<RunResult> {
  const source = ['command', ...expressions.map((each) => `  emit ${each}`), 'endcommand'].join('\n');
  return runtime.run(source, { tools, policy: { allow: ['tool.s.*'], grants: ['mcp:call:s'] } });
}

/** Whether a process runs. An ended one whose parent has not asked for its status, as PID 1 of a container may not, does not. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

const codeOf = async (result: Promise<RunResult>) => {
  const { error } = await result;
  return [error?.code, error?.message];
};

/** A server of the previous version of the protocol that answers nothing that it does not know. */
const SILENT = `
  const tools = [{ name: 'hello', inputSchema: { type: 'object' } }];
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'silent', version: '1' } }),
    'tools/list': () => ({ tools }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'here' }] }),
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = answers[method]?.(params);
    if (result !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  });`;

it('finding 11 of issue 44: a server on standard streams that is silent on unknown requests is connected', async () => {
  const { ok, emits: said } = await emits({ command: process.execPath, args: ['-e', SILENT], timeoutMs: 400 }, 'tool.s.hello()');
  expect([ok, said]).toEqual([true, ['here']]);
});

const HONEST = [
  'tool.s.add({"a": 2, "b": 3})',
  'tool.s.add({"a": 2})',
  'tool.s.echo_text({"text": "ünï"})',
  'tool.s.parts()',
  'tool.s.nothing()',
  'tool.s.nothing({})',
];
const ANSWERS = [
  { sum: 5 },
  { sum: 3 },
  'ünï',
  [
    'one',
    { type: 'image', mimeType: 'image/png', data: { $bytes: 'AAEC' } },
    { type: 'resource_link', uri: 'file:///x', name: 'x' },
  ],
  null,
  null,
];

describe('a server over standard streams', () => {
  it('has its tools called by name with a map of arguments, and answers with values', async () => {
    const result = await emits(stdio('honest'), ...HONEST);
    expect(result.error).toBeNull();
    expect(result.values).toEqual(ANSWERS);
  });

  it('names, describes and bounds its tools; what it says of itself changes nothing', async () => {
    await using source = await McpSource.connect({ s: stdio('honest', { tools: ['add', 'nothing'], readOnly: ['nothing'] }) });
    expect(source.tools.map(({ name, description, effects }) => ({ name, description, effects }))).toEqual([
      { name: 'tool.s.add', description: 'Adds two numbers.', effects: 'write' },
      { name: 'tool.s.nothing', description: '', effects: 'read' },
    ]);
    expect(source.tools[0]?.capabilities).toMatchObject([{ resource: 'mcp', verbs: ['call'], scopes: ['s'] }]);
  });

  it('is started anew for the next call after it has died', async () => {
    await using source = await McpSource.connect({ s: stdio('die') });
    expect(await codeOf(run(source, 'tool.s.trap()'))).toEqual(['NS1002', expect.stringMatching(/^MCP server 's': /)]);
    expect((await run(source, 'tool.s.add({"a": 1})')).values).toEqual([{ sum: 2 }]);
  });

  it('ends with the source that started it', async () => {
    const pidFile = join(directory, 'pid');
    const source = await McpSource.connect({ s: classicServer('honest', pidFile) });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(process.kill(pid, 0)).toBe(true);
    await source.close();
    await source.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect((await codeOf(run(source, 'tool.s.nothing()')))[1]).toContain('the connection has been closed');
  });

  it('finds nothing of the environment but what it is given and what every program needs', async () => {
    process.env['NS_TEST_SECRET'] = 'hidden';
    const result = await emits(stdio('honest', { env: { GIVEN: 'yes' } }), 'tool.s.environment()');
    delete process.env['NS_TEST_SECRET'];
    expect(result.values[0]).toContain('"GIVEN":"yes"');
    expect(result.values[0]).not.toContain('NS_TEST_SECRET');
  });

  it('writes its error stream to the log', async () => {
    const lines: string[] = [];
    const log = (_: object, message: string): void => void lines.push(message);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    await using source = await McpSource.connect({ s: stdio('honest') }, { logger });
    await run(source, 'tool.s.nothing()');
    expect(lines.join(' ')).toContain('started as honest');
  });
});

describe('a server over HTTP', () => {
  let http: Server;
  let url = '';
  const seen: (string | undefined)[] = [];

  beforeAll(async () => {
    http = createServer((request, response) => {
      seen.push(request.headers.authorization);
      const path = request.url ?? '';
      if (path === '/down') return void response.writeHead(503).end();
      if (path === '/away') return void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
      if (path === '/endless') {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write('x'.repeat(65_536)), 1);
        return void response.on('close', () => clearInterval(timer));
      }
      if (path === '/many') {
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end(`[${'[],'.repeat(200_000)}[]]`);
      }
      if (path === '/silent') return;
      if (path === '/repeats') return void response.writeHead(401).end(`not valid: ${request.headers.authorization}`);
      const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      void honestServer()
        .connect(transport)
        .then(() => transport.handleRequest(request, response));
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    http.closeAllConnections();
    http.close();
  });

  it('is used like any other, with its headers', async () => {
    const result = await emits({ url: `${url}/mcp`, headers: { Authorization: 'Bearer x' } }, ...HONEST);
    expect(result.values).toEqual(ANSWERS);
    expect(new Set(seen)).toEqual(new Set(['Bearer x']));
  });

  it.each([
    ['/down', 's'],
    ['/away', 's'],
    ['/endless', 's'],
    ['/silent', 's'],
  ])('that is broken in the way of %s is a typed error in bounded time', async (path) => {
    const started = performance.now();
    await expect(McpSource.connect({ s: { url: url + path, timeoutMs: 1000, messageBytes: 100_000 } })).rejects.toMatchObject({
      code: 'ERR_MCP',
    });
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it('that sends more values than a message may have is told so, whatever its bytes', async () => {
    await expect(McpSource.connect({ s: { url: `${url}/many` } })).rejects.toThrow('nests too deep, or has too many values');
  });

  it('that repeats the secret it was sent does not get it into a message', async () => {
    const config = { url: `${url}/repeats`, headers: { Authorization: 'Bearer abc-very-secret' } };
    const error: unknown = await McpSource.connect({ s: config }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ERR_MCP' });
    expect(String(error)).not.toContain('very-secret');
  });
});

describe('a hostile server', () => {
  it.each([
    ['hang', 'failed: '],
    ['endless', 'failed: '],
    ['huge', 'failed: '],
    ['flood', 'failed: '],
  ])('%s: the call ends with a typed error, the host lives, the next call is served', async (mode, message) => {
    await using source = await McpSource.connect({ s: stdio(mode, { timeoutMs: 4000, messageBytes: 1_000_000 }) });
    const before = process.memoryUsage().rss;
    const [code, text] = await codeOf(run(source, 'tool.s.trap()'));
    expect(code).toBe('NS1002');
    expect(text).toContain(message);
    expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
    expect((await run(source, 'tool.s.add({"a": 1})')).values).toEqual([{ sum: 2 }]);
  });

  it.each([
    ['many', {}, 'a message of the server nests too deep, or has too many values'],
    ['huge', { messageBytes: 1_000_000 }, 'a message of the server is larger than messageBytes, which is 1000000 bytes'],
    ['burst', {}, 'the server sent 1000 messages without being asked'],
    ['babble', {}, 'the server sent 1000 messages without being asked'],
    ['malformed', {}, 'the server sent 1000 messages without being asked'],
  ])('%s: the error names the bound (finding 11)', async (mode, bounds, problem) => {
    await using source = await McpSource.connect({ s: stdio(mode, bounds) });
    expect((await codeOf(run(source, 'tool.s.trap()')))[1]).toBe(`MCP server 's': the call of 'trap' failed: ${problem}`);
  });

  it('trickle: a message that arrives byte by byte costs linear time, and ends with its call (finding 11)', async () => {
    const pidFile = join(directory, 'trickle.pid');
    const config = { ...classicServer('trickle', pidFile), timeoutMs: 5000 };
    const source = await McpSource.connect({ s: config });
    const before = process.cpuUsage();
    expect((await codeOf(run(source, 'tool.s.trap()')))[0]).toBe('NS1002');
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1500);
    await source.close();
    await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('stubborn: one that ignores the end of its input and SIGTERM does not outlive its source, or its host (finding 18)', async () => {
    const pidFile = join(directory, 'stubborn.pid');
    const config = classicServer('stubborn', pidFile);
    const source = await McpSource.connect({ s: config });
    await Promise.all([source.close(), source.close()]);
    await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
    const script = `const { McpSource } = await import(${JSON.stringify(DIST)});
      await McpSource.connect({ s: ${JSON.stringify(config)} });
      process.exit(0);`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    await expect.poll(() => isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it.each(['ping', 'relist'])(
    '%s: one that asks again whenever it is answered is given up, and used again when needed',
    async (mode) => {
      const counted = join(directory, `${mode}.count`);
      const config = classicServer(mode, counted);
      const lost = Promise.withResolvers<void>();
      const logger: Logger = {
        ...SILENT_LOGGER,
        warn: (_, message) => message?.includes('without being asked') && lost.resolve(),
      };
      await using source = await McpSource.connect({ s: config }, { logger });
      await lost.promise;
      expect(Number(readFileSync(counted, 'utf8'))).toBeLessThan(2000);
      expect((await run(source, 'tool.s.trap()')).values).toEqual(['fine']);
    },
  );

  it('sends what is no message: it is passed over', async () => {
    expect((await emits(stdio('garbage'), 'tool.s.trap()')).values).toEqual(['fine']);
  });

  it('lies about the form of its answer: the answer is refused', async () => {
    expect(await codeOf(emits(stdio('lie'), 'tool.s.trap()'))).toEqual([
      'NS1002',
      expect.stringContaining('violates the schema that the server announced: n:'),
    ]);
  });

  it.each(['change', 'early'])(
    '%s: a tool that has changed after it was offered is not called any more, the others are',
    async (mode) => {
      const debug = vi.spyOn(console, 'debug');
      await using source = await McpSource.connect({ s: stdio(mode) });
      // It would go to standard output, which is others'.
      expect(debug).not.toHaveBeenCalled();
      debug.mockRestore();
      expect((await run(source, 'tool.s.trap()')).values).toEqual(['before']);
      const switched = await run(source, 'tool.s.switch()', 'tool.s.add({"a": 1})', 'tool.s.trap()');
      expect(switched.values).toEqual(['switched', { sum: 2 }]);
      expect(switched.error).toMatchObject({ code: 'NS1002', message: expect.stringContaining("changed its tool 'trap'") });
    },
  );

  it('has no tools any more once it was started anew: none is called', async () => {
    await using source = await McpSource.connect({ s: classicServer('forgets', join(directory, 'forgets.pid')) });
    expect((await codeOf(run(source, 'tool.s.trap()')))[0]).toBe('NS1002');
    expect(await codeOf(run(source, 'tool.s.add({"a": 1})'))).toEqual([
      'NS1002',
      expect.stringContaining("it has changed its tool 'add' since it was offered"),
    ]);
  });

  it('announces a changed list 500 times at once: the list is read twice', async () => {
    expect((await emits(stdio('announce'), 'tool.s.trap()')).values).toEqual(['3']);
  });

  it('reports progress that goes back: only what grows is passed on', async () => {
    const progress: number[] = [];
    await using source = await McpSource.connect(
      { s: stdio('back') },
      { onProgress: (report) => progress.push(report.progress) },
    );
    expect((await run(source, 'tool.s.trap()')).values).toEqual(['done']);
    expect(progress).toEqual([5, 7, 8]);
  });

  it('announces a pattern, which could take for ever: it is never run here, but left to the server', async () => {
    await using source = await McpSource.connect({ s: stdio('redos') });
    expect(JSON.stringify(source.tools.map(({ parameters }) => parameters))).not.toContain('a+');
    // Refused by the server: had the pattern been run here, it would be code 4.
    expect((await codeOf(run(source, 'tool.s.trap({"s": "b"})')))[0]).toBe('NS21');
  });

  it('offers two tools that a script could not tell apart: refused, until the host chooses', async () => {
    const message = "MCP server 's': the tools 'a-b' and 'a.b' have the same name in a script; choose with 'tools'";
    await expect(McpSource.connect({ s: stdio('clash') })).rejects.toMatchObject({ code: 'ERR_MCP', message });
    await using source = await McpSource.connect({ s: stdio('clash', { optional: true }) });
    expect(source.failures).toMatchObject([{ server: 's', error: { message } }]);
    expect((await emits(stdio('clash', { tools: ['a.b'] }), 'tool.s.a_b()')).values).toEqual(['2']);
  });

  it('asks for our model: it is refused', async () => {
    expect((await emits(stdio('asks'), 'tool.s.trap()')).values[0]).toMatch(/^"refused: /);
  });

  it('asks the user 150 questions at once: the later ones are declined, and the others end with the call', async () => {
    await using source = await McpSource.connect({ s: stdio('nosy', { elicit: true }) });
    const asked: string[] = [];
    const lines = new TransformStream<string, string>();
    const typed = lines.writable.getWriter();
    const write = (words: string): void => {
      asked.push(words);
      if (asked.length === 2) void typed.write('x\n');
      if (words.startsWith('Name?')) void typed.write('Ann\n');
    };
    const { values } = await runtime.run(
      'command\n  emit tool.s.trap()\n  promptuser "Name?" into name\n  emit name\nendcommand',
      {
        host: { logger: SILENT_LOGGER, stdin: lines.readable, stdout: { write } },
        tools: source.tools,
        policy: { allow: ['tool.s.*'], grants: ['mcp:call:s'] },
      },
    );
    expect(values).toEqual(['50 declined', 'Ann']);
    expect(asked.filter((words) => words.includes('your password?'))).toHaveLength(2);
  });

  it('fails with control characters: the message is plain', async () => {
    expect(await codeOf(emits(stdio('honest'), 'tool.s.fails()'))).toEqual(['NS21', expect.stringContaining('no [31m luck')]);
  });
});

describe('a listing', () => {
  it('names the arguments of a tool, their types and descriptions; a call that does not fit is told its form', async () => {
    await using source = await McpSource.connect({ s: stdio('honest') });
    const { text } = toolPrompt(source.tools);
    expect(text).toContain('tool.s.add(arguments: {a: number, b?: number}) -> {sum: number}\n');
    expect(text).toContain('  arguments.b: what to add (default: 1)\n');
    expect((await codeOf(run(source, 'tool.s.add({"b": 1})')))[1]).toContain(
      'the call has the form (arguments: {a: number, b?: number})',
    );
    await using runtime = await createRuntime({ tools: source.tools, concurrency: 1 });
    const { findings } = await runtime.check([{ name: 'a.ns', text: 'command\n  emit tool.s.add()\nendcommand' }], {
      policy: false,
    });
    expect(findings.map(({ fix }) => fix.message)).toEqual(['add the missing arguments: (arguments: {a: number, b?: number})']);
  });
});

describe('calls', () => {
  /** One server for all: each takes a quarter of a second to start. */
  let source: McpSource;
  beforeAll(async () => {
    source = await McpSource.connect({ s: stdio('honest') });
  });
  afterAll(() => source.close());

  it('that do not fit the schema are refused before anything is sent', async () => {
    const table = [
      ['tool.s.add({"a": "two"})', 'NS4'],
      ['tool.s.add()', 'NS4'],
      ['tool.s.add({})', 'NS4'],
      ['tool.s.add(1)', 'NS4'],
      ['tool.s.echo_text({"text": 5})', 'NS4'],
      ['tool.s.missing()', 'NS3'],
    ] as const;
    for (const [call, code] of table) expect([call, (await codeOf(run(source, call)))[0]]).toEqual([call, code]);
  });

  it('end with the time limit of the run', async () => {
    await using runtime = await createRuntime({
      tools: source.tools,
      policy: { allow: ['*'], grants: ['*:*:*'] },
      concurrency: 1,
    });
    const result = await runtime.run('command\n  call tool.s.sleep({"ms": 60000})\nendcommand', { limits: { wallMs: 150 } });
    expect(result.error?.code).toBe('ERR_TIMEOUT');
    expect((await added(runtime)).values).toEqual([{ sum: 2 }]);
  });

  it('need the grant for their server', async () => {
    await using runtime = await createRuntime({
      tools: source.tools,
      policy: { allow: ['tool.s.*'], grants: ['mcp:call:other'] },
      concurrency: 1,
    });
    expect((await added(runtime)).error?.code).toBe('NS1003');
  });

  function added(runtime: Awaited<ReturnType<typeof createRuntime>>): Promise<RunResult> {
    return runtime.run('command\n  emit tool.s.add({"a": 1})\nendcommand');
  }
});

describe('connecting', () => {
  it('leaves no server behind when another one fails, early or late (finding 11)', async () => {
    const pids = ['one', 'two'].map((name) => join(directory, `${name}.pid`));
    const good = pids.map((file, index) => [`good${index}`, classicServer('honest', file)]);
    const config = { ...Object.fromEntries(good), bad: { command: '/does/not/exist' } };
    await expect(McpSource.connect(config)).rejects.toMatchObject({ code: 'ERR_MCP' });
    // A server that was killed before it has written its id has left none.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    for (const file of pids.filter(existsSync))
      expect(() => process.kill(Number(readFileSync(file, 'utf8')), 0)).toThrow('ESRCH');
  });

  it('to what does not exist, or lacks a tool that is configured, is a typed error that names the server', async () => {
    await expect(McpSource.connect({ s: { command: '/does/not/exist' } })).rejects.toMatchObject({
      code: 'ERR_MCP',
      message: expect.stringMatching(/^MCP server 's': it cannot be reached: /),
    });
    await expect(McpSource.connect({ s: stdio('honest', { tools: ['nope'] }) })).rejects.toMatchObject({
      code: 'ERR_MCP',
      message: expect.stringContaining("no tool 'nope'"),
    });
  });
});

describe('a server with optional: true', () => {
  const bad = { command: '/does/not/exist', optional: true };

  it('does not fail the others; it is reported, and a call of its tools says why they are absent', async () => {
    await using source = await McpSource.connect({ s: stdio('honest'), bad });
    expect(source.failures).toMatchObject([{ server: 'bad', error: { code: 'ERR_MCP' } }]);
    const absent = await run(source, 'tool.s.add({"a": 1})', 'tool.bad.search({"q": 1})');
    expect([absent.values, absent.error?.code]).toEqual([[{ sum: 2 }], 'NS3']);
    const why = "bad has only unavailable: MCP server 'bad': it cannot be reached: ";
    expect(absent.error?.hint).toContain(why);
    expect(toolPrompt(source.tools).text).toContain("tool.bad.Unavailable()\n  MCP server 'bad': it cannot be reached: ");
    await using runtime = await createRuntime({
      tools: source.tools,
      policy: { allow: ['*'], grants: ['mcp:call:bad'] },
      concurrency: 1,
    });
    const called = await runtime.run('command\n  call tool.bad.Unavailable()\nendcommand');
    expect([called.error?.code, called.error?.message]).toEqual(['NS1002', source.failures[0]?.error.message]);
  });

  it('is used like any other while it works, and fails all without the key', async () => {
    await using source = await McpSource.connect({ s: stdio('honest', { optional: true }) });
    expect([source.failures, (await run(source, 'tool.s.add({"a": 1})')).values]).toEqual([[], [{ sum: 2 }]]);
    await expect(McpSource.connect({ s: stdio('honest'), bad: { command: bad.command } })).rejects.toMatchObject({
      code: 'ERR_MCP',
    });
  });
});
