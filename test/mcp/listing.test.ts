import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { McpConnection } from '../../src/mcp/connection.ts';
import { listTools } from '../../src/mcp/listing.ts';
import { toolsOf } from '../../src/mcp/tools.ts';

/** A server of the previous version that lists these pages. */
class Listing implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  readonly #pages: readonly (readonly unknown[])[];

  constructor(pages: readonly (readonly unknown[])[]) {
    this.#pages = pages;
  }

  async start(): Promise<void> {}
  async close(): Promise<void> {
    this.onclose?.();
  }
  async send(message: JSONRPCMessage): Promise<void> {
    if (!('id' in message) || !('method' in message)) return;
    const page = Number(message.params?.['cursor'] ?? 0);
    const result =
      message.method === 'initialize'
        ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
        : { tools: this.#pages[page], ...(page + 1 < this.#pages.length ? { nextCursor: String(page + 1) } : {}) };
    queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', id: message.id ?? 0, result } as JSONRPCMessage));
  }
}

async function listed(...pages: readonly (readonly unknown[])[]) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(new Listing(pages));
  const left: string[] = [];
  const tools = await listTools(client, {}, (what) => left.push(what));
  await client.close();
  return { tools, left };
}

const PLAIN = { name: 'plain', inputSchema: { type: 'object' } };

it('issue 44, finding 11: a tool of an unusual form takes no other tool away', async () => {
  const union = { anyOf: [{ type: 'string' }, { type: 'null' }] };
  const { tools, left } = await listed(
    [PLAIN, { inputSchema: { type: 'object' } }, { name: 'untyped', inputSchema: { properties: { a: { type: 'string' } } } }],
    [{ name: 'union', inputSchema: union, outputSchema: union }, { name: 'bare' }, 7, { name: 'list', inputSchema: [] }],
    [{ name: 'odd', inputSchema: {}, description: 5, outputSchema: 'text', title: {}, execution: 'x', annotations: [] }],
    [{ name: 'headers', inputSchema: { properties: { a: { type: 'string', 'x-mcp-header': 'A' } } } }],
  );
  expect(tools).toEqual([
    PLAIN,
    { name: 'untyped', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } },
    { name: 'union', inputSchema: { ...union, type: 'object' }, outputSchema: union },
    { name: 'bare', inputSchema: { type: 'object' } },
    { name: 'odd', inputSchema: { type: 'object' } },
  ]);
  expect(left).toEqual([
    'tool 2 of its list, which has no name',
    'tool 6 of its list, which has no name',
    "its tool 'list', whose inputSchema is not a map",
    "the description of its tool 'odd'",
    "the outputSchema of its tool 'odd'",
    "its tool 'headers', which declares headers beside parts of an unusual form",
  ]);
});

it('issue 44, finding 11: a dashed server name is one of a script, in tools and grants', async () => {
  const { tools } = await listed([PLAIN]);
  const owner = { logger: SILENT_LOGGER, onProgress: null, authorize: null };
  const connection = new McpConnection('my-files', { command: 'x' }, owner);
  const [tool] = await toolsOf(connection, connection.config, tools);
  expect([tool?.name, tool?.capabilities]).toEqual([
    'tool.my_files.plain',
    [{ resource: 'mcp', verbs: ['call'], scopes: ['my_files'] }],
  ]);
});
