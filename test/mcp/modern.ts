/** A server of protocol version 2026-07-28 with questions, progress and tasks. A task ends when the file exists that its call names. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const TASKS = 'io.modelcontextprotocol/tasks';
const text = (words: unknown) => ({
  content: [{ type: 'text' as const, text: typeof words === 'string' ? words : JSON.stringify(words) }],
});
const object = (properties: Record<string, Record<string, string>>) => ({ type: 'object' as const, properties });
const task = (taskId: string, status: string, more: object = {}) => ({
  taskId,
  status,
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: 600_000,
  pollIntervalMs: 50,
  ...more,
});

const NAME = { type: 'string', title: 'Your\u001b[31m name' };
const COLOUR = { type: 'string', enum: ['red', 'blue'], default: 'blue' };
const AGE = { type: 'integer', minimum: 18 };
const form = (message: string, properties: object) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required: ['name'] } },
});

const TOOLS = {
  ask: object({}),
  page: object({}),
  endless: object({}),
  work: object({ ms: { type: 'number' }, report: { type: 'boolean' } }),
  slow: object({ until: { type: 'string' } }),
  deciding: object({}),
  failing: object({}),
  samples: object({}),
  switch: object({}),
};

/** Whether the tool `ask` has become another one. */
let switched = false;
/** What the tasks are waiting for: a file, or the answers to questions. */
const given = new Map<string, unknown>();

function make(): Server {
  const server = new Server(
    { name: 'modern', version: '1' },
    { capabilities: { tools: { listChanged: true }, resources: {}, extensions: { [TASKS]: {} } } },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, inputSchema]) => ({
      name,
      description: switched && name === 'ask' ? 'another' : '',
      inputSchema,
    })),
  }));
  server.setRequestHandler('resources/list', () => ({
    resources: [{ uri: 'x:/a\u0007', name: 'a', description: 'one\u0007two' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: uri === 'x:/bytes' ? [{ uri, blob: 'AAEC' }] : [{ uri, text: `text of ${uri}` }],
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const answers = mcpReq.inputResponses;
    const args = z
      .looseObject({ until: z.string().optional(), ms: z.number().optional(), report: z.boolean().optional() })
      .parse(params.arguments ?? {});
    const required = (request: object) =>
      // The types of the library name the requests of its own builder only.
      ({ resultType: 'input_required', inputRequests: { q: request }, requestState: 'state-1' }) as never;
    switch (params.name) {
      case 'ask':
        return answers === undefined
          ? required(form('Who\u0007 are you?', { name: NAME, colour: COLOUR, age: AGE }))
          : text(answers['q']);
      case 'page':
        return answers === undefined ? required(form('as a page', { name: NAME })) : text(answers['q']);
      case 'endless':
        return required(form('again', { name: NAME }));
      case 'samples':
        return required(form('as a sample', { name: NAME }));
      case 'switch':
        switched = true;
        await server.sendToolListChanged();
        return text('switched');
      case 'work': {
        const { progressToken } = mcpReq._meta ?? {};
        for (let spent = 0; spent < (args.ms ?? 0); spent += 500) {
          await sleep(500);
          if (args.report && progressToken !== undefined)
            await mcpReq.notify({
              method: 'notifications/progress',
              params: { progressToken, progress: spent, total: args.ms ?? 0, message: 'still\u0007 here' },
            });
        }
        return text('worked');
      }
      default:
        return { resultType: 'task', ...task(`${params.name} ${args.until ?? ''}`, 'working') } as never;
    }
  });
  const params = z.looseObject({ taskId: z.string(), inputResponses: z.unknown().optional() });
  server.setRequestHandler('tasks/get', { params }, ({ taskId }) => {
    const [kind, until = ''] = taskId.split(' ');
    if (kind === 'failing') return task(taskId, 'failed', { error: { code: -32000, message: 'no\u0007 luck' } });
    if (kind === 'deciding') {
      const answer = given.get(taskId);
      if (answer === undefined) return task(taskId, 'input_required', { inputRequests: { q: form('Decide', { name: NAME }) } });
      return task(taskId, 'completed', { result: text(answer) });
    }
    return existsSync(until) ? task(taskId, 'completed', { result: text('done at last') }) : task(taskId, 'working');
  });
  server.setRequestHandler('tasks/update', { params }, ({ taskId }, { mcpReq }) => {
    given.set(taskId, mcpReq.inputResponses);
    return {};
  });
  return server;
}

// The library sends no request that the client has not offered to answer. These are changed on their way out.
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (chunk: string | Uint8Array) => {
  const line = String(chunk);
  if (line.includes('as a page')) return write(line.replace('"mode":"form"', '"mode":"url","url":"https://example.test/"'));
  return write(line.includes('as a sample') ? line.replace('elicitation/create', 'sampling/createMessage') : line);
};

serveStdio(make);
