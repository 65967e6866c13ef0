import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type RuntimeOptions } from '../../src/entries/index.ts';

const WAIT = 'command\n  call tool.t.Wait()\n  emit "done"\nendcommand';

/** A runtime with a tool that answers when it is told to, and what tells whether it was called. */
async function service(options: RuntimeOptions = {}) {
  const called = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const wait = defineTool({
    name: 'tool.t.Wait',
    run: async () => {
      called.resolve();
      await answer.promise;
    },
  });
  const runtime = await createRuntime({ tools: [wait], policy: { allow: ['tool.t.*'] }, concurrency: 1, ...options });
  return { runtime, called: called.promise, answer: () => answer.resolve() };
}

describe('a runtime in a service', () => {
  it('tells its workers, what they do, and how they are held', async () => {
    const { runtime, called, answer } = await service({ launcher: 'none', maxWorkers: 1 });
    await using _ = runtime;
    expect(runtime.launcher).toBe('none');
    expect(runtime.stats()).toMatchObject({
      ...{ workers: 1, idle: 1, computing: 0, waitingForHost: 0, queued: 0 },
      ...{ boundaryBreaches: 0, tenants: 0, tenantRefusals: 0, toolRetries: 0 },
    });
    const first = runtime.run(WAIT);
    await called;
    const second = runtime.run(WAIT);
    await sleep(0);
    expect(runtime.stats()).toMatchObject({ idle: 0, computing: 0, waitingForHost: 1, queued: 1 });
    answer();
    expect((await Promise.all([first, second])).map(({ ok }) => ok)).toEqual([true, true]);
  });

  it('that drains lets the runs end that were begun and refuses others', async () => {
    const { runtime, called, answer } = await service();
    const running = runtime.run(WAIT);
    const waiting = runtime.run(WAIT);
    await called;
    const closed = runtime.close({ drainMs: 60_000 });
    await expect(runtime.run(WAIT)).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    answer();
    expect((await running).emits).toEqual(['done']);
    expect((await waiting).emits).toEqual(['done']);
    await closed;
  });

  it.each([
    ['when the time of the drain is over', 50, false],
    ['when it is closed again', 60_000, true],
  ])('that drains cancels what still runs %s', async (_, drainMs, again) => {
    const { runtime, called } = await service();
    const running = runtime.run(WAIT);
    await called;
    const closed = runtime.close({ drainMs });
    if (again) await runtime.close();
    expect((await running).error).toMatchObject({ code: 'ERR_CANCELLED' });
    await closed;
  });

  it('refuses a time of the drain that is none', async () => {
    const { runtime } = await service();
    expect(() => runtime.close({ drainMs: -1 })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
    await runtime.close();
  });
});
