// An MCP server with its authorization server, at one address of this machine, for tests of logins.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { honestServer } from './server.ts';

/** One request to the authorization server. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
}

/** What a test changes of a server that is honest by default. */
export interface Behaviour {
  /** Answers a request itself; false leaves it to the server. */
  readonly instead?: (path: string, response: ServerResponse, base: string) => boolean;
  /** Fields of the metadata of the authorization server. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The scope that a call of a tool needs. */
  readonly callScope?: string;
  /** What an unknown token gets as the text of the refusal; `TOKEN` stands for the token. */
  readonly refusal?: string;
}

export interface Protected extends AsyncDisposable {
  readonly base: string;
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Makes all access tokens invalid, and with `refresh` the refresh tokens too. */
  readonly expire: (refresh?: boolean) => void;
}

export async function protectedServer({ instead, metadata, callScope, refusal }: Behaviour = {}): Promise<Protected> {
  const asked: Asked[] = [];
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  let number = 0;
  let scope = '';

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', base);
    const raw = await textOf(request);
    const json = (value: unknown, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (instead?.(pathname, response, base) === true) return;
    if (pathname === '/mcp') return await serve(request, response, raw);
    const form = request.headers['content-type'] === 'application/json' ? {} : Object.fromEntries(new URLSearchParams(raw));
    asked.push({ path: pathname, headers: request.headers, query: Object.fromEntries(searchParams), body: form });
    if (pathname === '/.well-known/oauth-protected-resource/mcp')
      return json({ resource: `${base}/mcp`, authorization_servers: [base] });
    if (pathname === '/.well-known/oauth-authorization-server')
      return json({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
        ...metadata,
      });
    if (pathname === '/register') return json({ ...JSON.parse(raw), client_id: `client-${++number}` }, 201);
    if (pathname === '/authorize') {
      scope = searchParams.get('scope') ?? '';
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      for (const [key, value] of Object.entries({ code: `code-${++number}`, state: searchParams.get('state') ?? '' }))
        back.searchParams.set(key, value);
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname !== '/token') return json({}, 404);
    if (form['grant_type'] === 'refresh_token') {
      const granted = refresh.get(form['refresh_token'] ?? '');
      if (granted === undefined)
        return json({ error: 'invalid_grant', error_description: `${form['refresh_token']}\u001b[31m is over` }, 400);
      scope = granted;
    }
    const pair = { access_token: `access-token-${++number}`, refresh_token: `refresh-token-${number}` };
    access.set(pair.access_token, scope);
    refresh.set(pair.refresh_token, scope);
    return json({ token_type: 'Bearer', expires_in: 3600, scope, ...pair });
  }

  async function serve(request: IncomingMessage, response: ServerResponse, raw: string): Promise<void> {
    const token = request.headers.authorization?.split(' ')[1] ?? '';
    const granted = access.get(token);
    const resource = `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
    const challenge = (status: number, words: string) =>
      void response
        .writeHead(status, { 'www-authenticate': `Bearer ${words}, ${resource}` })
        .end((refusal ?? '').replaceAll('TOKEN', token));
    if (granted === undefined) return challenge(refusal !== undefined && token !== '' ? 500 : 401, 'scope="read"');
    if (callScope !== undefined && raw.includes('"tools/call"') && !granted.split(' ').includes(callScope))
      return challenge(403, `error="insufficient_scope", scope="${callScope}"`);
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await honestServer().connect(transport);
    await transport.handleRequest(request, response, raw === '' ? undefined : JSON.parse(raw));
  }

  const server = createServer((request, response) => void answer(request, response));
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  const base = `http://127.0.0.1:${port}`;
  return {
    base,
    url: `${base}/mcp`,
    asked,
    expire(all = false) {
      access.clear();
      if (all) refresh.clear();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser whose user consents: it follows the redirect back to the client. */
export async function consent(address: string): Promise<Response> {
  const response = await fetch(address, { redirect: 'manual' });
  return await fetch(response.headers.get('location') ?? 'http://127.0.0.1:1');
}
