import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type McpHttp, serveHttp } from '../../../src/mcp/index.ts';
import { MemoryPrograms, MOST_WAITING } from '../../../src/mcp/server/programs.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { connected, service } from './kit.ts';

let runtime: Runtime;
let http: McpHttp;
let calls: number;
/** The store that a server has by default. */
const programs = new MemoryPrograms();

const note = defineTool({ name: 'tool.test.Note', run: () => ++calls });
const approve = defineTool({
  name: 'tool.test.Approve',
  args: [{ name: 'what', type: 'string' }],
  returns: 'bool',
  run: ({ what }, call) => call.pending({ reason: `may I ${what}?` }),
});

const choose = defineTool({
  name: 'tool.test.Choose',
  returns: { type: 'string', enum: ['red', 'blue'] },
  run: (_, call) => call.pending({ reason: 'which colour?' }),
});

beforeAll(async () => {
  const tools = [note, approve, choose];
  const policy = { allow: tools.map(({ canonicalName }) => canonicalName), toolMaxCalls: { 'tool.test.Note': 3 } };
  const made = await service(tools, { askUser: true, programs }, { policy, concurrency: 2 });
  runtime = made.runtime;
  http = await serveHttp(made.servers, { port: 0 });
});

afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await runtime.close();
});

beforeEach(() => {
  calls = 0;
});

interface Question {
  readonly message: string;
  readonly requestedSchema?: { readonly properties: Readonly<Record<string, unknown>> };
}

const VERSIONS = ['2026-07-28', '2025-11-25'] as const;
type Version = (typeof VERSIONS)[number];

/** A client whose user answers questions; without `user` it has no user. */
async function clientWith(version: Version, user: ((question: Question) => ElicitResult) | null): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: user === null ? {} : { elicitation: {} },
      versionNegotiation: { mode: version === '2026-07-28' ? { pin: version } : 'legacy' },
      inputRequired: { maxRounds: 50 },
    },
  );
  if (user !== null) client.setRequestHandler('elicitation/create', ({ params }) => user(params as Question));
  await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
  onTestFinished(() => client.close());
  return client;
}

const accept = (answer: string | boolean | number): ElicitResult => ({ action: 'accept', content: { answer } });

async function run(client: Client, ...lines: readonly string[]) {
  const src = ['command', ...lines, 'endcommand'].join('\n');
  return (await client.callTool({ name: 'run', arguments: { src } })).structuredContent;
}

