// @module-tag slow
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type McpServerConfig, McpSource } from '../../src/mcp/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { honestServer } from './server.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => boolean;

/** A server with sessions. `intercept` handles a request in its place and returns true, or returns false. */
class Shop {
  intercept: Handler = () => false;
  /** Texts of the tool calls that came to the server. */
  readonly calls: string[] = [];
  readonly #sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  #server: Server | null = null;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Ends the server, which forgets its sessions. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.#sessions.clear();
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (body.includes('"tools/call"')) this.calls.push(body);
    if (this.intercept(request, response, body)) return;
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.#sessions.get(id) : await this.#open();
    if (known === undefined) return void response.writeHead(404).end('Session not found');
    await known.handleRequest(request, response, body === '' ? undefined : JSON.parse(body));
  }

  async #open(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id: string) => void this.#sessions.set(id, transport),
    });
    await honestServer().connect(transport);
    return transport;
  }
}

let runtime: Runtime;
let shop: Shop;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 2 });
});
afterAll(() => runtime.close());
beforeEach(async () => {
  shop = new Shop();
  await shop.start();
});
afterEach(() => shop.stop());

/** Connects, does what happens to the server, and calls a tool once. */
async function callAfter(
  happens: () => unknown,
  more: Partial<McpServerConfig> = {},
  program = 'emit tool.s.add({"a": 2, "b": 3})',
) {
  await using source = await McpSource.connect({ s: { ...more, url: shop.url } });
  await happens();
  const policy = { allow: ['tool.s.*'], grants: ['mcp:call:s'] };
  const { values, error } = await runtime.run(`command\n  ${program}\nendcommand`, { tools: source.tools, policy });
  return error === null ? values : [error.code, error.message];
}

/** Handles the first call of a tool so. */
function firstCall(handle: (response: ServerResponse) => void): Handler {
  let isFirst = true;
  return (_request, response, body) => {
    if (!isFirst || !body.includes('"tools/call"')) return false;
    isFirst = false;
    handle(response);
    return true;
  };
}

const ADDED = [{ sum: 5 }];

it('a server that was started anew has forgotten the session: the next call opens another one', async () => {
  const restart = async () => {
    await shop.stop();
    await shop.start();
  };
  expect(await callAfter(restart)).toEqual(ADDED);
});

it('so do 64 calls that run together, none of which may be repeated once the server has taken it', async () => {
  const restart = async () => {
    await shop.stop();
    await shop.start();
  };
  const program =
    'set r = []\n  for each i, x in "0123456789abcdef" * 4 together\n    set r[i] = tool.s.add({"a": i})\n  endfor\n  emit len(r)';
  expect(await callAfter(restart, {}, program)).toEqual([64]);
  expect(shop.calls).toHaveLength(128);
});

it('a server that refuses one request leaves the others that are under way to their end', async () => {
  shop.intercept = (_request, response, body) => {
    if (!body.includes('"echo-text"')) return false;
    response.writeHead(400).end('not that text');
    return true;
  };
  await using source = await McpSource.connect({ s: { url: shop.url } });
  const policy = { allow: ['tool.s.*'], grants: ['mcp:call:s'] };
  const done = (call: string) => runtime.run(`command\n  emit ${call}\nendcommand`, { tools: source.tools, policy });
  const slow = done('tool.s.sleep({"ms": 700})');
  await expect.poll(() => shop.calls.length).toBe(1);
  expect((await done('tool.s.echo_text({"text": "x"})')).error?.message).toContain('not that text');
  expect((await done('tool.s.add({"a": 1})')).values).toEqual([{ sum: 2 }]);
  expect((await slow).values).toEqual(['slept']);
});

it('so do servers that call it a bad request; one that refuses every request is asked twice', async () => {
  shop.intercept = firstCall((response) => response.writeHead(400).end('No valid session ID provided'));
  expect(await callAfter(() => {})).toEqual(ADDED);
  shop.calls.length = 0;
  const all: Handler = (_request, response, body) => {
    if (!body.includes('"tools/call"')) return false;
    response.writeHead(400).end('no');
    return true;
  };
  const answer = await callAfter(() => {
    shop.intercept = all;
  });
  expect(answer).toEqual(['NS1002', expect.stringContaining('no')]);
  expect(shop.calls).toHaveLength(2);
});

it('a server that is started within seconds is waited for', async () => {
  const soon = async () => {
    await shop.stop();
    setTimeout(() => void shop.start(), 700);
  };
  expect(await callAfter(soon)).toEqual(ADDED);
});

it('a server that stays away is code 1002, which says why and how often it was tried', async () => {
  const answer = await callAfter(() => shop.stop());
  expect(answer).toEqual([
    'NS1002',
    expect.stringMatching(/^MCP server 's': the call of 'add' failed: fetch failed: .*ECONNREFUSED.* \(tried 4 times\)$/),
  ]);
});

it.each([503, 429])('a server that answers %i is asked again when it says', async (status) => {
  const times: number[] = [];
  const busy = firstCall((response) => response.writeHead(status, { 'retry-after': '2' }).end());
  shop.intercept = (request, response, body) => {
    if (body.includes('"tools/call"')) times.push(performance.now());
    return busy(request, response, body);
  };
  expect(await callAfter(() => {})).toEqual(ADDED);
  expect(times).toHaveLength(2);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1900);
});

it('a call that the server may have taken is made again only if the operator says that it reads', async () => {
  const cut = () => firstCall((response) => void response.socket?.destroy());
  shop.intercept = cut();
  expect(await callAfter(() => {})).toEqual(['NS1002', expect.stringContaining('fetch failed')]);
  expect(shop.calls).toHaveLength(1);
  shop.intercept = cut();
  expect(await callAfter(() => {}, { readOnly: ['add'] })).toEqual(ADDED);
  expect(shop.calls).toHaveLength(3);
});
