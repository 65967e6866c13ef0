// @module-tag slow
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../folder.ts';
import { markedBlocks } from '../readme/blocks.ts';
import { BIN } from './spawn.ts';

const saidOf = async (stream: Readable): Promise<string> => String((await once(createInterface({ input: stream }), 'line'))[0]);

const ROOT = join(BIN, '../..');
const COMMAND = [process.execPath, BIN];
const folder = tempFolder();

describe('neuroscript host', () => {
  it('the client for Python passes its own tests, and has fewer than 400 lines', { timeout: 120_000 }, () => {
    const cwd = join(ROOT, 'clients/python');
    const env = { ...process.env, NEUROSCRIPT: JSON.stringify(COMMAND), PYTHONDONTWRITEBYTECODE: '1' };
    const { status, stderr } = spawnSync('python3', ['-W', 'error', '-m', 'unittest'], { cwd, env, encoding: 'utf8' });
    expect(stderr).toMatch(/Ran \d{2} tests[\s\S]*OK/);
    expect(status).toBe(0);
    expect(readFileSync(join(cwd, 'neuroscript.py'), 'utf8').split('\n').length).toBeLessThanOrEqual(400);
  });

  it.each(['README.md', 'docs/embedding.md'])('the Python of %s prints what the page says', (page) => {
    const PATH = `${folder}:${process.env['PATH']}`;
    writeFileSync(join(folder, 'neuroscript'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, { mode: 0o700 });
    const blocks = markedBlocks(readFileSync(join(ROOT, page), 'utf8'), 'run in Python');
    expect(blocks).toHaveLength(1);
    for (const { code, output } of blocks) {
      const env = { ...process.env, PATH, PYTHONPATH: join(ROOT, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' };
      const { stdout, stderr } = spawnSync('python3', ['-c', code], { env, encoding: 'utf8' });
      expect({ stdout, stderr }).toEqual({ stdout: output, stderr: '' });
    }
  });

  it('serves clients of a socket that only this user can open, and a second host leaves it alone', async () => {
    const path = join(folder, 'ns.sock');
    const host = spawn(process.execPath, [BIN, 'host', '--socket', path], { stdio: ['ignore', 'inherit', 'pipe'] });
    expect(await saidOf(host.stderr)).toContain(`serving ${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const second = spawnSync(process.execPath, [BIN, 'host', '--socket', path], { encoding: 'utf8' });
    expect([second.status, second.stderr]).toEqual([2, expect.stringContaining('another process serves it')]);
    const socket = connect(path);
    const ask = async (message: object): Promise<unknown> => {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      return JSON.parse(await saidOf(socket));
    };
    expect(await ask({ id: 1, method: 'initialize' })).toMatchObject({ result: { protocol: 1 } });
    expect(await ask({ id: 2, method: 'run', params: { src: 'func f() means\nreturn 3\nendfunc', call: 'f' } })).toMatchObject({
      result: { ok: true, result: 3 },
    });
    // One more client than are allowed is told why it is hung up on, and the others go on.
    const more = Array.from({ length: 15 }, () => connect(path));
    await Promise.all(more.map((each) => once(each, 'connect')));
    const refused: unknown = JSON.parse(await saidOf(connect(path)));
    expect(refused).toMatchObject({
      id: null,
      error: { message: expect.stringContaining('16 clients'), data: { code: 'ERR_BUSY' } },
    });
    const python = 'import sys; from neuroscript import Host; Host(socket=sys.argv[1]).run("")';
    const cwd = join(ROOT, 'clients/python');
    const { stderr } = spawnSync('python3', ['-B', '-c', python, path], { cwd, encoding: 'utf8', timeout: 20_000 });
    expect(stderr).toContain('HostError: 16 clients are connected');
    expect(await ask({ id: 3, method: 'check', params: { src: '' } })).toMatchObject({ result: {} });
    for (const each of [socket, ...more]) each.destroy();
    host.kill('SIGTERM');
    await once(host, 'exit');
    // A socket that nobody serves any more is replaced.
    const third = spawn(process.execPath, [BIN, 'host', '--socket', path], { stdio: ['ignore', 'inherit', 'pipe'] });
    await saidOf(third.stderr);
    third.kill('SIGKILL');
    await once(third, 'exit');
    const fourth = spawn(process.execPath, [BIN, 'host', '--socket', path], { stdio: ['ignore', 'inherit', 'pipe'] });
    expect(await saidOf(fourth.stderr)).toContain('serving');
    fourth.kill('SIGTERM');
    await once(fourth, 'exit');
  });

  it('what was opened for a client of a socket ends with it', async () => {
    const path = join(folder, 'mcp.sock');
    const server = `s=${process.execPath} ${join(ROOT, 'test/mcp/server.ts')} honest`;
    const host = spawn(process.execPath, [BIN, 'host', '--socket', path, '--mcp', server], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    await saidOf(host.stderr);
    const servers = (): boolean =>
      spawnSync('ps', ['--ppid', `${host.pid}`, '-o', 'args='], { encoding: 'utf8' }).stdout.includes('mcp/server.ts');
    const socket = connect(path);
    socket.write('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    expect(JSON.parse(await saidOf(socket))).toMatchObject({ result: { protocol: 1 } });
    expect(servers()).toBe(true);
    socket.destroy();
    await vi.waitFor(() => expect(servers()).toBe(false), { timeout: 10_000 });
    host.kill('SIGTERM');
    await once(host, 'exit');
  });

  it('a policy of the command decides: a client cannot bring one', async () => {
    const policy = join(ROOT, 'examples/templates/agent/policy.yaml');
    const host = spawn(process.execPath, [BIN, 'host', '--policy', policy], { stdio: ['pipe', 'pipe', 'inherit'] });
    host.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"policy":{"allow":["*"]}}}\n');
    expect(JSON.parse(await saidOf(host.stdout))).toMatchObject({ error: { code: -32602, data: { code: 'ERR_CONFIG' } } });
    host.stdin.end();
    expect(await once(host, 'exit')).toEqual([0, null]);
  });
});
