// @module-tag slow
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import type { LimitOptions, Sandbox } from '../../src/sandbox/index.ts';
import { BusyError } from '../../src/wire/errors.ts';
import { childrenOf, sleep, until } from './children.ts';
import { closeSandboxes, handlers, inputOf, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

describe('the queue', () => {
  it('is bounded: one more run is refused with BusyError, and room comes back', async () => {
    const sandbox = await sandboxOf({ queueLength: 2 });
    const hog = run(sandbox, 'loop', {}, { cpuMs: 100 });
    const waiting = [run(sandbox, 'nothing'), run(sandbox, 'nothing')];
    await expect(run(sandbox, 'nothing')).rejects.toThrow(BusyError);
    await Promise.all([hog, ...waiting]);
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    await sandbox.close();
  });

  it('does not count the runs that begin as soon as a worker has started: two at once and two that wait are four', async () => {
    // The pool is open when its first worker is ready.
    const sandbox = await sandboxOf({ concurrency: 2, maxWorkers: 2, queueLength: 2 });
    const runs = Array.from({ length: 5 }, () => run(sandbox, 'nothing'));
    const ends = await Promise.allSettled(runs);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    await sandbox.close();
  });

  it('lets at most `concurrency` runs compute at a time, first come, first served', async () => {
    const sandbox = await sandboxOf({ concurrency: 2 });
    let computing = 0;
    let most = 0;
    const order: number[] = [];
    const one = async (i: number): Promise<void> => {
      await sandbox.run(inputOf('loop', {}, { cpuMs: 60 }), {
        ...handlers(),
        onStarted: () => {
          order.push(i);
          most = Math.max(most, ++computing);
        },
      });
      computing--;
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => one(i)));
    expect(most).toBe(2);
    expect(order.slice(2).every((i) => i >= 2)).toBe(true);
    await sandbox.close();
  });
});

describe('the workers beyond the first', () => {
  it('start a second after the first, so that one run does not wait for their start', async () => {
    const sandbox = await sandboxOf({ concurrency: 3 });
    expect(sandbox.load().workers).toBe(1);
    await run(sandbox, 'nothing');
    expect(sandbox.load().workers).toBe(1);
    await until(() => sandbox.load().idle === 3);
    await sandbox.close();
  });

  it('start at once when runs need them', async () => {
    const sandbox = await sandboxOf({ concurrency: 2 });
    const runs = [run(sandbox, 'nothing'), run(sandbox, 'nothing')];
    expect(sandbox.load()).toMatchObject({ workers: 2, computing: 1, queued: 1 });
    for (const { result } of await Promise.all(runs)) expect(result.ok).toBe(true);
    await sandbox.close();
  });
});

describe('the worker for a run', () => {
  const wakings = (pid: number): number =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

  /** The one that woke up for a run, which has had the time to get ready for another. */
  async function workerOf(sandbox: Sandbox, limits: LimitOptions, workers: readonly number[]): Promise<number> {
    const before = workers.map(wakings);
    await run(sandbox, 'nothing', {}, limits);
    await sleep(50);
    const [one, ...others] = workers.filter((pid, index) => wakings(pid) > (before[index] ?? 0));
    expect(others).toEqual([]);
    return one ?? Number.NaN;
  }

  it('is the one that ran such a run last, and is ready for it', async () => {
    const before = childrenOf(process.pid);
    const sandbox = await sandboxOf({ concurrency: 2, launcher: 'none' });
    const workers = (): number[] => childrenOf(process.pid).filter((pid) => !before.includes(pid));
    await until(() => sandbox.load().idle === 2);
    await Promise.all([run(sandbox, 'loop', {}, { cpuMs: 50 }), run(sandbox, 'loop', {}, { cpuMs: 50 })]);
    await sleep(100);
    const [small, large] = [{ memoryBytes: 16 * 2 ** 20 }, { memoryBytes: 64 * 2 ** 20 }];
    const pids = workers();
    const ofSmall = await workerOf(sandbox, small, pids);
    const ofLarge = await workerOf(sandbox, large, pids);
    expect(new Set([ofSmall, ofLarge])).toEqual(new Set(pids));
    const again: number[] = [];
    for (const limits of [small, small, large, small, large, large]) again.push(await workerOf(sandbox, limits, pids));
    expect(again).toEqual([ofSmall, ofSmall, ofLarge, ofSmall, ofLarge, ofLarge]);
    await sandbox.close();
  });

  it('is another one when that has not made its next isolate yet', async () => {
    const before = childrenOf(process.pid);
    const sandbox = await sandboxOf({ concurrency: 2, launcher: 'none' });
    await until(() => sandbox.load().idle === 2);
    await Promise.all([run(sandbox, 'loop', {}, { cpuMs: 50 }), run(sandbox, 'loop', {}, { cpuMs: 50 })]);
    await sleep(100);
    const workers = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    const woken = workers.map(wakings);
    for (let n = 0; n < 2; n++) await run(sandbox, 'nothing');
    await sleep(50);
    expect(workers.filter((pid, index) => wakings(pid) > (woken[index] ?? 0))).toEqual(workers);
    await sandbox.close();
  });
});
