// @module-tag slow
import { expect, it, vi } from 'vitest';
import { descendants, residence } from '../../bench/residence.ts';
import { createRuntime } from '../../src/entries/index.ts';
import { Tidier } from '../../src/worker/tidy.ts';

const MB = 1024 * 1024;

/** A tidier of a heap with so many megabytes, and what it collects. */
function tidied(heap: { mb: number }) {
  const collected: unknown[] = [];
  const collect = (options?: { flavor?: string }) => {
    collected.push(options?.flavor);
    heap.mb = Math.min(heap.mb, 10);
  };
  return { tidier: new Tidier(collect as NodeJS.GCFunction, () => heap.mb * MB), collected };
}

it('collects thoroughly at the first rest, and later only what has come since', () => {
  const heap = { mb: 12 };
  const { tidier, collected } = tidied(heap);
  for (let rest = 0; rest < 3; rest++) tidier.atRest();
  expect(collected).toEqual(['last-resort']);
  heap.mb = 20;
  for (let rest = 0; rest < 3; rest++) tidier.atRest();
  expect(collected).toEqual(['last-resort', 'regular']);
});

it('collects after a text that leaves much garbage', () => {
  const heap = { mb: 12 };
  const { tidier, collected } = tidied(heap);
  for (const mb of [20, 35]) {
    heap.mb = mb;
    tidier.afterText();
  }
  expect(collected).toEqual([]);
  heap.mb = 36;
  for (let text = 0; text < 3; text++) tidier.afterText();
  expect(collected).toEqual(['regular']);
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

it('new long programs do not use workers up', { timeout: 60_000 }, async () => {
  const before = new Set(descendants());
  await using runtime = await createRuntime({ concurrency: 1 });
  const workers = () => descendants().filter((pid) => !before.has(pid));
  await runtime.run('command\nendcommand\n');
  const first = workers();
  for (let program = 0; program < 40; program++)
    await runtime.run(`command\n${'  emit 1 + 2\n'.repeat(5_000)}endcommand\n# ${program}\n`);
  expect(workers()).toEqual(first);
});
