// @module-tag slow
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Allowance } from '../../src/sandbox/allowance.ts';
import { NO_ROLE } from '../../src/sandbox/codecache.ts';
import type { SandboxResult } from '../../src/sandbox/index.ts';
import { sendSignal } from '../../src/sandbox/kill.ts';
import { openStats, orphans } from '../../src/sandbox/processstats.ts';
import { WorkerProcess } from '../../src/sandbox/worker.ts';
import { WorkerWatch } from '../../src/sandbox/workerwatch.ts';
import { encodeFrame } from '../../src/wire/frames.ts';
import { PIECE_UNITS } from '../../src/wire/frametext.ts';
import { until } from './children.ts';
import { REAL, ROGUE } from './input.ts';
import { closeSandboxes, HOLED, handlers, inputOf, OK, type Plan, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const MB = 1024 * 1024;
const UNHURRIED = { cpuMs: 600_000, wallMs: 600_000, toolMs: 600_000 };

/** The child processes of this one. */
const children = (): number[] =>
  readdirSync('/proc/self/task').flatMap((task) =>
    (readFileSync(`/proc/self/task/${task}/children`, 'utf8').match(/\d+/g) ?? []).map(Number),
  );

function rssOf(pid: number): number {
  const stats = openStats(pid);
  const bytes = stats?.rssBytes() ?? 0;
  stats?.close();
  return bytes;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It ended between the two looks.
  }
}

const USAGE = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const RESULT = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null, ...USAGE };

/** A worker that answers each run rightly and then does something of its own. */
const afterwards = (...steps: readonly object[]): Plan => ({
  echo: true,
  run: [
    { frame: { t: 'started', id: 0 } },
    // So that the run is watched.
    { sleep: 100 },
    { frame: { t: 'result', id: 0, result: RESULT, usage: USAGE, errors: [], last: false } },
    ...steps,
  ],
});

const growth = Array.from({ length: 40 }, () => [{ grow: 32 * MB }, { sleep: 50 }]).flat();

