import { request } from 'node:http';
import { expect, it } from 'vitest';
import { Health } from '../../src/cli/serve/readiness.ts';
import { serveStatus } from '../../src/cli/serve/status.ts';
import { MemoryStore } from '../../src/loop/index.ts';

const STATE = { status: 'ready', driving: 0, concurrency: 1, claimed: 0, away: [], errors: 0 } as const;

const TOLD = {
  state: () => STATE,
  health: new Health({ host: { beat: async () => {} }, store: new MemoryStore(), log: null }),
  metrics: async () => 'a 1\n',
};

async function statusOf(url: string, host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(`${url}/metrics`, { headers: { host } }, (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  })
    .once('error', reject)
    .end();
  return promise;
}

it('a server of metrics on loopback answers nobody who asks by a name that a web page may have made', async () => {
  await using server = await serveStatus({ listen: '127.0.0.1:0', ...TOLD });
  for (const host of ['localhost', 'localhost:9464', '127.0.0.1', '127.0.0.1:80', '[::1]:9464', '10.0.0.5:9464'])
    expect([host, await statusOf(server.url, host)]).toEqual([host, 200]);
  for (const host of ['evil.test', 'evil.test:9464', 'localhost.evil.test', '127.0.0.1.evil.test', 'a b'])
    expect([host, await statusOf(server.url, host)]).toEqual([host, 403]);
});

it('a server of metrics on another interface answers to every name', async () => {
  await using server = await serveStatus({ listen: '0.0.0.0:0', ...TOLD });
  expect(await statusOf(server.url.replace('0.0.0.0', '127.0.0.1'), 'host-1.fleet:9464')).toBe(200);
});
