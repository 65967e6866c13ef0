// @module-tag slow
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { measureRestate } from '../../apps/lab/engines/fleetrestate.ts';
import { post, type RestateServer, startRestate, WITH_SDK } from '../../apps/lab/engines/restate.ts';
import { freePort } from '../../apps/lab/engines/server.ts';
import { openSession } from '../../src/loop/index.ts';
import { ROOT } from '../architecture/source.ts';
import { tempFolder } from '../folder.ts';
import { pgPool } from './kit.ts';
import { until } from './matrix/bench.ts';
import { type End, judge } from './matrix/judge.ts';
import type { Step } from './matrix/plan.ts';
import { Fleet } from './restate/fleet.ts';

let server: RestateServer;
beforeAll(async () => {
  server = await startRestate();
});
afterAll(() => server[Symbol.asyncDispose]());

const open = (options?: { readonly fileLog: boolean }): Promise<Fleet> => Fleet.open(server, inject('url'), options);
const done = (): End => 'DONE';

/** No order was asked for twice: no turn ran a second time. */
async function expectOneRun({ bench }: Fleet): Promise<void> {
  expect(bench.shop.requests()).toHaveLength(await bench.expectedOrders());
}

describe('issue 20: sessions on a real server of Restate', () => {
  it.each<[Step, string, boolean]>([
    ['ask', 'while the agent is consulted', false],
    ['reply', 'after the reply is stored', false],
    ['start', 'after a turn is started', false],
    ['call', 'after a tool had its effect, before it answers', false],
    ['run', 'while a program runs, between two effects', false],
    ['commit', 'before a turn is stored', false],
    ['committed', 'after a turn is stored', false],
    ['mark', 'after a decision is logged in a file, before it is known to be', true],
  ])('a worker is killed at "%s": %s', async (step, _what, fileLog) => {
    await using fleet = await open({ fileLog });
    const first = await fleet.worker({ step, turn: 2 });
    await fleet.start('work-turn');
    await fleet.start('work-call', { durable: 'call' });
    await first.held(2);
    await first.kill();
    await fleet.worker();
    await fleet.finish();
    await judge(fleet.bench, done);
  });

  it("the model's server is away for a while: Restate asks again, and no session ends", async () => {
    await using fleet = await open();
    await fleet.worker();
    await fleet.start('away-turn');
    await fleet.start('away-call', { durable: 'call' });
    await fleet.finish();
    await judge(fleet.bench, done);
    await expectOneRun(fleet);
  });

  it('a worker is killed in a call that must not be repeated: a person says what became of it, through Restate', async () => {
    await using fleet = await open();
    const first = await fleet.worker({ step: 'call', turn: 2 });
    await fleet.start('person-1', { durable: 'call' });
    await first.held(1);
    await first.kill();
    await fleet.worker();
    await fleet.waiting();
    expect(await fleet.must('person-1', 'status')).toMatchObject({ turns: 1, waits: [{ call: '2.1', tool: 'tool.shop.send' }] });
    expect(await fleet.must('person-1', 'complete', { call: '2.1', result: 'sent' })).toEqual({ call: '2.1', before: false });
    await fleet.finish();
    await judge(fleet.bench, done);
    await expectOneRun(fleet);
  });

  it('the server is killed while turns run, and while they wait: nothing runs twice, and answers and timers come after its restart', async () => {
    await using fleet = await open();
    const worker = await fleet.worker({ step: 'call', turn: 1 });
    for (const sid of ['work-1', 'wait-1', 'late-1']) await fleet.start(sid);
    await worker.held(3);
    await server.kill();
    worker.goOn();
    await server.start();
    await fleet.bench.all(
      'two turns wait',
      ({ sid, waits, status }) => status !== 'open' || (sid !== 'work-1' && waits !== null),
    );
    await server.kill();
    await server.start();
    await fleet.must('wait-1', 'complete', { call: '2.2', result: true });
    await fleet.finish();
    await judge(fleet.bench, ({ sid }) => (sid === 'late-1' ? 'HALT ERR_CALL_EXPIRED' : 'DONE'));
    await expectOneRun(fleet);
  });

  it('worker and server are killed while a turn waits: the answer reaches the next worker', async () => {
    await using fleet = await open();
    const first = await fleet.worker();
    await fleet.start('wait-1');
    await fleet.waiting();
    await first.kill();
    await server.kill();
    await server.start();
    await fleet.worker();
    await fleet.must('wait-1', 'complete', { call: '2.2', result: true });
    await fleet.finish();
    await judge(fleet.bench, done);
    await expectOneRun(fleet);
  });

  it('a worker that Restate has lost keeps its turn: the next worker goes on after it', async () => {
    await using fleet = await open();
    const first = await fleet.worker({ step: 'call', turn: 2 });
    await fleet.start('work-1');
    await first.held(1);
    await fleet.worker();
    first.goOn();
    await fleet.finish();
    await judge(fleet.bench, done);
    await expectOneRun(fleet);
  });

  it('a worker is stopped beyond its lease in a call, and continues when the next one has ended the session', async () => {
    await using fleet = await open();
    const first = await fleet.worker({ step: 'call', turn: 2 });
    await fleet.start('work-1');
    await first.held(1);
    first.signal('SIGSTOP');
    await fleet.worker();
    await fleet.bench.all('the session has ended', ({ status }) => status !== 'open');
    first.signal('SIGCONT');
    first.goOn();
    await fleet.finish();
    await judge(fleet.bench, done);
  });

  it('workers are replaced in the middle of turns: nothing is halted, and nothing runs twice', async () => {
    await using fleet = await open();
    const first = await fleet.worker({ step: 'call', turn: 2 });
    for (const sid of ['work-1', 'work-2']) await fleet.start(sid);
    await first.held(2);
    // Workers say that they live, and which keys they know, as hosts do.
    const living = async () => (await fleet.bench.store.hosts?.list())?.map(({ owner, kids }) => `${owner} ${kids}`);
    await fleet.worker();
    await expect.poll(living).toEqual(['host-1 matrix-primary,matrix-fallback', 'host-2 matrix-primary,matrix-fallback']);
    await first.drain();
    expect(await living()).toEqual(['host-2 matrix-primary,matrix-fallback']);
    await fleet.finish();
    await judge(fleet.bench, done);
    await expectOneRun(fleet);
  });

  it('a session is cancelled while its agent is consulted, and while it waits, by its handler and by an operator of Restate', async () => {
    await using fleet = await open();
    const worker = await fleet.worker({ step: 'ask', turn: 2 });
    await fleet.start('stop-asked');
    await worker.held(1);
    expect(await fleet.must('stop-asked', 'cancel')).toEqual({ cancelled: true });
    await fleet.bench.all('the session has ended', ({ status }) => status !== 'open');
    worker.goOn();
    for (const sid of ['stop-waiting', 'stop-operator']) await fleet.start(sid);
    await fleet.bench.all('the turns wait', ({ status, waits }) => status !== 'open' || waits !== null);
    expect(await fleet.must('stop-waiting', 'cancel')).toEqual({ cancelled: true });
    await fleet.bench.all('one is left', ({ sid, status }) => status !== 'open' || sid === 'stop-operator');
    await fleet.cancelInvocations();
    await fleet.bench.all('every session has ended', ({ status }) => status !== 'open');
    expect(await fleet.must('stop-operator', 'cancel')).toEqual({ cancelled: false });
    await fleet.finish();
    await judge(fleet.bench, () => 'HALT ERR_CANCELLED');
  });

  it('repetitions have no effect, mistakes are told to the caller, and a session that nobody drives is driven on', async () => {
    await using fleet = await open();
    const worker = await fleet.worker({ step: 'call', turn: 2 });
    expect(await fleet.call('work-1', 'status')).toMatchObject({ status: 409 });
    expect(await fleet.call('work-1', 'start', { data: 1 })).toMatchObject({ status: 400 });
    expect(await fleet.call('work-1', 'start', { userdata: 1 })).toMatchObject({ status: 400 });
    for (let time = 0; time < 3; time++) await fleet.start('work-1');
    expect(await fleet.call('work-1', 'start', { userdata: { subject: 'x', fields: {} } })).toMatchObject({ status: 409 });
    await worker.held(1);
    expect(await fleet.must('work-1', 'status')).toMatchObject({ status: 'open', turns: 1, waits: [] });
    worker.goOn();
    const first = { subject: 'work-2', fields: {} };
    await openSession(fleet.bench.store, first, { sid: 'work-2', at: Date.now(), durable: 'turn', profile: fleet.bench.name });
    expect(await fleet.must('work-2', 'turn')).toBe('open');
    expect(await fleet.must('nobody', 'turn')).toBe('unknown');
    expect(await fleet.call('work-1', 'complete', { call: '9.9', result: 1 })).toMatchObject({ status: 409 });
    await fleet.finish();
    await judge(fleet.bench, done);
    await expectOneRun(fleet);
  });

  it('bench cluster has rows of workers that Restate calls: every session is done', async () => {
    const url = inject('url');
    const pool = await pgPool(url);
    const part = { executor: 'none', hosts: 2, logs: true, inFlight: 8 } as const;
    const row = await measureRestate(server, { url, pid: null, pool }, part, true);
    await pool.end();
    expect(row).toMatchObject({ engine: 'Restate, Postgres, log', hosts: 2, turns: 50, unfinished: 0 });
    if (process.platform === 'linux') expect(row.hostCpuMs).toBeGreaterThan(0);
  });

  it('examples/restate/worker.mjs drives a session to its end', async () => {
    const folder = tempFolder();
    const port = await freePort();
    const args = [join(folder, 'sessions.db'), String(port)];
    const worker = fork(join(ROOT, 'examples/restate/worker.mjs'), args, {
      execArgv: ['--no-warnings', ...WITH_SDK],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const gone = new Promise((resolve) => worker.once('exit', resolve));
    try {
      const register = () => post(`${server.admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
      await until('the worker is registered', async () => worker.exitCode !== null || (await register()).status === 201);
      const sid = `${server.ingress}/neuroscript/example`;
      expect(await post(`${sid}/start`, { userdata: { subject: 'greet', fields: {} } })).toMatchObject({ status: 200 });
      await until('the session is done', async () => Object((await post(`${sid}/status`)).body).status === 'done');
    } finally {
      worker.kill('SIGKILL');
      await gone;
    }
  });
});
