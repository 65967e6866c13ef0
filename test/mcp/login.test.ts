import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ClientCredentialsProvider } from '@modelcontextprotocol/client';
import { describe, expect, it, vi } from 'vitest';
import { type HttpServer, type McpError, McpLogins, McpSource } from '../../src/mcp/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { tempFolder } from '../folder.ts';
import { type Behaviour, consent, protectedServer } from './oauth.ts';

const directory = tempFolder();

let folders = 0;
const folder = () => join(directory, `${++folders}`, 'mcp');
const open = (address: string) => void consent(address);

/** Connects with the tokens of these logins, and lists the tools. */
async function tools(logins: McpLogins, server: HttpServer): Promise<number> {
  await using source = await McpSource.connect({ s: server }, { authorize: (name, config) => logins.tokens(name, config) });
  return source.tools.length;
}

async function call(logins: McpLogins, server: HttpServer) {
  await using source = await McpSource.connect({ s: server }, { authorize: (name, config) => logins.tokens(name, config) });
  await using runtime = await createRuntime({
    tools: source.tools,
    policy: { allow: ['*'], grants: ['*:*:*'] },
    concurrency: 1,
  });
  return await runtime.run('command\n  emit tool.s.add({"a": 2})\nendcommand');
}

const failure = (work: Promise<unknown>): Promise<McpError> =>
  work.then(
    () => expect.fail('it did not fail'),
    (error) => error,
  );

