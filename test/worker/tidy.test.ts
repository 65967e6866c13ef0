import { expect, it, vi } from 'vitest';
import { descendants, residence } from '../../bench/residence.ts';
import { createRuntime } from '../../src/entries/index.ts';
import { tidier } from '../../src/worker/tidy.ts';

it('tidying collects once, and again only when the heap has grown', () => {
  const collect = vi.fn();
  const tidy = tidier(collect);
  tidy();
  tidy();
  expect(collect).toHaveBeenCalledTimes(1);
  const held = Array.from({ length: 400 }, () => new Array<number>(8192).fill(1.5));
  tidy();
  expect([held.length, collect.mock.calls.length]).toEqual([400, 2]);
});

it('a worker at rest gives memory back, and runs the next program', { timeout: 30_000 }, async () => {
  const before = new Set(descendants());
  await using runtime = await createRuntime({ concurrency: 1 });
  const program = 'command\n  emit 1\nendcommand\n';
  await runtime.run(program);
  const worker = descendants().findLast((pid) => !before.has(pid)) ?? 0;
  const most = residence(worker).now - 3 * 1024 ** 2;
  await vi.waitFor(() => expect(residence(worker).now).toBeLessThan(most), { timeout: 20_000, interval: 50 });
  expect((await runtime.run(program)).values).toEqual([1]);
  expect(descendants().filter((pid) => !before.has(pid))).toContain(worker);
});
