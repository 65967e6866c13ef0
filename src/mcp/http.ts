import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { ValueMeter } from '../files/valuemeter.ts';
import { defined } from '../wire/defined.ts';
import { retryAfterMs } from '../wire/retryafter.ts';
import { oauthFetch } from './auth/fetch.ts';
import { LoginTokens } from './auth/provider.ts';
import type { Secrets } from './auth/secrets.ts';
import type { HttpServer, McpBounds } from './config.ts';
import { ServerBusy } from './error.ts';
import { type Excess, MOST_VALUES } from './values.ts';

/** Who gives tokens for a server, and what messages about the server must not contain. */
export interface Access {
  readonly tokens: AuthProvider | OAuthClientProvider | undefined;
  readonly secrets: Secrets;
}

/** Statuses of a server that has no time for a request. */
const BUSY = [429, 503];

/** A transport over streamable HTTP. An answer has at most `most` bytes, and a message of it a bounded number of values. */
export function overHttp(server: HttpServer & McpBounds, most: number, excess: Excess, access: Access): Transport {
  const { url, headers = {}, elicit = false } = server;
  const { tokens, secrets } = access;
  const authorize = oauthFetch(url, secrets);

  async function send(address: string | URL, init: RequestInit = {}): Promise<Response> {
    // The library uses one function for all its requests.
    if (!isOfProtocol(init)) return authorize(address, init);
    const own = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) if (!own.has(name)) own.set(name, value);
    secrets.add(own.get('authorization') ?? '');
    const response = await boundedFetch(address, { ...init, headers: own }, elicit, most, excess);
    if (BUSY.includes(response.status)) {
      await response.body?.cancel();
      throw new ServerBusy(response.status, retryAfterMs(response.headers.get('retry-after')) ?? 0);
    }
    if (
      response.status === 403 &&
      tokens instanceof LoginTokens &&
      extractWWWAuthenticateParams(response).error === 'insufficient_scope'
    )
      tokens.challenged(response);
    return response;
  }

  return new StreamableHTTPClientTransport(new URL(url), {
    // A redirect to another origin would send it the headers, and with them the secrets.
    redirectPolicy: 'same-origin',
    fetch: send,
    ...defined({ authProvider: tokens }),
    reconnectionOptions: {
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 5000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  });
}

/** Whether a request is one of the protocol. Those for tokens and their metadata take no stream, and delete nothing. */
function isOfProtocol({ method, headers }: RequestInit): boolean {
  return method === 'DELETE' || new Headers(headers).get('accept')?.includes('text/event-stream') === true;
}

/** Like `fetch`, but an answer fails after `most` bytes or too many values, and no stream is opened for messages that nobody
 * asked for. A stream may be resumed that ended before the answer to a request; with `listen`, the
 * server may also send questions on a stream of their own. */
async function boundedFetch(
  address: string | URL,
  init: RequestInit,
  listen: boolean,
  most: number,
  excess: Excess,
): Promise<Response> {
  const wanted = listen || new Headers(init.headers).has('last-event-id');
  if ((init.method ?? 'GET').toUpperCase() === 'GET' && !wanted) return new Response(null, { status: 405 });
  const response = await fetch(address, init);
  if (response.body === null) return response;
  let bytes = 0;
  const ofEvents = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const meter = new ValueMeter(ofEvents, MOST_VALUES);
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        const [short, few] = [bytes <= most, meter.take(chunk)];
        if (short && few) return controller.enqueue(chunk);
        controller.error(new Error(short ? 'the answer has too many values' : `the answer has more than ${most} bytes`));
        excess[short ? 'values' : 'bytes']();
      },
    }),
  );
  return new Response(counted, { status: response.status, statusText: response.statusText, headers: response.headers });
}
