import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Inspector } from '../../src/ui/index.ts';
import { type AskOptions, inspectorOf, MemoryStore, serve } from './kit.ts';

let inspector: Inspector;
let served: Awaited<ReturnType<typeof serve>>;
let cookie = '';
beforeAll(async () => {
  inspector = inspectorOf(new MemoryStore());
  served = await serve(inspector);
  cookie = await served.enter();
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await inspector[Symbol.asyncDispose]();
});

const asked = async (path: string, { headers = {}, ...options }: AskOptions = {}) =>
  served.send(path, { ...options, headers: { cookie, ...headers } });

describe('issue 24: who may use the inspector', () => {
  it('the address lets one browser in, once', async () => {
    await using other = await serve(inspector);
    const path = `/${new URL(other.url).search}`;
    expect(await other.send('/api/about')).toMatchObject({ status: 401 });
    expect(await other.send(path, { method: 'HEAD' })).toMatchObject({ status: 401 });
    const first = await other.send(path);
    expect(first).toMatchObject({ status: 303, headers: { location: '/' } });
    const [set = ''] = first.headers['set-cookie'] ?? [];
    expect(set).toMatch(/^neuroscript-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const second = await other.send(path);
    expect(second.status).toBe(401);
    expect(second.headers['set-cookie']).toBeUndefined();
    const own = { cookie: set.split(';')[0] ?? '' };
    expect(await other.send(path, { headers: own })).toMatchObject({ status: 303 });
    expect(await other.send('/api/about', { headers: own })).toMatchObject({ status: 200 });
    expect(await other.send('/api/about', { headers: { cookie } })).toMatchObject({ status: 401 });
  });

  it.each(['/', '/assets/i-1.js', '/api/about', '/api/sessions', '/api/events', '/api/log'])(
    'nothing is answered without the cookie: %s',
    async (path) => {
      expect((await served.send(path)).status).toBe(401);
      expect((await served.send(path, { headers: { cookie: `${cookie.slice(0, -1)}_` } })).status).toBe(401);
    },
  );

  it.each<[string, AskOptions, number]>([
    ['a name that was pointed at this machine', { headers: { host: 'evil.example' } }, 403],
    ['a host without the port', { headers: { host: '127.0.0.1' } }, 403],
    ['another origin', { headers: { origin: 'http://evil.example' } }, 403],
    ['an opaque origin', { headers: { origin: 'null' } }, 403],
    ['another port of this machine', { headers: { origin: 'http://127.0.0.1:1' } }, 403],
    ['a request from another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['a request from another port', { headers: { 'sec-fetch-site': 'same-site' } }, 403],
    ['another method', { method: 'PUT' }, 405],
    ['a preflight', { method: 'OPTIONS' }, 405],
    ['a form', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' }, 415],
    ['a body without a type', { method: 'POST', body: '{}' }, 415],
  ])('refuses %s', async (_, options, status) => {
    expect((await asked('/api/about', options)).status).toBe(status);
  });

  it('takes both names of this machine', async () => {
    const { port } = new URL(served.origin);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
      expect(
        await asked('/api/about', { headers: { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' } }),
      ).toMatchObject({
        status: 200,
      });
  });

  it.each<[string, string, number]>([
    ['no JSON', '{', 400],
    ['JSON that nests too deep', `${'['.repeat(5000)}${']'.repeat(5000)}`, 400],
    ['a body above the limit', JSON.stringify({ program: 'x'.repeat(5 * 1024 * 1024) }), 413],
  ])('refuses %s', async (_, body, status) => {
    const answer = asked('/api/sessions/s/turns/1/try', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    // The server may close the connection while a body is still being sent.
    expect(await answer.then((got) => got.status).catch(() => status)).toBe(status);
  });

  it.each([
    '/api',
    '/api/',
    '/api/nothing',
    '/api/sessions/s/turns/1/nothing',
    '/../package.json',
    '/assets/%2e%2e/index.html',
    '/assets',
    '//',
  ])('finds nothing at %s', async (path) => {
    expect((await asked(path)).status).toBe(404);
  });

  it('an address that cannot be decoded is refused', async () => {
    expect((await asked('/api/sessions/%')).status).toBe(400);
  });

  it('every answer has the strict headers', async () => {
    for (const path of ['/', '/assets/i-1.js', '/api/about', '/api/nothing', '/nothing'])
      expect((await asked(path)).headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self';/),
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
    expect((await asked('/')).headers['content-security-policy']).not.toContain('unsafe');
    expect(served.errors).toEqual([]);
  });

  it('as many connections as it bears are open, and it answers again when they close', async () => {
    await using other = await serve(inspector);
    const port = Number(new URL(other.origin).port);
    const sockets = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    const closed = sockets.map((socket) => once(socket, 'close').then(() => 'closed'));
    // Those above the limit are closed at once.
    await Promise.race(closed);
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
    expect((await other.send('/')).status).toBe(401);
  });
});
