// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openStats } from '../../src/sandbox/processstats.ts';
import { lacksOf } from '../../src/sandbox/rings.ts';

const descriptors = (): number => readdirSync('/proc/self/fd').length;

it('reads the memory and the CPU time of a process as the process itself does', () => {
  const stats = openStats(process.pid);
  const before = process.cpuUsage();
  const cpu = stats?.cpuMs() ?? Number.NaN;
  for (let n = 0; n < 1e8; n++);
  const { user, system } = process.cpuUsage(before);
  const used = (stats?.cpuMs() ?? Number.NaN) - cpu;
  // Other threads of this process compute too, so the main thread used at most as much.
  expect(used).toBeGreaterThan(0);
  expect(used / ((user + system) / 1000)).toBeLessThan(1.5);
  expect((stats?.rssBytes() ?? 0) / process.memoryUsage.rss()).toBeCloseTo(1, 0);
  const holdings = stats?.holdings();
  expect((holdings?.rssBytes ?? 0) / process.memoryUsage.rss()).toBeCloseTo(1, 0);
  expect(holdings?.cpuMs).toBeGreaterThanOrEqual((user + system) / 1000 - 20);
  const load = stats?.load();
  expect(load).toEqual({
    ...{ rssBytes: expect.any(Number), pageTableBytes: expect.any(Number), threads: readdirSync('/proc/self/task').length },
    ...{ cpuMs: expect.any(Number), mainCpuMs: expect.any(Number) },
  });
  expect(load?.pageTableBytes).toBeGreaterThan(100_000);
  expect(load?.mainCpuMs).toBeLessThanOrEqual((load?.cpuMs ?? 0) + 30);
  stats?.close();
});

it('issue 48: a look at what the confinement lacks, which each scrape is, keeps no file open', () => {
  const before = descriptors();
  const sandbox = { launcher: { cage: null, reason: null, demands: [] }, confinement: new Map() };
  for (let scrape = 0; scrape < 20; scrape++) expect(lacksOf(sandbox)).not.toEqual([]);
  expect(descriptors()).toBe(before);
});

it('counts the children and the descriptors of a process', async () => {
  const stats = openStats(process.pid);
  const before = stats?.holdings();
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  expect(stats?.holdings()?.children).toBe((before?.children ?? 0) + 1);
  expect(Math.abs((stats?.holdings()?.descriptors ?? 0) - descriptors())).toBeLessThanOrEqual(2);
  child.kill();
  await once(child, 'exit');
  stats?.close();
});

it('knows nothing of a process that is gone, and leaves no descriptor open', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const before = descriptors();
  const stats = openStats(child.pid ?? 0);
  expect(stats?.rssBytes()).toBeGreaterThan(0);
  expect(descriptors()).toBe(before + 2);
  child.kill();
  await once(child, 'exit');
  expect([stats?.rssBytes(), stats?.cpuMs(), stats?.holdings()]).toEqual([null, null, null]);
  stats?.close();
  stats?.close();
  expect(openStats(child.pid ?? 0)).toBeNull();
  expect(descriptors()).toBeLessThanOrEqual(before);
});
