import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { HostState } from '../../loop/index.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Health } from './readiness.ts';

// An import would load Node's client of HTTP too: 0.08 s of CPU time.
const { createServer } = process.getBuiltinModule('node:http');

/** What the server tells about. */
export interface StatusInit {
  /** `HOST:PORT`; port 0 chooses a free one. */
  readonly listen: string;
  readonly state: () => HostState;
  readonly health: Health;
  readonly metrics: () => Promise<string>;
}

export interface StatusServer extends AsyncDisposable {
  readonly url: string;
}

/** A request has no body and a few headers, so everything about it is small. */
const BOUNDS = { maxHeaderSize: 8192, headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 5000 } as const;
const MOST_CONNECTIONS = 64;

/**
 * Serves `/healthz` (the process answers), `/readyz` (503 while the host claims nothing, or its store or its log takes no write) and `/metrics` (Prometheus text) over HTTP.
 * There is no authentication, and nothing to change. A server on loopback answers no request by another name than an address or
 * `localhost`, which a web page could make through a name of its own. Throws {@link UsageError} when the address cannot be used.
 */
export async function serveStatus({ listen, ...told }: StatusInit): Promise<StatusServer> {
  const { host, port } = placeOf(listen);
  const server = createServer(BOUNDS, (request, response) =>
    isAskedByName(request, host) ? forbid(response) : void answer(request, response, told),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.maxRequestsPerSocket = 1000;
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    throw new UsageError(`cannot listen on ${listen}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Reads `HOST:PORT`; an address of IPv6 stands in brackets. */
function placeOf(listen: string): { readonly host: string; readonly port: number } {
  const colon = listen.lastIndexOf(':');
  const name = listen.slice(0, colon);
  const host = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  const digits = listen.slice(colon + 1);
  const port = Number(digits);
  if (colon > 0 && host !== '' && digits !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return { host, port };
  throw new UsageError(`listen '${listen}' must be HOST:PORT, such as 127.0.0.1:9464`);
}

/** Whether a request to a server on loopback names it by a name that anybody may have given to its address. */
function isAskedByName({ headers }: IncomingMessage, host: string): boolean {
  const asked = URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? '';
  const isLoopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  return isLoopback && asked !== 'localhost' && isIP(asked.replace('[', '').replace(']', '')) === 0;
}

function forbid(response: ServerResponse): void {
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('ask by an address or as localhost\n');
}

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly type?: string;
}

type Told = Omit<StatusInit, 'listen'>;

async function answer({ method, url }: IncomingMessage, response: ServerResponse, told: Told): Promise<void> {
  const isRead = method === 'GET' || method === 'HEAD';
  const {
    code,
    text,
    type = 'text/plain; charset=utf-8',
  } = isRead ? await answerTo(url, told) : { code: 405, text: 'GET only\n' };
  response.writeHead(code, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(method === 'HEAD' ? undefined : text);
}

async function answerTo(url: string | undefined, { state, health, metrics }: Told): Promise<Answer> {
  switch (url?.split('?')[0]) {
    case '/healthz':
      return { code: 200, text: `${state().status}\n` };
    case '/readyz': {
      const { ready, text } = await health.readiness(state().status);
      return { code: ready ? 200 : 503, text };
    }
    case '/metrics':
      return { code: 200, text: await metrics(), type: 'text/plain; version=0.0.4; charset=utf-8' };
    default:
      return { code: 404, text: 'there are /healthz, /readyz and /metrics\n' };
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
