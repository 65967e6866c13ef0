// @module-tag slow
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Cgroups, findCgroups } from '../../src/sandbox/cgroup.ts';
import { launch } from '../../src/sandbox/launch.ts';
import { openStats } from '../../src/sandbox/processstats.ts';
import { crashError } from '../../src/sandbox/result.ts';
import { type Gone, WorkerProcess } from '../../src/sandbox/worker.ts';
import { tempFolder } from '../folder.ts';
import { until } from './children.ts';
import { inputOf, REAL } from './input.ts';

/** A folder that looks as a delegated one does. The kernel fills a new cgroup with files; here a test writes those that it reads. */
let root: string;
const OWN = '0::/service/host\n';
beforeEach(() => {
  root = tempFolder();
  mkdirSync(join(root, 'service/host'), { recursive: true });
  writeFileSync(join(root, 'service/cgroup.controllers'), 'cpuset cpu io memory pids\n');
});

const content = (...path: readonly string[]): string => readFileSync(join(root, 'service', ...path), 'utf8');
const groups = (): string[] => readdirSync(join(root, 'service')).filter((name) => name.startsWith('neuroscript-'));

function delegated(): Cgroups {
  const found = findCgroups(root, OWN);
  if (typeof found === 'string') throw new Error(found);
  return found;
}

describe('issue 44, findings 4 and 5: cgroups that are delegated', () => {
  it('are found beside the group of this process, and what a killed host left is removed', () => {
    mkdirSync(join(root, 'service/neuroscript-99999999-1'));
    mkdirSync(join(root, `service/neuroscript-${process.pid}-9`));
    delegated();
    expect(content('cgroup.subtree_control')).toBe('+memory +pids');
    expect(groups()).toEqual([`neuroscript-${process.pid}-9`]);
  });

  it.each([
    ['version 1', '8:pids:/x\n4:memory:/x\n', /is delegated/],
    ['no group beside others', '0::/\n', /is delegated/],
    ['a group without controllers', '0::/service/host/inner\n', /not delegated/],
  ])('are not in %s, and the reason says so', (_, own, reason) => {
    expect(findCgroups(root, own)).toMatch(reason);
  });

  it('must control memory and threads', () => {
    writeFileSync(join(root, 'service/cgroup.controllers'), 'cpu memory\n');
    expect(findCgroups(root, OWN)).toMatch(/cannot control pids/);
  });

  it('hold one worker each, with the memory of its run, a number of threads, and the CPU time of all of them', async () => {
    const worker = new WorkerProcess({ ...launch(REAL, 2 ** 26), cgroups: delegated() });
    await worker.ready;
    const [group = ''] = groups();
    expect([content(group, 'pids.max'), content(group, 'memory.swap.max')]).toEqual(['64', '0']);
    const pid = Number(content(group, 'cgroup.procs'));
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('worker');
    const ends: Gone[] = [];
    worker.assign({ onFrame: () => {}, onGone: (gone) => ends.push(gone) }, 2 ** 20, 1000);
    const limits = [2 ** 26, 2 ** 28, 2 ** 26].map((memoryBytes) => {
      worker.run(1, inputOf('', {}, { memoryBytes }));
      return Number(content(group, 'memory.max'));
    });
    expect(limits[1] ?? 0).toBeGreaterThan((limits[0] ?? 0) + 1.5 * (2 ** 28 - 2 ** 26));
    expect(limits[2]).toBe(limits[0]);
    expect(limits[0]).toBeLessThan(2 ** 30 * 1.5);
    writeFileSync(join(root, 'service', group, 'cpu.stat'), 'usage_usec 1234500\nuser_usec 1\nsystem_usec 2\n');
    expect(worker.stats?.load()?.cpuMs).toBe(1234.5);
    // As the kernel says it, after it has ended the worker.
    writeFileSync(join(root, 'service', group, 'memory.events'), 'low 0\noom 1\noom_kill 1\n');
    process.kill(pid, 'SIGKILL');
    await until(() => ends.length > 0);
    const [gone] = ends;
    expect(gone).toMatchObject({ how: 'signal SIGKILL', outOfMemory: true });
    expect(gone && crashError(gone, 2 ** 26)).toMatchObject({ code: 'ERR_QUOTA', limit: 'memoryBytes', allowed: 2 ** 26 });
  });

  it('are removed when the worker has ended, as soon as the kernel lets them', async () => {
    const group = delegated().enter(process.pid);
    const [name = ''] = groups();
    expect(group?.cpuMs()).toBeNull();
    group?.close();
    expect(groups()).toEqual([name]);
    for (const file of readdirSync(join(root, 'service', name))) rmSync(join(root, 'service', name, file));
    await until(() => groups().length === 0);
    // The cgroup is gone; the statistics of the process are not.
    group?.limit(1);
    expect(openStats(process.pid, group)?.load()?.cpuMs).toBeGreaterThan(0);
  });

  it('that cannot be made leave the worker to the watch', () => {
    const cgroups = delegated();
    rmSync(join(root, 'service'), { recursive: true });
    expect(cgroups.enter(process.pid)).toBeNull();
  });
});
