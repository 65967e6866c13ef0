// @module-tag slow
import { expect, it, vi } from 'vitest';
import { descendants, residence } from '../../bench/residence.ts';
import { createRuntime } from '../../src/entries/index.ts';
import { tidier } from '../../src/worker/tidy.ts';

it('tidying collects once', () => {
  const collect = vi.fn();
  const tidy = tidier(collect);
  for (let rest = 0; rest < 3; rest++) tidy();
  expect(collect.mock.calls).toEqual([[{ type: 'major', execution: 'sync', flavor: 'last-resort' }]]);
});

it('a worker at rest gives memory back, and runs the next program', { timeout: 30_000 }, async () => {
  const before = new Set(descendants());
  await using runtime = await createRuntime({ concurrency: 1 });
  // The worker has parsed so many statements.
  const program = `command\n${'  emit 1 + 2\n'.repeat(10_000)}endcommand\n`;
  const { fuel } = (await runtime.run(program)).usage;
  const worker = descendants().findLast((pid) => !before.has(pid)) ?? 0;
  const most = residence(worker).now - 3 * 1024 ** 2;
  await vi.waitFor(() => expect(residence(worker).now).toBeLessThan(most), { timeout: 20_000, interval: 50 });
  expect((await runtime.run(program)).usage.fuel).toBe(fuel);
  expect(descendants().filter((pid) => !before.has(pid))).toContain(worker);
});
