import { EventEmitter } from 'node:events';
import { Duplex, PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_ROLE } from '../../src/sandbox/codecache.ts';
import type { Job } from '../../src/sandbox/jobqueue.ts';
import type { StartedWorker } from '../../src/sandbox/launch.ts';
import { Pool } from '../../src/sandbox/pool.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { WorkerProcess } from '../../src/sandbox/worker.ts';
import { encodeFrame } from '../../src/wire/frames.ts';
import { PROTOCOL_VERSION } from '../../src/wire/protocol.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A worker that says hello and nothing else. */
function started(): StartedWorker {
  const frames = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const hello = { t: 'hello', version: PROTOCOL_VERSION, pid: 1, node: process.version, dropped: [] };
  frames.push(encodeFrame(JSON.stringify(hello), 1_000_000));
  const events = new EventEmitter();
  const child = Object.assign(events, {
    ...{ exitCode: null, signalCode: null, unref: () => {} },
    kill: () => events.emit('close', null, 'SIGKILL'),
  });
  const stderr = new PassThrough();
  return { child, cage: null, frames: Object.assign(frames, { unref: () => {} }), stderr, caches: NO_ROLE, scopes: [] };
}

/** A pool whose workers cannot be started after the first, and a job of it. */
async function poolOf() {
  let starts = 0;
  const start = () => {
    if (starts++ > 0) throw new Error('the system gives no process');
    return started();
  };
  const launcher = { cage: null, reason: 'a test', demands: [] };
  const pool = new Pool({ concurrency: 2, maxWorkers: 3, queueLength: 9, levels: 0, launcher, start });
  await pool.open();
  const submit = () => {
    const seen: { worker: WorkerProcess | null; error: Error | null } = { worker: null, error: null };
    const job: Job = {
      ...{ depth: 0, flow: 'f', tenant: null, affinity: null, isolation: 'run' },
      start: (worker) => {
        seen.worker = worker;
      },
      fail: (error) => {
        seen.error = error;
      },
    };
    pool.submit(job);
    return seen;
  };
  return { pool, submit, starts: () => starts };
}

describe('issue 50: jobs that wait while no worker can be started', () => {
  it('wait for a worker that lives', async () => {
    const { pool, submit, starts } = await poolOf();
    const [first, second] = [submit(), submit()];
    await vi.advanceTimersByTimeAsync(5_000);
    expect(starts()).toBeGreaterThan(4);
    expect([first.worker === null, second.worker, second.error]).toEqual([false, null, null]);
    if (first.worker !== null) pool.release(first.worker, true);
    expect(second.worker).toBe(first.worker);
    await pool.close();
  });

  it('fail after three attempts when none lives', async () => {
    const { pool, submit } = await poolOf();
    const [first, second] = [submit(), submit()];
    first.worker?.kill();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([second.worker, second.error?.message]).toEqual([null, 'the system gives no process']);
    await pool.close();
  });

  it('are queries, too: they fail like those whose worker died', async () => {
    const { pool } = await poolOf();
    pool.submit = (job) => job.fail(new Error('the system gives no process'));
    const sandbox = new Sandbox({ pool, launcher: { cage: null, reason: 'a test', demands: [] }, confinement: new Map() });
    await expect(sandbox.parse([], 1)).rejects.toMatchObject({ code: 'ERR_WORKER', message: 'the system gives no process' });
    await sandbox.close();
  });
});