describe('finding 6: a worker that moves without a task is ended and counted', () => {
  it.concurrent.each([
    ['grows', afterwards(...growth)],
    ['computes', afterwards({ compute: 60_000 })],
    ['fills page tables', afterwards({ tables: 24 })],
    ['starts threads', afterwards({ threads: 100 })],
  ])('when it %s', async (_what, plan) => {
    const sandbox = await sandboxOf({ files: rogue(plan) });
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    expect(sandbox.boundaryBreaches).toBe(0);
    await until(() => sandbox.boundaryBreaches > 0);
    // The next run gets another worker.
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    await sandbox.close();
  });

  it.each([
    ['finding 4', 'has page tables', { tables: 24 }, /it has \d+ bytes of page tables/],
    ['finding 5', 'starts threads', { threads: 100 }, /it has \d+ threads/],
    ['finding 5', 'computes in other threads', { threads: 2, iterations: 1e8 }, /its other threads computed for \d+ ms/],
  ])(
    '%s: during a run that %s, which pays for it; the next run and those of other workers go on',
    async (_finding, _what, step, why) => {
      const other = await sandboxOf();
      const ended = Promise.withResolvers<typeof OK>();
      const neighbour = other.run(
        inputOf('call', {}, UNHURRIED),
        handlers(() => ended.promise),
      );
      const sandbox = await sandboxOf({ files: { worker: ROGUE, guest: REAL.guest } });
      const steps = [{ frame: { t: 'started', id: 0 } }, step, { sleep: 60_000 }];
      // On a slow machine the step takes long: no limit on time comes first.
      const { result, usage } = await sandbox.run(inputOf('', { steps }, UNHURRIED), handlers());
      expect(result.error).toMatchObject({ code: 'ERR_WORKER', message: expect.stringMatching(why) });
      if ('iterations' in step) expect(usage.cpuMs).toBeGreaterThan(500);
      expect(sandbox.boundaryBreaches).toBe(1);
      expect((await sandbox.run(inputOf('', { value: 7 }), handlers())).result).toMatchObject({ ok: true, result: 7 });
      ended.resolve(OK);
      expect((await neighbour).result.ok).toBe(true);
      expect([sandbox.boundaryBreaches, other.boundaryBreaches]).toEqual([1, 0]);
    },
  );

  it('before its next run begins, so that the run does not pay for it', async () => {
    const before = children();
    const sandbox = await sandboxOf({ files: rogue(afterwards({ grow: 256 * MB })), launcher: 'none' });
    for (let n = 0; n < 3; n++) {
      const { result } = await sandbox.run(inputOf('nothing', {}, { memoryBytes: MB }), handlers());
      expect(result.error).toBeNull();
      const workers = children().filter((pid) => !before.includes(pid));
      await until(() => sandbox.boundaryBreaches > n || workers.some((pid) => rssOf(pid) > 256 * MB));
      // Beyond this time at rest a worker is looked at again.
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await sandbox.close();
  });

  /** A worker without permissions and limits of the system. */
  async function bareWith(plan: Plan): Promise<{ worker: WorkerProcess; frames: Socket }> {
    const { worker, guest } = rogue(plan);
    const child = spawn(process.execPath, [worker, guest], { stdio: ['pipe', 'ignore', 'pipe', 'pipe'], detached: true });
    const frames = child.stdio[3];
    if (!(frames instanceof Socket) || !(child.stderr instanceof Readable)) throw new Error('no pipes');
    const bare = new WorkerProcess({ child, cage: null, frames, stderr: child.stderr, caches: NO_ROLE, scopes: [] });
    await bare.ready;
    return { worker: bare, frames };
  }
  const bare = async (plan: Plan): Promise<WorkerProcess> => (await bareWith(plan)).worker;

  it('finding 17: when bytes have arrived behind a long answer, before another task gets it', async () => {
    const { worker, frames } = await bareWith({});
    const answer = { t: 'var', found: true, value: 'x'.repeat(PIECE_UNITS + 1), error: null };
    const dead = new Promise((resolve) => {
      const onFrame = (): void => {
        worker.free();
        resolve(worker.dead);
      };
      worker.assign({ onFrame, onGone: () => resolve('gone') }, MB, 100);
    });
    for (const frame of [answer, { t: 'started', id: 2 }]) frames.unshift(encodeFrame(JSON.stringify(frame), MB));
    expect(await dead).toBe(true);
    expect((await worker.gone).violation).toBe('it sent more than its answer');
  });

  it('a violation is told of at once, not when the process has ended', async () => {
    const worker = await bare({});
    const order: string[] = [];
    void worker.gone.then(() => order.push('gone'));
    void worker.violated.then(() => order.push('violated'));
    worker.retire('a test');
    await Promise.resolve();
    expect(order).toEqual(['violated']);
    await worker.gone;
    expect(order).toEqual(['violated', 'gone']);
  });

  it('a worker that has begun a task is not told to prepare itself any more', async () => {
    const worker = await bare({});
    worker.prepare();
    // As when two runs end in one round of the event loop.
    worker.prepare();
    const send = vi.spyOn(worker, 'send');
    worker.assign({ onFrame: () => {}, onGone: () => {} }, 1, 1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(send).not.toHaveBeenCalled();
    worker.kill();
    await worker.gone;
  });

  it.concurrent.each([
    ['processes', { before: [{ spawn: true }] }, 'it started 1 processes'],
    ['processes whose parent has ended', { before: [{ orphan: true }] }, 'it started 1 processes'],
    ['descriptors', {}, /^it opened \d+ descriptors$/],
    ['threads that wait', { before: [{ threads: 100 }] }, /^it has \d+ threads$/],
    ['threads that compute', { after: [{ threads: 2, iterations: 1e8 }] }, /^its other threads computed for \d+ ms$/],
    ['page tables', { before: [{ tables: 24 }] }, /^it has \d+ bytes of page tables$/],
  ])('when it has %s of its own, also during a run', async (what, plan, message) => {
    const worker = await bare(plan);
    const held = worker.stats?.holdings() ?? null;
    expect(held?.descriptors).toBeGreaterThan(2);
    if (what === 'descriptors') worker.allowance = held && new Allowance({ ...held, descriptors: 0 });
    const moved: string[] = [];
    const watch = new WorkerWatch([worker], [], (_worker, did) => moved.push(did));
    watch.start();
    await until(() => moved.length > 0);
    watch.stop();
    expect(moved[0]).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    const { session } = worker;
    worker.kill();
    await worker.gone;
    await until(() => !orphans().has(session ?? 0));
  });

  it('18: the table of launchers: not when it left a process in a session of its own (setsid), without filter and limits', async () => {
    const name = `600.${process.pid}`;
    const worker = await bare({ before: [{ daemon: name }] });
    const left = (): number[] =>
      readdirSync('/proc')
        .filter((pid) => /^\d+$/.test(pid) && commandOf(Number(pid)) === `sleep\0${name}\0`)
        .map(Number);
    try {
      await until(() => left().length === 1);
      expect(worker.stats?.holdings()?.children).toBe(0);
      expect(orphans().has(worker.session ?? 0)).toBe(false);
    } finally {
      for (const pid of left()) sendSignal(pid, 'SIGKILL');
      worker.kill();
      await worker.gone;
    }
  });
});

it('a worker that the watch ends gets no run that comes before its death is reported', async () => {
  const sandbox = await sandboxOf();
  const prepare = vi.spyOn(WorkerProcess.prototype, 'prepare');
  await run(sandbox, 'nothing');
  await until(() => prepare.mock.contexts.length > 0);
  const { retire } = WorkerProcess.prototype;
  const next = Promise.withResolvers<SandboxResult>();
  vi.spyOn(WorkerProcess.prototype, 'retire').mockImplementationOnce(function (this: WorkerProcess, violation) {
    retire.call(this, violation);
    queueMicrotask(() => next.resolve(run(sandbox, 'nothing')));
  });
  // As if it had opened all that it has.
  for (const worker of prepare.mock.contexts) {
    const held = worker instanceof WorkerProcess ? worker.stats?.holdings() : null;
    if (worker instanceof WorkerProcess && held != null) worker.allowance = new Allowance({ ...held, descriptors: -100 });
  }
  expect((await next.promise).result.error).toBeNull();
  expect(sandbox.boundaryBreaches).toBe(1);
  vi.restoreAllMocks();
  await sandbox.close();
});

it('an honest worker rests, also after large runs', async () => {
  const sandbox = await sandboxOf({ files: HOLED });
  await run(sandbox, 'hoard', {}, { memoryBytes: 32 * MB });
  for (let n = 0; n < 5; n++) await run(sandbox, 'echo', { value: 'x'.repeat(MB) }, { memoryBytes: 512 * MB });
  const stats = openStats(process.pid);
  expect(stats?.holdings()).toMatchObject({ descriptors: expect.any(Number), children: expect.any(Number) });
  stats?.close();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
  expect(sandbox.boundaryBreaches).toBe(0);
  await sandbox.close();
});
