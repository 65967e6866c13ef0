import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isMonstrous, parsedJson } from '../files/json.ts';
import { CallError, SessionLeasedError, SessionStateError } from '../loop/index.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import { Access } from './access.ts';
import type { Assets } from './assets.ts';
import type { Changes } from './changes.ts';
import type { Inspector } from './inspector.ts';
import { RequestError } from './request.ts';
import type { ChangeView, FailureView } from './views.ts';

// An import would load Node's client of HTTP too: 0.08 s of CPU time.
const { createServer } = process.getBuiltinModule('node:http');

/** What is served, and where. */
export interface UiServerInit {
  readonly inspector: Inspector;
  readonly assets: Assets;
  /** A port of 127.0.0.1; 0 chooses a free one. */
  readonly port: number;
  /** Learns of failures that no request caused. */
  readonly onError?: (error: unknown) => void;
}

/** A running server. Disposing it ends its connections. */
export interface UiServer extends AsyncDisposable {
  /** The address to open, with the one-time token. */
  readonly url: string;
}

/** A page makes small requests. The server closes a connection that sends one slowly, or sends nothing. */
const BOUNDS = {
  maxHeaderSize: 16_384,
  headersTimeout: 5000,
  requestTimeout: 15_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1000,
} as const;
const MOST_CONNECTIONS = 64;
/** Bytes of the body of a request: a program, or an answer. */
const BODY_BYTES = 4 * 1024 * 1024;

/** What a page may do: load what this server sends, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Serves the page and its data on 127.0.0.1. Rejects with the error of the system when the port cannot be used. */
export async function serveUi({ inspector, assets, port, onError = () => {} }: UiServerInit): Promise<UiServer> {
  let access: Access | null = null;
  const server = createServer(BOUNDS, (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    // Nobody can connect before the server listens, and then its port is known.
    if (access === null) return void response.destroy();
    answer({ inspector, assets, access }, request, response).catch((error: unknown) => fail(request, response, error, onError));
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.maxRequestsPerSocket = 10_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  access = new Access(portOf(server));
  return {
    url: access.url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Served {
  readonly inspector: Inspector;
  readonly assets: Assets;
  readonly access: Access;
}

async function answer({ inspector, assets, access }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  access.check(request);
  const { pathname, path, query } = addressOf(request.url ?? '');
  const { method } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const token = query.get('token');
  if (pathname === '/' && token !== null && method === 'GET') return enter(access, token, request, response);
  access.checkCookie(request);
  if (path[0] !== 'api') {
    if (!isRead) throw new RequestError(405, 'the page can only be read');
    const asset = assets.get(pathname === '/' ? 'index.html' : pathname.slice(1));
    if (asset === undefined) throw new RequestError(404, 'there is nothing at this address');
    return send(request, response, 200, asset.type, asset.bytes);
  }
  const asked = { path: path.slice(1), query, signal: gone(response) };
  if (pathname === '/api/events') {
    if (method !== 'GET') throw new RequestError(405, 'events can only be read');
    if (inspector.changes.size >= STREAMS) throw new RequestError(503, 'too many pages are open');
    return openStream(inspector.changes, query.get('sid'), response);
  }
  if (!isRead && method !== 'POST') throw new RequestError(405, 'use GET or POST');
  const body = isRead ? await inspector.read(asked) : await inspector.act(asked, await bodyOf(request));
  send(request, response, 200, JSON_TYPE, Buffer.from(JSON.stringify(body)));
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Lets a browser in that has the token, and takes the token out of its address. */
function enter(access: Access, token: string, request: IncomingMessage, response: ServerResponse): void {
  const cookie = access.exchange(token);
  // A browser that already has the cookie may load the page again.
  if (cookie === null) access.checkCookie(request);
  else response.setHeader('set-cookie', cookie);
  response.writeHead(303, { location: '/' }).end();
}

/** The parts of an address. Throws {@link RequestError} (400) for one that cannot be decoded. */
function addressOf(url: string): {
  readonly pathname: string;
  readonly path: readonly string[];
  readonly query: URLSearchParams;
} {
  const [pathname = '', search = ''] = url.split('?', 2);
  try {
    return { pathname, path: pathname.split('/').slice(1).map(decodeURIComponent), query: new URLSearchParams(search) };
  } catch {
    throw new RequestError(400, 'the address cannot be decoded');
  }
}

/** The JSON of a request; undefined without a body. Throws {@link RequestError}. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  // A form of another page cannot send this type without asking first.
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') throw new RequestError(415, 'the body must be application/json');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) throw new RequestError(413, `the body has more than ${BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (text === '') return undefined;
  if (isMonstrous(text)) throw new RequestError(400, 'the body nests too deep, or has too many values');
  const json = parsedJson(text);
  if (json === undefined) throw new RequestError(400, 'the body is not JSON');
  return json;
}

/** Aborts when the connection closes before the answer is sent. */
function gone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

function send(request: IncomingMessage, response: ServerResponse, status: number, type: string, bytes: Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Answers a request that failed. What is no failure of a request is told to `onError`, and not to the page. */
function fail(request: IncomingMessage, response: ServerResponse, error: unknown, onError: (error: unknown) => void): void {
  if (response.destroyed) return;
  if (response.headersSent) return void response.destroy();
  const status = statusOf(error);
  if (status === 500) onError(error);
  const known = error instanceof NeuroScriptError && status !== 500;
  const body: FailureView = {
    error: known
      ? { code: error.code, message: error.message }
      : { code: 'ERR_INTERNAL', message: 'the server failed; its terminal says why' },
  };
  if (status === 405) response.setHeader('allow', 'GET, HEAD, POST');
  // The rest of a body is not read.
  if (!request.complete) response.setHeader('connection', 'close');
  const isApi = request.url?.startsWith('/api/') === true;
  const bytes = Buffer.from(isApi ? JSON.stringify(body) : `${body.error.message}\n`);
  send(request, response, status, isApi ? JSON_TYPE : 'text/plain; charset=utf-8', bytes);
}

function statusOf(error: unknown): number {
  if (error instanceof RequestError) return error.status;
  if (error instanceof CallError || error instanceof SessionLeasedError || error instanceof SessionStateError) return 409;
  return error instanceof NeuroScriptError && error.code === 'ERR_STORE' ? 503 : 500;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Streams that are open at a time: one for each page. */
const STREAMS = 32;

/** Milliseconds after which a silent stream shows that it is alive. */
const ALIVE_MS = 15_000;

/**
 * Sends changes to a page until it is closed. A page that reads slowly costs nothing: while its connection is full nothing is kept for
 * it, and then it hears that everything may have changed.
 */
export function openStream(changes: Changes, sid: string | null, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  let full = false;
  let missed = false;
  const write = (text: string): void => {
    full = !response.write(text);
  };
  const tell = (change: ChangeView): void => {
    if (full) missed = true;
    else write(`data: ${JSON.stringify(change)}\n\n`);
  };
  response.on('drain', () => {
    full = false;
    if (!missed) return;
    missed = false;
    for (const kind of ['sessions', 'log'] as const) tell({ kind });
  });
  const alive = setInterval(() => {
    if (!full) write(': alive\n\n');
  }, ALIVE_MS).unref();
  const stop = changes.listen({ sid, tell });
  response.once('close', () => {
    clearInterval(alive);
    stop();
  });
  write(': listening\n\n');
}