describe.each(VERSIONS)('a program asks the user of a client that speaks %s', (version) => {
  it('with promptuser, as often as it likes, and calls no tool twice', async () => {
    const asked: string[] = [];
    const busy: number[] = [];
    const client = await clientWith(version, ({ message, requestedSchema }) => {
      asked.push(message);
      busy.push(runtime.stats().computing + runtime.stats().waitingForHost);
      expect(requestedSchema?.properties).toEqual({ answer: { type: 'string' } });
      return accept(message === 'name?' ? ' Ada ' : '36');
    });
    const result = await run(
      client,
      'emit tool.test.Note()',
      'promptuser "name?" into name',
      'emit tool.test.Note()',
      'promptuser "age?" into age',
      'emit name + " is " + age',
    );
    expect(result).toMatchObject({ ok: true, emits: ['1', '2', 'Ada is 36'] });
    expect(calls).toBe(2);
    expect([asked, busy]).toEqual([
      ['name?', 'age?'],
      [0, 0],
    ]);
  });

  it('with a tool that answers later, in the type that it gives', async () => {
    const client = await clientWith(version, ({ message, requestedSchema }) => {
      expect([message, requestedSchema?.properties]).toEqual(['tool.test.approve: may I sail?', { answer: { type: 'boolean' } }]);
      return accept(true);
    });
    expect(await run(client, 'emit tool.test.Approve("sail")')).toMatchObject({ ok: true, values: [true] });
  });

  it('with a tool that gives one of several texts, which the user is shown', async () => {
    const client = await clientWith(version, ({ requestedSchema }) => {
      expect(requestedSchema?.properties).toEqual({ answer: { type: 'string', enum: ['red', 'blue'] } });
      return accept('blue');
    });
    expect(await run(client, 'emit tool.test.Choose()')).toMatchObject({ ok: true, emits: ['blue'] });
  });

  it('and gets an error that it can handle when the user does not answer', async () => {
    const client = await clientWith(version, () => ({ action: 'decline' }));
    const handler = ['on error do', 'emit system_error.code', 'clear_error', 'endon'];
    expect(await run(client, ...handler, 'promptuser "?" into x')).toMatchObject({ ok: true, values: [26] });
    expect(await run(client, ...handler, 'emit tool.test.Approve("sail")')).toMatchObject({ ok: true, values: [21] });
  });

  it('at most sixteen times', async () => {
    const client = await clientWith(version, () => accept('x'));
    const result = await run(client, 'while true', 'promptuser "?" into x', 'emit x', 'endwhile');
    expect(result).toMatchObject({ ok: false, error: { code: 'NS26' }, emits: new Array(16).fill('x') });
  });

  it('and its call limits count on', async () => {
    const client = await clientWith(version, () => accept('x'));
    const result = await run(client, 'while true', 'emit tool.test.Note()', 'promptuser "?" into x', 'endwhile');
    expect(result).toMatchObject({ ok: false, error: { code: 'NS1003' }, values: [1, 2, 3] });
  });

  it('but fails as ever when the client cannot ask', async () => {
    const client = await clientWith(version, null);
    expect(await run(client, 'promptuser "?" into x')).toMatchObject({ ok: false, error: { code: 'NS26' } });
    expect(await run(client, 'emit tool.test.Approve("x")')).toMatchObject({ ok: false, error: { code: 'NS19' } });
  });
});

describe('what clients bring back', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };

  async function call(extra: object = {}) {
    const src = 'command\npromptuser "name?" into x\nemit x\nendcommand';
    const params = { name: 'run', arguments: { src }, _meta: META, ...extra };
    const answer = await fetch(http.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'run',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    return JSON.parse(await answer.text());
  }
  const answers = (answer: unknown) => ({ inputResponses: { answer: { action: 'accept', content: { answer } } } });

  it('is refused when it is not what the server signed, and asked for again when it is no answer', async () => {
    const { result } = await call();
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { answer: { method: 'elicitation/create' } } });
    const { requestState } = result;
    expect(await call({ requestState: `${requestState}x`, ...answers('a') })).toMatchObject({ error: { code: -32602 } });
    for (const wrong of [{}, answers(5), { inputResponses: { other: { action: 'accept', content: {} } } }]) {
      const again = await call({ requestState: (await call()).result.requestState, ...wrong });
      expect(again.result).toMatchObject({ resultType: 'input_required' });
      const done = await call({ requestState: again.result.requestState, ...answers('a') });
      expect(done.result.structuredContent).toMatchObject({ ok: true, emits: ['a'] });
    }
  });

  it('continues a program once', async () => {
    const { requestState } = (await call()).result;
    expect((await call({ requestState, ...answers('a') })).result.structuredContent).toMatchObject({ emits: ['a'] });
    const again = await call({ requestState, ...answers('a') });
    expect(again.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('ERR_CALL_UNKNOWN') }] });
  });

  it('comes too late for the program that has waited longest, when too many wait', async () => {
    const first = (await call()).result.requestState;
    const second = (await call()).result.requestState;
    // As 254 other programs would, and then one more does.
    for (let n = 0; n < MOST_WAITING - 2; n += 1) programs.put(`other ${n}`, '{}');
    await call();
    expect((await call({ requestState: first, ...answers('a') })).result).toMatchObject({ isError: true });
    expect((await call({ requestState: second, ...answers('a') })).result.structuredContent).toMatchObject({ ok: true });
  });
});

describe('without the option', () => {
  it('no program asks anybody', async () => {
    const made = await service([approve]);
    const client = await connected(made.servers, { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', () => accept('x'));
    expect(await run(client, 'promptuser "?" into x')).toMatchObject({ ok: false, error: { code: 'NS26' } });
    await client.close();
    await made.runtime.close();
  });
});
