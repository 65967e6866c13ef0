import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  type McpServer,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { parsedJson } from '../../files/json.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checker, checkText, listOf, required, timerMs, wholeNumber } from '../../wire/options.ts';
import { MESSAGE_BYTES, refusal, refused, TOO_LONG } from './intake.ts';

// An import would load Node's client of HTTP too: 0.08 s of CPU time.
const { createServer } = process.getBuiltinModule('node:http');

/** Options of serving over HTTP. */
export interface McpHttpOptions {
  /** The port of 127.0.0.1; 0 chooses a free one. */
  readonly port: number;
  /** Names other than `localhost` in addresses by which clients may reach the server, such as that of a proxy. */
  readonly hosts?: readonly string[];
  /** Origins of web pages that may reach the server beside its own, such as `https://app.example`. */
  readonly origins?: readonly string[];
  /** Milliseconds in which a client has to send its request, and to take each part of the answer; 30,000 when absent. */
  readonly timeoutMs?: number;
}

const checkMcpHttpOptions = checker<McpHttpOptions>({
  port: required(wholeNumber(0, 65_535)),
  hosts: listOf(checkText),
  origins: listOf(checkText),
  timeoutMs: timerMs(1),
});

/** A server over HTTP. */
export interface McpHttp extends AsyncDisposable {
  /** Its address: `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
}

const PATH = '/mcp';

const METHODS: readonly string[] = ['GET', 'POST', 'DELETE'];

/** Maximum number of simultaneous requests, including streams on which clients wait for messages. */
const MOST_REQUESTS = 128;

/** Maximum bytes of all bodies that are in memory at once. */
const BODIES_BYTES = 16 * MESSAGE_BYTES;

/**
 * Serves any number of clients over streamable HTTP, on the loopback interface only: there is no authentication. A request with the
 * name of another host, or from a web page of another origin, is refused, so that no web page reaches the server through a browser.
 * Rejects with `ConfigError` (`ERR_CONFIG`) for bad options, and when the port cannot be used.
 */
export async function serveHttp(servers: () => McpServer, options: McpHttpOptions): Promise<McpHttp> {
  checkMcpHttpOptions('the options of MCP over HTTP', options);
  const { port, hosts = [], origins = [], timeoutMs = 30_000 } = options;
  const face = new HttpFace(servers, { hosts: [...localhostAllowedHostnames(), ...hosts], origins }, timeoutMs);
  const times = { requestTimeout: timeoutMs, headersTimeout: timeoutMs, connectionsCheckingInterval: timeoutMs };
  const server = createServer(times, face.answer);
  server.maxConnections = 2 * MOST_REQUESTS;
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (cause) {
    throw new ConfigError(`cannot listen on 127.0.0.1:${port}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  return {
    url: `http://127.0.0.1:${portOf(server)}${PATH}`,
    async [Symbol.asyncDispose]() {
      await face.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Answers requests, within bounds. */
class HttpFace {
  readonly #hosts: string[];
  readonly #origins: readonly string[];
  readonly #handler: ReturnType<typeof createMcpHandler>;
  readonly #sessions: HttpSessions;
  readonly #timeoutMs: number;
  #requests = 0;
  #bodyBytes = 0;

  constructor(
    servers: () => McpServer,
    { hosts, origins }: { readonly hosts: string[]; readonly origins: readonly string[] },
    timeoutMs: number,
  ) {
    this.#hosts = hosts;
    this.#origins = origins;
    this.#timeoutMs = timeoutMs;
    this.#handler = createMcpHandler(servers, { maxSubscriptions: MOST_REQUESTS });
    this.#sessions = new HttpSessions(servers);
  }

  readonly answer = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    this.#requests += 1;
    this.#answer(incoming, gone.signal)
      .then((response) => send(response, outgoing, gone.signal, this.#timeoutMs))
      // The connection is lost, or the client does not read.
      .catch(() => outgoing.destroy())
      .finally(() => {
        this.#requests -= 1;
      });
  };

  async close(): Promise<void> {
    await Promise.all([this.#handler.close(), this.#sessions.close()]);
  }

  async #answer(incoming: IncomingMessage, signal: AbortSignal): Promise<Response> {
    if (incoming.url?.split('?')[0] !== PATH) return new Response(null, { status: 404 });
    if (this.#requests > MOST_REQUESTS) return busy();
    const headers = headersOf(incoming);
    const { method = '' } = incoming;
    if (!METHODS.includes(method)) return new Response(null, { status: 405, headers: { allow: METHODS.join(', ') } });
    const address = `http://localhost${PATH}`;
    const asked = new Request(address, { method: 'HEAD', headers });
    const foreign = hostHeaderValidationResponse(asked, this.#hosts) ?? this.#foreignOrigin(asked);
    if (foreign !== undefined) return foreign;
    const body = await this.#bodyOf(incoming);
    if (body instanceof Response) return body;
    const { text, bytes } = body;
    try {
      const request = new Request(address, { method, headers, signal, ...(method === 'POST' ? { body: text } : {}) });
      // The library reports a body that is no JSON.
      const message = parsedJson(text);
      const legacy = message === undefined || (await isLegacyRequest(request, message));
      return (legacy ? await this.#sessions.answer(request, message) : null) ?? (await this.#handler.fetch(request));
    } finally {
      this.#bodyBytes -= bytes;
    }
  }

  /** The answer to a request from a web page that may not ask. The server's own origin is that of the name by which it was asked. */
  #foreignOrigin(asked: Request): Response | undefined {
    const [origin, host] = [asked.headers.get('origin'), asked.headers.get('host')];
    if (origin === null || [`http://${host}`, `https://${host}`, ...this.#origins].includes(origin)) return undefined;
    return originValidationResponse(asked, []);
  }

  /** The body of a request; an answer when it is too large to be read. */
  async #bodyOf(incoming: IncomingMessage): Promise<Body | Response> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let keep = false;
    try {
      // The connection must stay open for an answer when the rest of the body is not read.
      for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
        const part = Buffer.from(chunk);
        if (bytes + part.length > MESSAGE_BYTES) return refusing(TOO_LONG, 413);
        if (this.#bodyBytes + part.length > BODIES_BYTES) return busy();
        chunks.push(part);
        bytes += part.length;
        this.#bodyBytes += part.length;
      }
      const text = Buffer.concat(chunks).toString();
      const reason = refusal(text);
      keep = reason === null;
      return reason === null ? { text, bytes } : refusing(reason, 400);
    } finally {
      if (!keep) this.#bodyBytes -= bytes;
    }
  }
}

/** The body of a request, with its counted bytes. */
interface Body {
  readonly text: string;
  readonly bytes: number;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

function refusing(reason: string, status: number): Response {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  return new Response(refused(reason), { status, headers });
}

function busy(): Response {
  return new Response(null, { status: 503, headers: { 'retry-after': '1', connection: 'close' } });
}

/** Sends an answer as fast as the client takes it. Rejects when the client takes nothing for too long, or has gone. */
async function send(
  { status, headers, body }: Response,
  outgoing: ServerResponse,
  gone: AbortSignal,
  timeoutMs: number,
): Promise<void> {
  outgoing.writeHead(status, Object.fromEntries(headers));
  const reader = body?.getReader();
  // A stream may wait for its next message for hours.
  gone.addEventListener('abort', () => void reader?.cancel().catch(() => {}), { once: true });
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      if (outgoing.write(part.value)) continue;
      await once(outgoing, 'drain', { signal: AbortSignal.any([gone, AbortSignal.timeout(timeoutMs)]) });
    }
  } finally {
    await reader?.cancel();
  }
  outgoing.end();
}

/** The header that names a session. */
const SESSION = 'mcp-session-id';

/** Maximum number of sessions; a new one ends the one that was used least recently. */
const MOST_SESSIONS = 64;

/**
 * The sessions of clients that speak a version of the protocol before 2026-07-28 over HTTP. Each has a server of its own, which can ask
 * its client. A session ends when its client ends it, when too many newer ones exist, and with this object.
 */
class HttpSessions {
  readonly #servers: () => McpServer;
  /** The least recently used session comes first. */
  readonly #open = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(servers: () => McpServer) {
    this.#servers = servers;
  }

  /** Answers a request that begins or continues a session; null for one that does neither. */
  async answer(request: Request, message: unknown): Promise<Response | null> {
    const id = request.headers.get(SESSION);
    if (id === null) return begins(message) ? this.#begin(request, message) : null;
    const transport = this.#open.get(id);
    if (transport === undefined) return sessionUnknown();
    this.#open.delete(id);
    this.#open.set(id, transport);
    return transport.handleRequest(request, { parsedBody: message });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  async #begin(request: Request, message: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#add(id, transport),
    });
    await this.#servers().connect(transport);
    const onclose = transport.onclose;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#open.delete(transport.sessionId);
      onclose?.();
    };
    return transport.handleRequest(request, { parsedBody: message });
  }

  async #add(id: string, transport: WebStandardStreamableHTTPServerTransport): Promise<void> {
    this.#open.set(id, transport);
    const [oldest] = this.#open.values();
    if (this.#open.size > MOST_SESSIONS) await oldest?.close();
  }
}

function begins(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'method' in message && message.method === 'initialize';
}

/** The answer that makes a client begin a new session. */
function sessionUnknown(): Response {
  const error = { code: -32001, message: 'there is no such session' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
