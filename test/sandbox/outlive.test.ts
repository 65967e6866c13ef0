// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRuntime, defineTool } from '../../src/entries/index.ts';
import { childrenOf } from './children.ts';

/** A program that calls a tool which kills the worker of the run, and goes on. */
async function killedDuring(work: () => Promise<unknown>, limits: object = {}) {
  const before = new Set(childrenOf(process.pid));
  /** Whether the call was given up before its tool had answered. */
  let aborted: boolean | undefined;
  const tool = defineTool({
    name: 'tool.t.Kill',
    args: [],
    run: async (_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted ??= true;
      });
      for (const pid of childrenOf(process.pid)) if (!before.has(pid)) process.kill(pid, 'SIGKILL');
      const value = await work();
      aborted ??= false;
      return value;
    },
  });
  await using runtime = await createRuntime({ tools: [tool], policy: { allow: ['*'] }, concurrency: 1, limits });
  const result = await runtime.run('command\n  emit tool.t.Kill()\nendcommand');
  const next = await runtime.run('command\n  emit 1\nendcommand');
  return { result, next, isAborted: () => aborted };
}

it('a call that is answered after the death of its worker is in the journal with its answer', async () => {
  const { result, next, isAborted } = await killedDuring(async () => {
    await sleep(200);
    return 'done';
  });
  expect(result).toMatchObject({ ok: false, error: { code: 'ERR_WORKER', kind: 'internal' } });
  expect(result.journal).toMatchObject([{ name: 'tool.t.kill', outcome: { ok: true, value: 'done' } }]);
  expect(isAborted()).toBe(false);
  expect(next).toMatchObject({ ok: true, emits: ['1'] });
});

it('a call that outlives its worker still ends with the time limit of the call', async () => {
  const { result, isAborted } = await killedDuring(() => new Promise(() => {}), { toolMs: 300 });
  expect(result).toMatchObject({ ok: false, error: { code: 'ERR_TIMEOUT', limit: 'toolMs' } });
  expect(isAborted()).toBe(true);
});
