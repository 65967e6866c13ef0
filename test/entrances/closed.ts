import { jsonSchema } from 'ai';
import { Minter, MintLedger, parseStrict, validateUserdata } from '../../src/aeiou/index.ts';
import { sdkTools } from '../../src/ai/sdktools.ts';
import { configOf } from '../../src/cli/config/read.ts';
import { AccountStore } from '../../src/context/index.ts';
import { AgentModelStore, defineTool } from '../../src/entries/index.ts';
import { functionAgent } from '../../src/loop/agents/agent.ts';
import { readRecord } from '../../src/loop/sessions/rows.ts';
import { readMcpConfig } from '../../src/mcp/config.ts';
import { readMessage } from '../../src/rpc/messages.ts';
import { requestFromJson } from '../../src/runtime/line.ts';
import { fromJsonSchema, loadMockTools, loadPolicy } from '../../src/tools/index.ts';
import { NeuroScriptError } from '../../src/wire/errors.ts';
import { goldenKeys, IDS, NEVER, TURN } from '../aeiou/kit.ts';
import { TestClock } from '../loop/fake.ts';
import { controller, run } from '../loop/host.ts';

const minting = (request: object): Promise<unknown> =>
  new Minter({ keyring: goldenKeys(), clock: new TestClock(), ids: IDS }).mint(
    TURN,
    new MintLedger(),
    { kind: 'LOOP', payload: { action: 'done' }, opts: null, ...request },
    NEVER,
  );

const sdk = (part: object): unknown =>
  sdkTools({ a: { inputSchema: jsonSchema({ type: 'object' }), execute: () => 1, ...part } });

async function asked(reply: unknown): Promise<number> {
  const { error, turns } = await controller().loop.runLoop(
    run(functionAgent((() => reply) as never), { maxTurns: 1, maxReasks: 0 }),
  );
  if (error?.code === 'ERR_AGENT') throw new NeuroScriptError(error.code, error.message);
  return turns[0]?.agent?.tokens ?? 0;
}

/** Entrances of one form, which refuse most values: none may fail without a code. */
export const CLOSED: Readonly<Record<string, (value: unknown) => unknown>> = {
  AccountFields: (value) => new AccountStore().register('a', value as never),
  'AccountFields, one': (value) => new AccountStore().register('a', { kind: value, provider: value, api_key: value }),
  'AgentModelFields, all': (value) => new AgentModelStore().register('m', value as never),
  'AgentModelFields, each': (value) =>
    new AgentModelStore().register('m', {
      ...{ provider: value, disabled: value, base_url: value, max_turns: value, temperature: value, stop_sequences: value },
      ...{ tool_choice: value, params: value, seed: value },
    }),
  'JsonSchema[]': (value) => fromJsonSchema(value as never, 'a schema'),
  'JsonSchema.const': (value) => fromJsonSchema({ const: value } as never, 'a schema'),
  'JsonSchema.default': (value) => fromJsonSchema({ type: 'object', properties: { a: { default: value } } } as never, 'a schema'),
  'JsonSchema.enum': (value) => fromJsonSchema({ enum: [value] } as never, 'a schema'),
  'MintRequest.kind': (kind) => minting({ kind }),
  'MintRequest.opts': (opts) => minting({ opts }),
  'MintRequest.payload': (payload) => minting({ payload }),
  'MintRequest.payload, one': (request) => minting({ payload: { action: 'done', request } }),
  'SdkTool.description': (description) => sdk({ description }),
  'SdkTool.execute': (execute) => sdk({ execute }),
  'SdkTool.inputSchema': (inputSchema) => sdk({ inputSchema }),
  'SdkTool.needsApproval': (needsApproval) => sdk({ needsApproval }),
  'SdkTool.toModelOutput': (toModelOutput) => sdk({ toModelOutput }),
  'the options of a tool': (value) => defineTool(value as never),
  'a part of the options of a tool': (value) =>
    defineTool({ name: 'tool.t.T', run: () => null, description: value, returns: value, capabilities: value } as never),
  'the reply of an agent': asked,
  'the text of a reply': (text) => asked({ text, tokens: 1 }),
  'readRecord(text)': (value) => readRecord(value),
};

/** The tokens of a turn whose agent counts this: a value that is no count is never taken for nothing. */
export const tokensOf = (tokens: unknown, part: 'tokens' | 'inputTokens' | 'outputTokens'): Promise<number> =>
  asked({ text: 'no envelope', [part]: tokens });

/** Readers of JSON that comes as text, and keys that each knows. */
export const TEXTS: Readonly<Record<string, readonly [read: (text: string) => unknown, ...keys: string[]]>> = {
  'a line of requests': [requestFromJson, 'id', 'src', 'lib', 'call', 'args', 'globals', 'events', 'limits'],
  'a configuration of MCP servers': [(text) => readMcpConfig(text, 'f', {}), 'mcpServers', 'servers'],
  'a policy': [(text) => loadPolicy(text, 'f'), 'allow', 'deny', 'grants', 'limits', 'context', 'order', 'flow'],
  'a configuration of the command': [
    (text) => configOf(text, 'f'),
    ...['keys', 'log', 'listen', 'lease', 'tenants', 'admission', 'profiles', 'name', 'agent', 'limits', 'ceilings', 'mcp'],
    ...['policy', 'tools', 'models', 'storage', 'transcript', 'repair', 'approve', 'system', 'maxTime'],
  ],
  'a file of tools': [(text) => loadMockTools(text, 'f'), 'tools', 'policy'],
  'a message of a host': [(text) => readMessage(Buffer.from(text)), 'jsonrpc', 'id', 'method', 'params', 'result', 'error'],
  USERDATA: [validateUserdata, 'subject', 'brief', 'fields'],
  'strict JSON': [parseStrict],
  'a record': [readRecord, 'sid', 'turn', 'journal', 'decision'],
};
