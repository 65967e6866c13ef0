import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseQuery, QueryTask } from '../../src/sandbox/query.ts';
import type { HostFrame } from '../../src/wire/hostframes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A query on a worker of which only the calls are kept. */
function queried(send: (frame: HostFrame) => void = () => {}) {
  const done: string[] = [];
  const settle = Promise.withResolvers<unknown>();
  const worker = {
    assign: () => done.push('assign'),
    send,
    free: () => done.push('free'),
    kill: () => done.push('kill'),
    runs: 0,
  };
  const task = new QueryTask(worker, 1, parseQuery([], 100), settle, () => done.push('end'));
  return { done, task, answer: settle.promise };
}

it('a query that cannot be sent frees its worker, starts no clock and throws', () => {
  const { done, task } = queried(() => {
    throw new TypeError('too large');
  });
  expect(() => task.begin()).toThrow('too large');
  expect(done).toEqual(['assign', 'free']);
  expect(vi.getTimerCount()).toBe(0);
});

it('a worker that does not answer within 30 s is killed, and the query ends as a timeout', async () => {
  const { done, task, answer } = queried();
  task.begin();
  vi.advanceTimersByTime(29_999);
  expect(done).toEqual(['assign']);
  vi.advanceTimersByTime(1);
  expect(done).toEqual(['assign', 'kill']);
  task.onGone({ how: 'signal SIGKILL', violation: null, stderr: '', outOfMemory: false });
  await expect(answer).rejects.toMatchObject({ code: 'ERR_TIMEOUT', message: 'parsing took longer than 30000 ms' });
});

it.each([
  ['dies', null, 'exit code 3'],
  ['breaks the protocol', 'its last frame is cut off', 'its last frame is cut off'],
])('a worker that %s before its time is up ends the query as ERR_WORKER, and stops the clock', async (_what, violation, said) => {
  const { done, task, answer } = queried();
  task.begin();
  task.onGone({ how: 'exit code 3', violation, stderr: '', outOfMemory: false });
  await expect(answer).rejects.toMatchObject({ code: 'ERR_WORKER', message: expect.stringContaining(said) });
  expect([done, vi.getTimerCount()]).toEqual([['assign', 'end'], 0]);
});

it('an answer frees the worker and stops the clock', async () => {
  const { done, task, answer } = queried();
  task.begin();
  task.onFrame({ t: 'parsed', id: 1, diagnostics: [], files: [] });
  expect(await answer).toEqual({ diagnostics: [], files: [] });
  expect([done, vi.getTimerCount()]).toEqual([['assign', 'free', 'end'], 0]);
});

it('an answer names the sources that may only be incomplete, if there are any', async () => {
  const { task, answer } = queried();
  task.begin();
  task.onFrame({ t: 'parsed', id: 1, diagnostics: [], files: [], open: ['a'] });
  expect(await answer).toEqual({ diagnostics: [], files: [], open: ['a'] });
});
