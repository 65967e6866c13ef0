import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  type ContentBlock,
  completable,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { MemoryPrograms } from '../../src/mcp/server/programs.ts';
import { codecOf } from '../../src/mcp/server/questions.ts';
import { defined } from '../../src/wire/defined.ts';

/*
 * The tools, resources and prompts that the conformance suite calls, on a server of this runtime. Their texts are those that the
 * suite expects.
 */

/** The server signs with the key of these programs, and so do the tools here. */
export const PROGRAMS = new MemoryPrograms();
const REQUEST_STATE = codecOf(PROGRAMS);

/** A red point as PNG. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A WAV file without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, words: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
});

type Answer = CallToolResult | InputRequiredResult;
type Handler = (context: ServerContext, args: Readonly<Record<string, string>>) => Answer | Promise<Answer>;
const says = (...content: ContentBlock[]): CallToolResult => ({ content });

const form = (
  message: string,
  properties: ElicitRequestFormParams['requestedSchema']['properties'],
): ElicitRequestFormParams => ({
  mode: 'form',
  message,
  requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
});
const words = { type: 'string' } as const;

const SIMPLE: Readonly<Record<string, Handler>> = {
  test_simple_text: () => says(text('This is a simple text response for testing.')),
  test_image_content: () => says(image),
  test_audio_content: () => says({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () => says(embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  test_multiple_content_types: () =>
    says(
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ),
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_tool_with_logging: async ({ mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', line);
      await sleep(50);
    }
    return says(text('done'));
  },
  test_logging_tool: async ({ mcpReq }) => {
    await mcpReq.log('info', 'a line');
    return says(text('done'));
  },
  test_tool_with_progress: async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return says(text('done'));
  },
  test_sampling: async ({ mcpReq }, { prompt = '' }) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
    const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 });
    return says(text(`LLM response: ${JSON.stringify(content)}`));
  },
  test_elicitation: async ({ mcpReq }, { message = '' }) => {
    const answer = await mcpReq.elicitInput(form(message, { username: words, email: words }));
    return says(text(`User response: ${JSON.stringify(answer)}`));
  },
  test_elicitation_sep1034_defaults: elicits({
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }),
  test_elicitation_sep1330_enums: elicits({
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
  }),
};

function titled(value: string, title: string) {
  return ['First', 'Second', 'Third'].map((nth, index) => ({ const: `${value}${index + 1}`, title: `${nth} ${title}` }));
}

function elicits(properties: ElicitRequestFormParams['requestedSchema']['properties']): Handler {
  return async ({ mcpReq }) => {
    const { action, content } = await mcpReq.elicitInput(form('Please fill in', properties));
    return says(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`));
  };
}

const askName = inputRequired.elicit(form('What is your name?', { name: words }));
const confirm = inputRequired.elicit(form('Please confirm', { ok: { type: 'boolean' } }));
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: question } }], maxTokens });

/** A tool that needs answers, and what it says when all are there. */
function needs(
  inputRequests: NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>,
  said: (responses: Readonly<Record<string, unknown>>) => string,
  state?: string,
): Handler {
  return async ({ mcpReq }) => {
    const { inputResponses = {} } = mcpReq;
    const missing = Object.keys(inputRequests).some((key) => inputResponse(inputResponses, key).kind === 'missing');
    if (missing || (state !== undefined && mcpReq.requestState() !== state))
      return inputRequired(defined({ inputRequests, requestState: state && (await REQUEST_STATE.mint(state)) }));
    return says(text(said(inputResponses)));
  };
}

const name = (responses: Readonly<Record<string, unknown>>) => acceptedContent(responses, 'user_name')?.['name'];
const INPUT_REQUIRED = 'test_input_required_result';