describe('a login to an MCP server', () => {
  it('registers, returns to this machine, and keeps the tokens for this user alone', async () => {
    await using server = await protectedServer();
    const [place, config] = [folder(), { url: server.url }];
    const logins = new McpLogins(place);
    await expect(tools(logins, config)).rejects.toThrow('it wants a login; log in with "neuroscript tools login s"');
    let said = '';
    await logins.login('s', config, {
      open: (address) => void consent(address).then(async (page) => (said = await page.text())),
    });
    expect([logins.has('s', config), await tools(logins, config)]).toEqual([true, 7]);
    await vi.waitFor(() => expect(said).toContain('You can close this page'));
    const [file = ''] = readdirSync(place);
    expect([statSync(place).mode & 0o777, statSync(join(place, file)).mode & 0o777]).toEqual([0o700, 0o600]);
    const authorize = server.asked.find(({ path }) => path === '/authorize');
    expect(authorize?.query).toMatchObject({ code_challenge_method: 'S256', scope: 'read', resource: server.url });
    expect(authorize?.query['redirect_uri']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    // Another address is another server, whatever its name.
    expect(logins.has('s', { url: `${server.url}/other` })).toBe(false);
    expect([logins.logout('s', config), logins.logout('s', config), logins.has('s', config)]).toEqual([true, false, false]);
  });

  it('is renewed when the token is over, and needed again when it cannot be', async () => {
    await using server = await protectedServer();
    const [logins, config] = [new McpLogins(folder()), { url: server.url }];
    await logins.login('s', config, { open });
    server.expire();
    expect(await tools(logins, config)).toBe(7);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    server.expire(true);
    const error = await failure(tools(logins, config));
    expect(error.message).toContain('it wants a login');
    expect(inspect([error, warn.mock.calls], { depth: 10 })).not.toMatch(/(?:access|refresh)-token|\u001b\[31m/);
    warn.mockRestore();
    await logins.login('s', config, { open });
    expect(await tools(logins, config)).toBe(7);
    // A second login of the same machine uses its registration.
    expect(server.asked.filter(({ path }) => path === '/register')).toHaveLength(1);
  });

  it('asks for the scopes that a call needs in addition to those it has', async () => {
    await using server = await protectedServer({ callScope: 'write' });
    const [logins, config] = [new McpLogins(folder()), { url: server.url }];
    await logins.login('s', config, { open });
    expect((await call(logins, config)).error).toMatchObject({
      code: 'NS1002',
      message: expect.stringContaining('it wants a login'),
    });
    await logins.login('s', config, { open });
    expect((await call(logins, config)).values).toEqual([{ sum: 3 }]);
    expect(server.asked.filter(({ path }) => path === '/authorize').at(-1)?.query['scope']).toBe('read write');
  });

  it('takes only the answer to its own question, and ends with its time or its signal', async () => {
    await using server = await protectedServer();
    const [logins, config] = [new McpLogins(folder()), { url: server.url }];
    const strangers: number[] = [];
    await logins.login('s', config, {
      async open(address) {
        const back = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
        for (const query of ['?code=x&state=guess', '?code=x', '']) strangers.push((await fetch(`${back}${query}`)).status);
        strangers.push((await fetch(new URL('/', back))).status);
        await consent(address);
      },
    });
    expect(strangers).toEqual([400, 400, 400, 400]);
    const late = await failure(logins.login('s', config, { open: () => {}, timeoutMs: 50 }));
    expect([late.code, late.message]).toEqual(['ERR_MCP', expect.stringContaining('nobody has logged in in time')]);
    const aborted = logins.login('s', config, { open: () => {}, signal: AbortSignal.abort(new Error('enough')) });
    await expect(aborted).rejects.toThrow('enough');
    const refused = logins.login('s', config, {
      async open(address) {
        const { searchParams } = new URL(address);
        await fetch(`${searchParams.get('redirect_uri')}?error=access_denied&state=${searchParams.get('state')}`);
      },
    });
    await expect(refused).rejects.toThrow('the authorization server answered access_denied');
  });

  it('that others could read or that is damaged is not used', async () => {
    await using server = await protectedServer();
    const [place, config] = [folder(), { url: server.url }];
    const logins = new McpLogins(place);
    await logins.login('s', config, { open });
    const file = join(place, readdirSync(place)[0] ?? '');
    chmodSync(file, 0o644);
    expect(() => logins.has('s', config)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
    await expect(tools(logins, config)).rejects.toThrow(`others can access ${file}`);
    chmodSync(file, 0o600);
    for (const damaged of ['{', '[]', '{"version":2}', readFileSync(file, 'utf8').replace('/mcp', '/x')]) {
      writeFileSync(file, damaged);
      expect(() => logins.has('s', config)).toThrow('delete it and log in again');
    }
  });
});

describe('what a login trusts', () => {
  it.each<[string, Behaviour, string]>([
    ['metadata without an end', { instead: endless }, 'has more than 262144 bytes'],
    ['metadata at another machine over http', { metadata: { token_endpoint: 'http://192.0.2.1/token' } }, 'Refusing to send'],
    [
      'a page that is not https',
      { metadata: { authorization_endpoint: 'http://192.0.2.1/authorize' } },
      'a login at http://192.0.2.1 is refused',
    ],
    [
      'a page with a very long address',
      { metadata: { authorization_endpoint: `https://as.example/${'x'.repeat(9000)}` } },
      'more than 8192 characters',
    ],
    ['a redirect to another origin', { instead: away }, 'the login has failed'],
    ['redirects without an end', { instead: around }, 'the login has failed'],
    ['another issuer', { metadata: { issuer: 'https://other.example' } }, 'Issuer mismatch'],
  ])('%s fails in bounded time', async (_, behaviour, problem) => {
    await using server = await protectedServer(behaviour);
    const logins = new McpLogins(folder());
    const error = await failure(logins.login('s', { url: server.url }, { open, timeoutMs: 20_000 }));
    expect([error.code, error.message]).toEqual(['ERR_MCP', expect.stringContaining(problem)]);
    expect(error.message.length).toBeLessThan(1200);
    expect(server.asked.length).toBeLessThan(30);
  });

  it('a server over plain http is refused, and gets no tokens', async () => {
    const [logins, config] = [new McpLogins(folder()), { url: 'http://192.0.2.1/mcp' }];
    expect(logins.tokens('s', config)).toBeUndefined();
    await expect(logins.login('s', config, { open })).rejects.toThrow('auth needs an https url');
  });

  it('configured headers reach the server and not the authorization server', async () => {
    await using server = await protectedServer();
    const [logins, config] = [new McpLogins(folder()), { url: server.url, headers: { 'X-Key': 'key-of-the-gateway' } }];
    await logins.login('s', config, { open });
    server.expire();
    expect(await tools(logins, config)).toBe(7);
    expect(server.asked.length).toBeGreaterThan(6);
    expect(inspect(server.asked, { depth: 10, maxArrayLength: null })).not.toContain('key-of-the-gateway');
  });

  it('a token that a server repeats is in no message, cause or log', async () => {
    await using server = await protectedServer({ refusal: 'bad token TOKEN, really: TOKEN' });
    const [logins, config] = [new McpLogins(folder()), { url: server.url }];
    await logins.login('s', config, { open });
    server.expire();
    const lines: unknown[] = [];
    const write = (...args: unknown[]) => void lines.push(args);
    const logger = { debug: write, info: write, warn: write, error: write };
    const options = { logger, authorize: (name: string, server: HttpServer) => logins.tokens(name, server) };
    const error = await failure(McpSource.connect({ s: config }, options));
    expect(error.message).toContain('[secret]');
    expect(inspect([error, lines], { depth: 20, maxStringLength: null })).not.toContain('access-token');
  });
});

describe('a client with credentials of its own', () => {
  it('gets its tokens without a login, from the issuer that the configuration names and no other', async () => {
    await using server = await protectedServer();
    const client = { clientId: 'robot', clientSecret: 'secret-of-the-robot', grant: 'client_credentials' } as const;
    const connect = (issuer: string) => McpSource.connect({ s: { url: server.url, auth: { ...client, issuer } } });
    await using source = await connect(server.base);
    expect(source.tools).toHaveLength(7);
    const before = server.asked.filter(({ path }) => path === '/token').length;
    const error = await failure(connect('https://as.example'));
    expect(error.message).not.toContain('secret-of-the-robot');
    expect(server.asked.filter(({ path }) => path === '/token')).toHaveLength(before);
  });

  it('may be one of the application', async () => {
    await using server = await protectedServer();
    const provider = new ClientCredentialsProvider({ clientId: 'app', clientSecret: 'of-the-app', expectedIssuer: server.base });
    await using source = await McpSource.connect({ s: { url: server.url } }, { authorize: () => provider });
    expect(source.tools).toHaveLength(7);
    expect(existsSync(join(directory, 'never'))).toBe(false);
  });
});

type Instead = NonNullable<Behaviour['instead']>;

function endless(path: string, response: Parameters<Instead>[1]): boolean {
  if (!path.includes('authorization-server')) return false;
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (response.write('x'.repeat(65_536)));
  };
  response.on('drain', more).on('error', () => {});
  more();
  return true;
}

function away(path: string, response: Parameters<Instead>[1]): boolean {
  if (path !== '/token') return false;
  response.writeHead(307, { location: 'https://192.0.2.1/token' }).end();
  return true;
}

function around(path: string, response: Parameters<Instead>[1]): boolean {
  if (path !== '/token') return false;
  response.writeHead(307, { location: path }).end();
  return true;
}
