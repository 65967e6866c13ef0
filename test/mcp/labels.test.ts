import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpSource } from '../../src/mcp/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool, type PolicyOptions } from '../../src/tools/index.ts';
import { isRecord } from '../../src/wire/unknown.ts';

const text = (more: object = {}) => ({ content: [{ type: 'text', text: 'a@evil.org', ...more }] });
const ifc = (integrity: unknown, confidentiality: unknown) => ({ _meta: { ifc: { integrity, confidentiality } } });
/** What the tools of the server answer, by their names. */
const ANSWERS: Readonly<Record<string, object>> = {
  silent: text(),
  closed: text(),
  me: { ...text(), ...ifc('trusted', ['public']) },
  issue: { ...text(), ...ifc('untrusted', 'public') },
  secret: { ...text(), ...ifc('trusted', ['ada', 'grace']) },
  odd: { ...text(), ...ifc('yes', 1) },
  broken: { ...text(), _meta: { ifc: 'trusted' } },
  part: { ...text(ifc('untrusted', 'public')), ...ifc('trusted', 'public') },
  embedded: {
    content: [{ type: 'resource', resource: { uri: 'x:/a', text: 'a', ...ifc('trusted', 'private') } }],
    ...ifc('trusted', 'public'),
  },
  fails: { isError: true, ...text(), ...ifc('untrusted', 'public') },
};

function answered(method: string, params: Readonly<Record<string, unknown>>): object | undefined {
  const tools = [...Object.keys(ANSWERS), 'gone'];
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params['protocolVersion'],
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 's', version: '1' },
      };
    case 'tools/list':
      return {
        tools: tools.map((name) => ({
          name,
          inputSchema: { type: 'object' },
          ...(name === 'closed' ? { annotations: { openWorldHint: false } } : {}),
        })),
      };
    case 'tools/call':
      return ANSWERS[String(params['name'])];
    case 'resources/read':
      return { contents: [{ uri: 'x:/a', text: 'a@evil.org', ...ifc('trusted', 'private') }], ...ifc('trusted', 'public') };
    default:
      return undefined;
  }
}

const listener: RequestListener = async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const message: unknown = body === '' ? null : JSON.parse(body);
  if (!isRecord(message) || message['id'] === undefined) return void response.writeHead(202).end();
  const { id, method, params } = message;
  const result = answered(String(method), isRecord(params) ? params : {});
  const answer = result === undefined ? { error: { code: -32601, message: 'a@evil.org' } } : { result };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
};

const server = createServer(listener);
let source: McpSource;
let runtime: Runtime;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port }: Partial<AddressInfo> = Object(server.address());
  source = await McpSource.connect({ s: { url: `http://127.0.0.1:${port}/mcp` } });
  runtime = await createRuntime({ concurrency: 1 });
});
afterAll(async () => {
  await runtime.close();
  await source.close();
  server.close();
});

const sink = defineTool({ name: 'tool.out.Put', args: [{ name: 'what', type: 'any' }], run: () => 'put' });

/** The labels for which a sink refuses what an expression gives. */
async function labelsOf(expression: string, labels: NonNullable<PolicyOptions['flow']>['labels']): Promise<readonly string[]> {
  const lines = [
    'set x = nil',
    'on error do',
    'set x = system_error.message',
    'emit x',
    'clear_error',
    'endon',
    `set x = ${expression}`,
  ];
  const program = ['command', ...lines.map((line) => `  ${line}`), '  call tool.out.Put(x)', 'endcommand'].join('\n');
  const tools = [...source.tools, sink];
  const given = ['untrusted', 'private', 'web'];
  const flow = { labels: { 'event.x': given, ...labels }, sinks: { 'tool.out.Put.what': { refuse: given } } };
  const { emits } = await runtime.run(program, {
    tools,
    policy: { allow: ['*'], grants: ['mcp:call:s', 'mcp:read:s'], flow },
  });
  const said = emits.map(String).find((each) => each.includes('came from elsewhere')) ?? '';
  return given.filter((label) => said.includes(`${label} from`));
}

describe('labels that an MCP server gives', () => {
  it.each([
    ['tool.s.me()', []],
    ['tool.s.closed()', []],
    ['tool.s.silent()', ['untrusted']],
    ['tool.s.issue()', ['untrusted']],
    ['tool.s.secret()', ['private']],
    ['tool.s.odd()', ['untrusted', 'private']],
    ['tool.s.broken()', ['untrusted', 'private']],
    ['tool.s.part()', ['untrusted']],
    ['tool.s.embedded()', ['private']],
    ['tool.s.fails()', ['untrusted']],
    ['tool.s.gone()', ['untrusted', 'private']],
    ['tool.s.ReadResource("x:/a")', ['private']],
  ])('issue 46: where the policy says meta, %s has %j', async (expression, labels) => {
    expect(await labelsOf(expression, { 'mcp.s.*': 'meta' })).toEqual(labels);
  });

  it('issue 46: count only where the policy says so, and take none away', async () => {
    expect(await labelsOf('tool.s.issue()', { 'mcp.other.*': 'meta' })).toEqual([]);
    expect(await labelsOf('tool.s.issue()', { 'mcp.s.me': 'meta' })).toEqual([]);
    expect(await labelsOf('tool.s.me()', { 'mcp.s.*': 'meta', 'mcp.s.m*': ['web'] })).toEqual(['web']);
    expect(await labelsOf('tool.s.me({"x": tool.s.issue()})', { 'mcp.s.*': 'meta' })).toEqual(['untrusted']);
  });

  it('issue 46: a source that names a server stands for its resources, too', async () => {
    expect(await labelsOf('tool.s.ReadResource("x:/a")', { 'mcp.s.*': ['web'] })).toEqual(['web']);
  });
});
