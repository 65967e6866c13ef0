// @module-tag slow
import { expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';

it('a run ends soon after its time limit, also when the handler of its ask ignores that', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  await using runtime = await createRuntime({
    concurrency: 1,
    ask: ({ signal }) => {
      asked.resolve(signal);
      return new Promise(() => {});
    },
  });
  const run = runtime.run('command\nask "m", "q" into x\nendcommand', { limits: { wallMs: 500 } });
  expect(await run).toMatchObject({ error: { code: 'ERR_TIMEOUT' }, journal: [{ kind: 'ask', outcome: { ok: false } }] });
  expect((await asked.promise).aborted).toBe(true);
}, 20_000);
