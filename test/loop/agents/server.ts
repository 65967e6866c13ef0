import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** What a model's server was asked. */
export interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly stream: boolean;
    readonly messages: readonly { role: string; content: unknown }[];
  } & Readonly<Record<string, unknown>>;
}

export type Answer = (response: ServerResponse, asked: Asked, index: number) => unknown;

/** A model's server on this machine, with the streaming API that OpenAI made common. */
export interface ModelServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly asked: Asked[];
  /** Answers that are under way. */
  open(): number;
}

export async function modelServer(answer: Answer): Promise<ModelServer> {
  const asked: Asked[] = [];
  let open = 0;
  const server = createServer(async (request, response) => {
    const one = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(await textOf(request)),
    };
    asked.push(one);
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    await answer(response, one, asked.length - 1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    asked,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

/** One event of a streamed reply. */
export function event(delta: object, finish: string | null = null, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
}

/** Begins a streamed reply. */
export function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(event({ role: 'assistant', content: '' }));
}

/** Streams a whole reply, in pieces of some characters. */
export function speak(
  response: ServerResponse,
  text: string,
  usage: object | null = { prompt_tokens: 30, completion_tokens: 12 },
): void {
  begin(response);
  for (let at = 0; at < text.length; at += 7) response.write(event({ content: text.slice(at, at + 7) }));
  response.write(event({}, 'stop'));
  if (usage !== null) response.write(`data: ${JSON.stringify({ id: 'r', created: 1, model: 'm', choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** Refuses, as such servers do. */
export function refuse(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message, type: 'server_error', code: null } }));
}
