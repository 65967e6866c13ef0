import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationOptions } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type McpHttp, type mcpServers, serveHttp } from '../../../src/mcp/index.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import { defined } from '../../../src/wire/defined.ts';
import { SLOW } from '../../groups.ts';
import { service } from './kit.ts';

let runtime: Runtime;
let servers: ReturnType<typeof mcpServers>;
let http: McpHttp;

beforeAll(async () => {
  ({ runtime, servers } = await service([], {}, { concurrency: 2 }));
  http = await serveHttp(servers, { port: 0, hosts: ['proxy.test'], origins: ['https://app.test'], timeoutMs: 5000 });
});

afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await runtime.close();
});

const MODERN: VersionNegotiationOptions = { mode: { pin: '2026-07-28' } };

async function connected(versionNegotiation?: VersionNegotiationOptions): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, defined({ versionNegotiation }));
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
  onTestFinished(() => client.close());
  return client;
}

const program = (line: string) => ({ name: 'run', arguments: { src: `command\n${line}\nendcommand` } });

const JSON_RPC = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const message = (id: number, method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** Posts a body; gives status, headers and text of the answer. */
async function post(body: string, headers: Record<string, string> = {}, path = '/mcp') {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; session: string; text: string }>();
  const asked = request(new URL(path, http.url), { method: 'POST', headers: { ...JSON_RPC, ...headers } }, async (answer) => {
    let text = '';
    for await (const chunk of answer) text += chunk;
    resolve({ status: answer.statusCode ?? 0, session: String(answer.headers['mcp-session-id']), text });
  });
  asked.once('error', reject);
  asked.end(body);
  return promise;
}

/** A client that says what a test writes, and reads only when told. */
async function raw(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(http.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('this runtime as an MCP server over HTTP', () => {
  it.each([
    ['2026-07-28', MODERN],
    ['2025-11-25', undefined],
  ])('speaks version %s: calls, progress, resources, cancellation', async (version, negotiation) => {
    const client = await connected(negotiation);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect((await client.callTool(program('emit 6 * 7'))).structuredContent).toMatchObject({ ok: true, values: [42] });
    expect((await client.readResource({ uri: 'neuroscript://language' })).contents).toHaveLength(1);
    const stop = new AbortController();
    const endless = program('emit 1\nwhile true\nset x = 1\nendwhile');
    await expect(client.callTool(endless, { signal: stop.signal, onprogress: () => stop.abort() })).rejects.toThrow();
    await expect.poll(() => runtime.stats().computing, { timeout: 20_000 }).toBe(0);
  });

  it('ends the program of a client that has gone', async () => {
    const client = await connected(MODERN);
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = client.callTool(program('emit 1\nwhile true\nset x = 1\nendwhile'), { onprogress: () => resolve() });
    await promise;
    expect(runtime.stats().computing).toBe(1);
    await client.close();
    await expect(running).rejects.toThrow();
    await expect.poll(() => runtime.stats().computing, { timeout: 20_000 }).toBe(0);
  });

  it('refuses requests by another name and from web pages of other origins, and takes those of localhost and of the option', async () => {
    const port = new URL(http.url).port;
    const status = async (headers: Record<string, string>) => (await post(message(1, 'ping'), headers)).status;
    expect(await status({ host: 'evil.test' })).toBe(403);
    expect(await status({ host: `evil.test:${port}` })).toBe(403);
    expect(await status({ origin: 'https://evil.test' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);
    expect(await status({ host: 'proxy.test', origin: 'https://proxy.test' })).toBe(200);
    expect(await status({ host: `localhost:${port}`, origin: 'http://localhost:3000' })).toBe(403);
    expect(await status({ origin: 'http://127.0.0.1' })).toBe(403);
    expect(await status({ origin: 'https://app.test' })).toBe(200);
    expect((await post(message(1, 'ping'), {}, '/')).status).toBe(404);
  });

  it('allows the methods of the protocol and no others', async () => {
    const status = async (method: string) => (await fetch(http.url, { method })).status;
    expect(await Promise.all(['OPTIONS', 'PUT', 'GET', 'DELETE'].map(status))).toEqual([405, 405, 405, 405]);
    const socket = await raw('GET /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}');
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1.1 405 /);
  });

  it('refuses a body with too many bytes or values, said or not, and goes on', async () => {
    const error = { code: -32600, message: 'the message has more than 4194304 bytes' };
    const large = 'x'.repeat(5 * 1024 * 1024);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const { status, text } = await post(large, headers);
      expect([status, JSON.parse(text)]).toEqual([413, { jsonrpc: '2.0', id: null, error }]);
    }
    for (const body of [`[${'{},'.repeat(1_300_000)}{}]`, '['.repeat(2_000_000)])
      expect(JSON.parse((await post(body)).text)).toMatchObject({ error: { code: -32600 } });
    expect((await post('{"jsonrpc')).text).toContain('-32700');
    expect((await post(message(1, 'ping'))).status).toBe(200);
  });

  it('ends the session that was used least recently when there are too many', async () => {
    const begin = async () => (await post(message(1, 'initialize', hello))).session;
    const ping = async (session: string) => (await post(message(2, 'ping'), { 'mcp-session-id': session })).status;
    const [first = '', second = ''] = [await begin(), await begin()];
    for (let n = 0; n < 62; n += 1) await begin();
    expect(await ping(first)).toBe(200);
    await begin();
    expect([await ping(first), await ping(second)]).toEqual([200, 404]);
  });

  it('answers a bounded number of requests at once, and is free again when slow senders are cut off', SLOW, async () => {
    const head = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{';
    const slow = await Promise.all(Array.from({ length: 128 }, () => raw(head)));
    await expect.poll(async () => (await post(message(1, 'ping'))).status, { timeout: 20_000 }).toBe(503);
    await Promise.all(slow.map((socket) => once(socket.resume(), 'close')));
    expect((await post(message(1, 'ping'))).status).toBe(200);
  });

  it('cuts off a client that does not read its answer', SLOW, async () => {
    const body = message(
      1,
      'tools/call',
      program(`set i = 0\nwhile i < 7000\nemit "${'x'.repeat(1000)}"\nset i = i + 1\nendwhile`),
    );
    const headers = Object.entries({ ...JSON_RPC, host: 'localhost', 'content-length': body.length });
    const served = new Promise<Socket>((resolve) =>
      channel('net.server.socket').subscribe((event) => resolve((event as { socket: Socket }).socket)),
    );
    const socket = await raw(`POST /mcp HTTP/1.1\r\n${headers.map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n${body}`);
    socket.pause();
    const ours = await served;
    await once(ours, 'close');
    let received = '';
    for await (const chunk of socket.resume()) received += chunk;
    expect(received).toMatch(/^HTTP\/1.1 200 /);
    expect(received.length).toBeLessThan(14_000_000);
  });

  it('refuses options that it cannot use', async () => {
    const { port } = new URL(http.url);
    await expect(serveHttp(servers, { port: Number(port) })).rejects.toMatchObject({ code: 'ERR_CONFIG' });
    await expect(serveHttp(servers, { port: 70_000 })).rejects.toMatchObject({ code: 'ERR_CONFIG' });
  });
});
