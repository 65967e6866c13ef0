import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../folder.ts';
import { SLOW } from '../groups.ts';
import { consent, protectedServer } from '../mcp/oauth.ts';
import { SERVER_LINE } from '../mcp/servers.ts';
import { neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
/** Runs at the same time are not the subject here, and each further worker takes as long to start as the first. */
const ONE_WORKER = ['--concurrency', '1'] as const;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

describe('--mcp', () => {
  it('the example does what its page says', SLOW, async () => {
    const page = readFileSync(new URL('../../examples/mcp/README.md', import.meta.url), 'utf8');
    const promised = /```text\n([\s\S]*?)```/.exec(page)?.[1];
    const command = (/npx neuroscript (.*)/.exec(page)?.[1] ?? '').split(' ');
    expect(await neuroscript(command, { cwd: root })).toEqual({ code: 0, stdout: promised, stderr: '' });
  });

  it('names a server on the command line, and shows its tools', async () => {
    const { code, stdout } = await within(['tools', 'tool.s.*', '--mcp', `s=${SERVER_LINE}`], { cwd: root });
    expect(code).toBe(0);
    expect(stdout).toContain('tool.s.add(arguments');
    expect(stdout).toContain('Adds two numbers.');
  });

  it.each([
    ['s=/does/not/exist', "MCP server 's': it cannot be reached"],
    ['missing.json', 'missing.json'],
    ['tool=x', 'is not "tool"'],
  ])('%s is wrong use, said in one line', async (spec, problem) => {
    const { code, stdout, stderr } = await within(['run', '-', '--mcp', spec], { stdin: 'command\nemit 1\nendcommand' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(problem);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('neuroscript tools login', () => {
  it('prints an address, keeps the tokens for later commands, and forgets them', SLOW, async () => {
    await using server = await protectedServer();
    const mcp = ['--mcp', `s=${server.url}`];
    const env = { XDG_STATE_HOME: tempFolder() };
    const before = await within(['tools', 'tool.s.*', ...mcp], { env });
    expect([before.code, before.stderr]).toEqual([2, expect.stringContaining('neuroscript tools login s')]);
    const login = await neuroscript(['tools', 'login', 's', ...mcp], { env, onStdout: (text) => void consent(text.trim()) });
    expect(login).toMatchObject({ code: 0, stdout: expect.stringMatching(/^http\S+\n$/) });
    expect(login.stderr).toBe('To log in to s, open this address:\nlogged in to s\n');
    expect(await within(['tools', 'tool.s.add', ...mcp], { env })).toMatchObject({ code: 0, stderr: '' });
    const out = await within(['tools', 'logout', 's', ...mcp], { env });
    expect([out.code, out.stderr]).toEqual([0, 'logged out of s\n']);
    rmSync(env.XDG_STATE_HOME, { recursive: true });
  });

  it.each([
    [['s'], 'name the configuration of the server with --mcp'],
    [['t', '--mcp', 's=http://127.0.0.1:1/'], "unknown server 't'; known are s"],
    [['s', '--mcp', 's=node x.ts'], "the server 's' is a command"],
    [['s', '--mcp', 's=http://192.0.2.1/'], 'auth needs an https url'],
    [['s', '--mcp', 's=http://127.0.0.1:1/'], "MCP server 's': the login has failed: fetch failed"],
  ])('%j is wrong use, said in one line', async (args, problem) => {
    const { code, stdout, stderr } = await within(['tools', 'login', ...args]);
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1]);
    expect(stderr).toContain(problem);
  });
});

describe('neuroscript tools mcp', () => {
  it('offers itself to an MCP host, under the limits and the policy of its command line', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const args = [BIN, 'tools', 'mcp', ...ONE_WORKER, '--fuel', '1000', '--mcp', `s=${SERVER_LINE}`];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root, stderr: 'inherit' }));
    try {
      const run = async (src: string) => (await client.callTool({ name: 'run', arguments: { src } })).structuredContent;
      expect(await run('command\n  emit tool.s.add({"a": 41})\nendcommand')).toMatchObject({ ok: true, values: [{ sum: 42 }] });
      const endless = await run('command\n  while true\n    set x = 1\n  endwhile\nendcommand');
      expect(endless).toMatchObject({ error: { code: 'ERR_QUOTA', limit: 'fuel', allowed: 1000 } });
      expect(await run('command\n  emit tool.fs.List(".")\nendcommand')).toMatchObject({ error: { code: 'NS1003' } });
      const { content } = await client.callTool({ name: 'tools', arguments: {} });
      expect(content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('tool.s.add(') });
      expect(content[0]).toMatchObject({ text: expect.not.stringContaining('tool.fs.List(') });
    } finally {
      await client.close();
    }
  });

  it('refuses a message of too many bytes or values, and goes on (finding 17)', SLOW, async () => {
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const request = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const messages = [
      request(1, 'initialize', hello),
      'x'.repeat(12 * 1024 * 1024),
      `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"src":"","args":[${'{},'.repeat(1_300_000)}0]}}}`,
      `${'['.repeat(2_000_000)}`,
      request(3, 'tools/call', { name: 'run', arguments: { src: 'command\n  emit 1\nendcommand' } }),
    ];
    let peak = 0;
    const { stdout, code } = await neuroscript(['tools', 'mcp', ...ONE_WORKER], {
      stdin: `${messages.join('\n')}\n`,
      keepStdinOpen: true,
      onStdout: (text, child) => {
        if (!text.includes('"id":3')) return;
        peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
        child.stdin?.end();
      },
    });
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(answers.find(({ id }) => id === 3)).toMatchObject({ result: { structuredContent: { ok: true, values: [1] } } });
    expect(answers.filter(({ id }) => id === null).map(({ error }) => error)).toEqual([
      { code: -32600, message: 'the message has more than 4194304 bytes' },
      { code: -32600, message: 'the message nests too deep, or has too many values' },
      { code: -32600, message: 'the message nests too deep, or has too many values' },
    ]);
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(300);
  });

  describe.each(['2026-07-28', '2025-11-25'])('to a client of %s', (version) => {
    const mode: VersionNegotiationOptions['mode'] = version === '2026-07-28' ? { pin: version } : 'legacy';
    /** One process serves both tests. */
    let client: Client;
    beforeAll(async () => {
      client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { answer: 'Ada' } }));
      const args = [BIN, 'tools', 'mcp', ...ONE_WORKER, '--ask-user'];
      await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root, stderr: 'inherit' }));
    });
    afterAll(() => client.close());

    it('speaks its version over standard input and output', async () => {
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(client.getInstructions()).toContain('NeuroScript');
      const src = 'command\n  emit 6 * 7\nendcommand';
      const { structuredContent } = await client.callTool({ name: 'run', arguments: { src } });
      expect(structuredContent).toMatchObject({ ok: true, values: [42] });
      const { contents } = await client.readResource({ uri: 'neuroscript://errors/NS14' });
      expect(contents).toMatchObject([{ text: expect.stringContaining('DivisionByZero') }]);
      const running = new AbortController();
      const endless = 'command\n  emit 1\n  while true\n    set x = 1\n  endwhile\nendcommand';
      const options = { signal: running.signal, onprogress: () => running.abort() };
      await expect(client.callTool({ name: 'run', arguments: { src: endless } }, options)).rejects.toThrow();
      expect((await client.callTool({ name: 'run', arguments: { src } })).isError).toBe(false);
    });

    it('asks its user, with --ask-user', async () => {
      const src = 'command\n  promptuser "name?" into name\n  emit name\nendcommand';
      const { structuredContent } = await client.callTool({ name: 'run', arguments: { src } });
      expect(structuredContent).toMatchObject({ ok: true, emits: ['Ada'] });
    });
  });

  it('with --store, a program that waits is continued by the next process, and its call limits count on', SLOW, async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'tools.yaml'), 'tools:\n  tool.t.Note:\n    effects: none\n    cases:\n      - returns: noted\n');
    const policy = 'allow: ["tool.t.*"]\ngrants: []\ntoolMaxCalls: { tool.t.Note: 2 }\n';
    writeFileSync(join(folder, 'policy.yaml'), policy);
    const setup = ['--tools', 'tools.yaml', '--policy', 'policy.yaml', '--ask-user', '--store', 'programs.db'];
    const src = [
      'command',
      'emit tool.t.Note()',
      'promptuser "name?" into x',
      'emit x',
      'emit tool.t.Note()',
      'emit tool.t.Note()',
    ];
    const params = { name: 'run', arguments: { src: [...src, 'endcommand'].join('\n') } };
    /** Makes one request of a server of its own, which is then killed. */
    async function asked(more: object) {
      const args = [BIN, 'tools', 'mcp', ...ONE_WORKER, '--http', '0', ...setup];
      const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'inherit', 'pipe'] });
      const [said] = await once(child.stderr.setEncoding('utf8'), 'data');
      const answer = await fetch(/http:\S+/.exec(said)?.[0] ?? '', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'run',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: META, ...more } }),
      });
      const { result } = JSON.parse(await answer.text());
      child.kill('SIGKILL');
      await once(child, 'exit');
      return result;
    }
    const { requestState } = await asked({});
    const answers = { requestState, inputResponses: { answer: { action: 'accept', content: { answer: 'Ada' } } } };
    expect((await asked(answers)).structuredContent).toMatchObject({
      emits: ['noted', 'Ada', 'noted'],
      error: { code: 'NS1003', message: expect.stringContaining('call limit of 2') },
    });
    expect((await asked(answers)).content[0].text).toContain('ERR_CALL_UNKNOWN');
  });

  it.each([
    [['--store', 'x.db'], '--store needs --ask-user'],
    [['--ask-user', '--store', 'postgres://localhost/x'], 'names a database'],
    [['--ask-user', '--store', 'package.json'], 'is not a store of programs that wait'],
  ])('%j is wrong use, said in one line', async (args, problem) => {
    const { code, stderr } = await within(['tools', 'mcp', ...args], { cwd: root });
    expect([code, stderr.trimEnd().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain(problem);
  });

  it('serves over HTTP until it is interrupted', SLOW, async () => {
    const child = spawn(process.execPath, [BIN, 'tools', 'mcp', ...ONE_WORKER, '--http', '0'], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    const [said] = await once(child.stderr.setEncoding('utf8'), 'data');
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(/http:\S+/.exec(said)?.[0] ?? '')));
    expect((await client.listTools()).tools).toHaveLength(4);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await client.close();
    for (const flag of ['--allow-host', '--origin'])
      expect(await within(['tools', 'mcp', flag, 'x'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${flag} needs --http`),
      });
  });

  it('does not read a client that does not read its answers', { ...SLOW, timeout: 120_000 }, async () => {
    const child = spawn(process.execPath, [BIN, 'tools', 'mcp', ...ONE_WORKER], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill());
    // When the test fails, the child ends before it has read everything.
    child.stdin.on('error', () => {});
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello })}\n`);
    await once(child.stdout, 'readable');
    const params = { uri: 'neuroscript://language', _meta: { padding: 'x'.repeat(100) } };
    const request = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/read', params })}\n`;
    // The answers would take 33 MB, and the requests fit the pipe only if the server reads them.
    const requests = Array.from({ length: 4000 }, (_, id) => request(id + 1)).join('');
    const rss = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
    const idle = rss();
    let isTaken = false;
    const taken = new Promise<void>((resolve) => child.stdin.write(requests, () => resolve())).then(() => {
      isTaken = true;
    });
    let [before, after] = [0, rss()];
    // The server is at rest when its memory has stopped growing.
    while (after > before + 1) {
      before = after;
      await setTimeout(500);
      after = rss();
    }
    expect(after - idle).toBeLessThan(20);
    expect(isTaken).toBe(false);
    let last = 0;
    for await (const chunk of child.stdout) {
      for (const [, id] of String(chunk).matchAll(/"id":(\d+)\}/g)) last = Math.max(last, Number(id));
      if (last === 4000) break;
    }
    await taken;
    child.kill();
    await once(child, 'exit');
  });

  it('ends when its client does, with 0', SLOW, async () => {
    expect(await neuroscript(['tools', 'mcp'], { stdin: '' })).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
