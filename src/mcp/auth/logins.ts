import { setMaxListeners } from 'node:events';
import { auth, computeScopeUnion, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { encodeBase64Url } from '../../aeiou/index.ts';
import { defined } from '../../wire/defined.ts';
import { ConfigError } from '../../wire/errors.ts';
import { timerMs } from '../../wire/options.ts';
import type { HttpServer } from '../config.ts';
import { McpError } from '../error.ts';
import { isLoopback, isSecure, problemOfAuth } from './config.ts';
import { type Fetch, oauthFetch } from './fetch.ts';
import { LoginProvider, LoginTokens } from './provider.ts';
import { Secrets } from './secrets.ts';
import { LoginFile } from './state.ts';

/** Default time for a person to log in, in milliseconds. */
const PATIENCE_MS = 300_000;
/** Maximum length of the address that a person opens. */
const MAX_ADDRESS = 8192;

/** Options of {@link McpLogins.login}. */
export interface LoginOptions {
  /** Receives the address that the person opens in a browser. */
  readonly open: (address: string) => void;
  /** Aborts the wait for the person. */
  readonly signal?: AbortSignal;
  /** How long to wait for the person, in milliseconds; 300,000 if absent. */
  readonly timeoutMs?: number | undefined;
}

/** The logins of a user to MCP servers, kept in a folder that only this user can read. */
export class McpLogins {
  readonly #folder: string;

  /** The folder is created at the first login. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The tokens for a connection to a server, which are refreshed when needed; for `authorize` of `McpSource.connect`. Undefined for an
   * address without encryption, and for a server with an `Authorization` of its own.
   */
  tokens(name: string, server: HttpServer): LoginTokens | undefined {
    const { url, auth: config = {}, headers = {} } = server;
    if (problemOfAuth(config, url, headers) !== null) return undefined;
    return new LoginTokens(new LoginFile(this.#folder, name, url), config);
  }

  /** Whether there are tokens for a server. They may have expired. Throws `ConfigError` for a damaged or exposed file. */
  has(name: string, server: HttpServer): boolean {
    return new LoginFile(this.#folder, name, server.url).read().tokens !== undefined;
  }

  /** Forgets the login to a server. Says whether there was one. */
  logout(name: string, server: HttpServer): boolean {
    return new LoginFile(this.#folder, name, server.url).remove();
  }

  /**
   * Lets a person log in: finds the authorization server, registers this client if necessary, gives `open` an address, and waits
   * until the browser returns to a port of this machine. Keeps the tokens. Rejects with {@link McpError} (`ERR_MCP`) when the server
   * or the person refuses or the time is over, and with {@link ConfigError} (`ERR_CONFIG`) for a server that cannot be logged in to.
   */
  async login(name: string, server: HttpServer, { open, signal, timeoutMs = PATIENCE_MS }: LoginOptions): Promise<void> {
    timerMs(0)('timeoutMs', timeoutMs);
    const { url, auth: config = {}, headers = {} } = server;
    const problem = config.grant === 'client_credentials' ? 'nobody logs in' : problemOfAuth(config, url, headers);
    if (problem !== null) throw new ConfigError(`MCP server '${name}': ${problem}`);
    const secrets = new Secrets(Object.values(headers));
    const within = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
    setMaxListeners(0, within);
    try {
      await this.#login(new LoginFile(this.#folder, name, url), server, open, within, secrets);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ConfigError) throw error;
      const why = within.aborted ? 'nobody has logged in in time' : messageOf(error);
      throw new McpError(name, `the login has failed: ${secrets.clean(why)}`, secrets.isIn(error) ? {} : { cause: error });
    }
  }

  async #login(file: LoginFile, server: HttpServer, open: (address: string) => void, within: AbortSignal, secrets: Secrets) {
    const { url, auth: config = {} } = server;
    const state = encodeBase64Url(crypto.getRandomValues(new Uint8Array(24)));
    const { client, tokens, wanted } = file.read();
    await using loopback = await opened(config.redirectPort, client?.redirect, state);
    const interaction = { redirectUrl: loopback.url, state, open: (address: URL) => open(openable(address, url)) };
    const provider = new LoginProvider(file, config, interaction);
    const send = oauthFetch(url, secrets);
    const fetchFn: Fetch = (address, init) => send(address, { ...init, signal: within });
    const asked = wanted ?? (await challengeOf(server, fetchFn));
    // Scopes that a server requests are added to the configured ones.
    const scope = computeScopeUnion(config.scope, wanted === undefined ? undefined : tokens?.scope, asked.scope);
    const resourceMetadataUrl = asked.metadata === undefined ? undefined : new URL(asked.metadata);
    const options = { serverUrl: url, fetchFn, forceReauthorization: true, ...defined({ scope, resourceMetadataUrl }) };
    await auth(provider, options);
    const answer = await answered(loopback, within);
    const [code, iss] = [answer.get('code'), answer.get('iss')];
    if (code === null) throw new Error(`the authorization server answered ${answer.get('error') ?? 'without a code'}`);
    secrets.add(code);
    await auth(provider, { ...options, authorizationCode: code, ...(iss === null ? {} : { iss }) });
  }
}

/** Listens for the browser: on the configured port, else on that of the registration if it is free, else on any. */
async function opened(port: number | undefined, before: string | undefined, state: string): Promise<Loopback> {
  if (port !== undefined) {
    const loopback = await listen(port, state);
    if (loopback === null) throw new ConfigError(`the port ${port}, to which the browser would return, is in use`);
    return loopback;
  }
  const earlier = before === undefined ? null : await listen(Number(new URL(before).port), state);
  const loopback = earlier ?? (await listen(0, state));
  if (loopback === null) throw new ConfigError('no port is free for the answer of the browser');
  return loopback;
}

/** The address to open, in one line. Throws if a browser should not open it. */
function openable(address: URL, server: string): string {
  if (!isSecure(address.href) || (isLoopback(address.href) && !isLoopback(server)))
    throw new Error(`a login at ${address.origin} is refused, because it is not https`);
  if (address.href.length > MAX_ADDRESS) throw new Error(`the address of the login has more than ${MAX_ADDRESS} characters`);
  return address.href;
}

/** The server's challenge to a request without a token. */
async function challengeOf({ url, headers = {} }: HttpServer, send: Fetch) {
  const response = await send(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  return { scope, metadata: resourceMetadataUrl?.href };
}

function answered(loopback: Loopback, within: AbortSignal): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(within.reason);
    if (within.aborted) return stop();
    within.addEventListener('abort', stop, { once: true });
    void loopback.answer.then((answer) => {
      within.removeEventListener('abort', stop);
      resolve(answer);
    });
  });
}

/** The message of an error and of its cause, because `fetch` puts the reason there. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

// An import would load Node's client of HTTP too: 0.08 s of CPU time.
const { createServer } = process.getBuiltinModule('node:http');

/** Maximum bytes of the head of a request. */
const MAX_HEAD = 16 * 1024;
const PATH = '/callback';

/** A server on this machine to which the browser returns after a login. It takes one answer. */
interface Loopback extends AsyncDisposable {
  readonly url: string;
  /** The parameters of the answer to the login with this `state`. Other requests are refused and do not end the wait. */
  readonly answer: Promise<URLSearchParams>;
}

/**
 * Listens on 127.0.0.1. `port` 0 takes any free port. Resolves with null if the port is taken, and rejects with
 * {@link ConfigError} (`ERR_CONFIG`) if it cannot be used for another reason.
 */
async function listen(port: number, state: string): Promise<Loopback | null> {
  const { promise: answer, resolve: answered } = Promise.withResolvers<URLSearchParams>();
  const server = createServer({ maxHeaderSize: MAX_HEAD, requestTimeout: 10_000 }, (request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    const isAnswer = request.method === 'GET' && url?.pathname === PATH && url.searchParams.get('state') === state;
    const said = isAnswer ? 'You can close this page and go back to the terminal.' : 'This is not the login that is under way.';
    response.writeHead(isAnswer ? 200 : 400, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    });
    response.end(`${said}\n`);
    if (url !== null && isAnswer) answered(url.searchParams);
  });
  server.maxConnections = 16;
  const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve);
    server.listen(port, '127.0.0.1', () => resolve(null));
  });
  if (failed?.code === 'EADDRINUSE') return null;
  const address = server.address();
  if (failed !== null || address === null || typeof address === 'string')
    throw new ConfigError(`no browser can return to port ${port}: ${failed?.message ?? 'it has no address'}`);
  return {
    url: `http://127.0.0.1:${address.port}${PATH}`,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
