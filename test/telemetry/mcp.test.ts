import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { SpanKind } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { McpSource } from '../../src/mcp/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { connected, service } from '../mcp/server/kit.ts';
import { honestServer } from '../mcp/server.ts';
import { modernServer } from '../mcp/servers.ts';
import { openSdk } from './kit.ts';

let sdk: ReturnType<typeof openSdk>;
beforeEach(() => {
  sdk = openSdk();
});
afterEach(() => sdk[Symbol.asyncDispose]());

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}

it('a call of an MCP tool describes the span of the call, and carries the trace to the server', async () => {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    bodies.push(body);
    const transport = new NodeStreamableHTTPServerTransport({});
    await honestServer().connect(transport);
    await transport.handleRequest(request, response, body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  // A listening server over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  try {
    await using source = await McpSource.connect({ s: { url: `http://127.0.0.1:${port}/mcp` } });
    const policy = { allow: ['tool.s.*'], grants: ['mcp:call:s'] };
    await using runtime = await createRuntime({ tools: source.tools, policy, concurrency: 1, telemetry: sdk.telemetry });
    const result = await runtime.run('command\nemit tool.s.add({"a": 2, "b": 3})\nendcommand');
    expect(result.error).toBe(null);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const span = sdk.span('execute_tool tool.s.add');
  expect(span.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    'network.transport': 'tcp',
    'server.address': '127.0.0.1',
    'server.port': port,
  });
  const { traceId, spanId } = span.spanContext();
  expect(JSON.stringify(bodies)).toContain(`"traceparent":"00-${traceId}-${spanId}-01"`);
  const durations = (await sdk.metrics()).find(({ descriptor }) => descriptor.name === 'mcp.client.operation.duration');
  expect(durations?.dataPoints.map(({ attributes }) => attributes)).toEqual([
    {
      'mcp.method.name': 'tools/call',
      'network.transport': 'tcp',
      'server.address': '127.0.0.1',
      'server.port': port,
      'gen_ai.tool.name': 'add',
    },
  ]);
});

it('a call of our MCP server is a span of the trace of its client, around the run', async () => {
  const { runtime, servers } = await service([], {}, { telemetry: sdk.telemetry });
  await using _runtime = runtime;
  const client = await connected(servers);
  const [traceId, spanId] = ['0123456789abcdef0123456789abcdef', '0123456789abcdef'];
  const call = (src: string, _meta: Record<string, unknown>) => client.callTool({ name: 'run', arguments: { src }, _meta });
  await call('command\nemit 1\nendcommand', { traceparent: `00-${traceId}-${spanId}-01` });
  const span = sdk.span('tools/call run');
  expect([span.kind, span.spanContext().traceId, span.parentSpanContext?.spanId]).toEqual([SpanKind.SERVER, traceId, spanId]);
  expect(span.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'run' });
  expect(span.attributes['mcp.protocol.version']).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(sdk.span('neuroscript.run').parentSpanContext?.spanId).toBe(span.spanContext().spanId);
  // What is no text, or far too long, is no trace.
  for (const traceparent of [5, `00-${traceId}-${'x'.repeat(10_000)}-01`])
    await call('command\nfail 7\nendcommand', { traceparent });
  const failed = sdk
    .spans()
    .filter(({ name, parentSpanContext }) => name === 'tools/call run' && parentSpanContext === undefined);
  expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['tool_error', 'tool_error']);
  const durations = (await sdk.metrics()).find(({ descriptor }) => descriptor.name === 'mcp.server.operation.duration');
  const common = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'run' };
  expect(durations?.dataPoints.map(({ attributes }) => attributes)).toEqual([common, { ...common, 'error.type': 'tool_error' }]);
  await client.close();
});

it('what a server reports about a call are events of the span of the call', async () => {
  await using source = await McpSource.connect({ s: modernServer() });
  const policy = { allow: ['tool.s.*'], grants: ['mcp:call:s'] };
  await using runtime = await createRuntime({ tools: source.tools, policy, concurrency: 1, telemetry: sdk.telemetry });
  const result = await runtime.run('command\nemit tool.s.work({"ms": 1000, "report": true})\nendcommand');
  expect(result.error).toBe(null);
  expect(sdk.span('execute_tool tool.s.work').events[0]).toMatchObject({
    name: 'mcp.progress',
    attributes: { progress: 0, total: 1000, message: 'still here' },
  });
});
