import { Client, type ClientOptions, InMemoryTransport } from '@modelcontextprotocol/client';
import { ReplayCache } from '../../../src/aeiou/index.ts';
import { randomIds, runtimeExecutor, systemClock } from '../../../src/loop/index.ts';
import { type McpServerInit, mcpServers } from '../../../src/mcp/index.ts';
import { createRuntime, type RuntimeOptions } from '../../../src/runtime/index.ts';
import type { ToolDefinition } from '../../../src/tools/index.ts';
import { newKeyring } from '../../aeiou/kit.ts';

/** Whatever a test gives the servers beside their runtime. */
export type Extras = Partial<Omit<McpServerInit, 'runtime' | 'turns'>>;

/** A runtime with these tools, all allowed, and what makes servers for it. */
export async function service(tools: readonly ToolDefinition[], extras: Extras = {}, settings: RuntimeOptions = {}) {
  const policy = { allow: tools.map(({ canonicalName }) => canonicalName) };
  const runtime = await createRuntime({ tools, policy, concurrency: 1, ...settings });
  const clock = systemClock;
  const keyring = newKeyring('session', clock);
  const turns = { executor: runtimeExecutor(runtime), keyring, clock, ids: randomIds, replay: new ReplayCache({ clock }) };
  return { runtime, servers: mcpServers({ runtime, turns, tools, version: '1', ...extras }) };
}

/** A client of one new server, over memory. */
export async function connected(servers: ReturnType<typeof mcpServers>, options: ClientOptions = {}): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' }, options);
  await Promise.all([servers().connect(ours), client.connect(theirs)]);
  return client;
}