const MULTI_ROUND: Readonly<Record<string, Handler>> = {
  [`${INPUT_REQUIRED}_elicitation`]: async ({ mcpReq }) => {
    const given = name(mcpReq.inputResponses ?? {});
    return typeof given === 'string' ? says(text(`Hello, ${given}!`)) : inputRequired({ inputRequests: { user_name: askName } });
  },
  [`${INPUT_REQUIRED}_sampling`]: needs({ capital_question: sample('What is the capital of France?', 100) }, JSON.stringify),
  [`${INPUT_REQUIRED}_list_roots`]: needs({ client_roots: inputRequired.listRoots() }, JSON.stringify),
  [`${INPUT_REQUIRED}_request_state`]: needs({ confirm }, () => 'state-ok', 'confirm'),
  [`${INPUT_REQUIRED}_tampered_state`]: needs({ confirm }, () => 'state-ok', 'tampered'),
  [`${INPUT_REQUIRED}_multiple_inputs`]: needs(
    { user_name: askName, greeting: sample('Generate a greeting', 50), client_roots: inputRequired.listRoots() },
    JSON.stringify,
    'all',
  ),
  [`${INPUT_REQUIRED}_multi_round`]: async ({ mcpReq }) => {
    const step = mcpReq.requestState();
    const color = { step2: inputRequired.elicit(form('Step 2: What is your favorite color?', { color: words })) };
    if (step === 'step2') return says(text(JSON.stringify(mcpReq.inputResponses)));
    if (step === 'step1') return inputRequired({ inputRequests: color, requestState: await REQUEST_STATE.mint('step2') });
    const first = { step1: inputRequired.elicit(form('Step 1: What is your name?', { name: words })) };
    return inputRequired({ inputRequests: first, requestState: await REQUEST_STATE.mint('step1') });
  },
  // The requests that a client without the capability cannot fulfil are left out.
  [`${INPUT_REQUIRED}_capabilities`]: async (context) => {
    const declared: unknown = Reflect.get(context.mcpReq.envelope ?? {}, 'io.modelcontextprotocol/clientCapabilities');
    const can = (capability: string) => typeof declared === 'object' && declared !== null && capability in declared;
    const inputRequests = {
      ...(can('elicitation') ? { user_name: askName } : {}),
      ...(can('sampling') ? { greeting: sample('Generate a greeting', 50) } : {}),
      ...(can('roots') ? { client_roots: inputRequired.listRoots() } : {}),
    };
    return Object.keys(inputRequests).length === 0
      ? says(text('nothing to ask'))
      : needs(inputRequests, JSON.stringify)(context, {});
  },
  test_missing_capability: () => inputRequired({ inputRequests: { greeting: sample('Generate a greeting', 50) } }),
  test_streaming_elicitation: needs({ user_name: askName }, JSON.stringify),
};

/** Adds everything that the suite asks for to a server. */
export function forConformance(server: McpServer): McpServer {
  server.server.registerCapabilities({ logging: {}, resources: { subscribe: true } });
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.server.setRequestHandler(method, () => ({}));
  const inputSchema = z.object({ prompt: z.string().optional(), message: z.string().optional() });
  for (const [tool, handler] of Object.entries({ ...SIMPLE, ...MULTI_ROUND }))
    server.registerTool(tool, { description: 'A tool for the conformance suite.', inputSchema }, (args, context) => {
      const given = Object.entries(args).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
      return handler(context, Object.fromEntries(given));
    });
  addResources(server);
  addPrompts(server);
  return server;
}

function addResources(server: McpServer): void {
  const description = 'A resource for the conformance suite.';
  const plain = { description, mimeType: 'text/plain' };
  for (const uri of ['test://static-text', 'test://watched-resource'])
    server.registerResource(uri, uri, plain, () => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    }));
  const uri = 'test://static-binary';
  server.registerResource(uri, uri, { description, mimeType: 'image/png' }, () => ({
    contents: [{ uri, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { description, mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }));
}

function addPrompts(server: McpServer): void {
  const description = 'A prompt for the conformance suite.';
  const user = (...contents: ContentBlock[]) => ({ messages: contents.map((content) => ({ role: 'user' as const, content })) });
  server.registerPrompt('test_simple_prompt', { description }, () => user(text('This is a simple prompt for testing.')));
  const arg1 = completable(z.string().describe('the first'), (value) =>
    ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description, argsSchema: z.object({ arg1, arg2: z.string().describe('the second') }) },
    (args) => user(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      user(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description }, () => user(image, text('Please analyze the image above.')));
  server.registerPrompt('test_input_required_result_prompt', { description }, ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context')?.['context'];
    if (typeof given === 'string') return user(text(`Context: ${given}`));
    const asked = inputRequired.elicit(form('What context should the prompt use?', { context: words }));
    return inputRequired({ inputRequests: { user_context: asked } });
  });
}
