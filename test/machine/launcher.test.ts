// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { createRuntime } from '../../src/entries/index.ts';
import { bubblewrap, findBubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { type Cage, librariesOf } from '../../src/sandbox/cage.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { systemTool } from '../../src/sandbox/systemtools.ts';
import { findUnshare } from '../../src/sandbox/unshare.ts';
import { FrameReader } from '../../src/wire/frames.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import { tempFolder } from '../folder.ts';
import { HOLED, handlers, inputOf, run } from '../sandbox/kit.ts';

function cageOf(found: Cage | string): Cage {
  if (typeof found === 'string') throw new Error(found);
  return found;
}

const BUBBLEWRAP = cageOf(findBubblewrap());
const UNSHARE = cageOf(findUnshare());

/** Runs takeover.mjs in a sandbox and returns the attacks that worked. `replaced` makes it replace itself by a new Node first. */
async function worked(cage: Cage, replaced = false): Promise<string[]> {
  const folder = tempFolder();
  const [victim, secret, plan] = ['victim', 'secret', 'plan.json'].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(victim, 'untouched');
  writeFileSync(secret, 'secret');
  const listener = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  try {
    const address = listener.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    writeFileSync(plan, JSON.stringify({ port, hostPid: process.pid, victim, secret }));
    const binds = [
      { from: process.execPath, to: '/worker/node' },
      { from: fileURLToPath(new URL('takeover.mjs', import.meta.url)), to: '/worker/worker.mjs' },
      { from: plan, to: '/worker/plan.json' },
    ];
    const program = ['/worker/node', '--no-warnings', '/worker/worker.mjs', '/worker/plan.json', replaced ? 'first' : 'only'];
    const { path, args, input } = cage.command(binds, program);
    const child = spawn(path, args, {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', replaced ? 'pipe' : 'inherit', 'pipe', ...(input === null ? [] : (['pipe'] as const))],
    });
    const [, , errors, frames, reader4] = child.stdio;
    if (!(frames instanceof Socket)) throw new Error('no pipes');
    if (reader4 instanceof Writable) reader4.end(input);
    const reader = new FrameReader(65536);
    let said = '';
    errors?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    for await (const chunk of frames) reader.push(chunk);
    if (replaced) await once(child, 'close');
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    // What the attacker started ends with its namespace.
    await vi.waitFor(() => expect(processesNaming(victim)).toEqual([]), { timeout: 10_000, interval: 20 });
    return JSON.parse(replaced ? (said.trimEnd().split('\n').at(-1) ?? '') : (reader.next() ?? 'null'));
  } finally {
    listener.close();
  }
}

/** Ids of the processes, under any parent, whose command line has a text. Other tests may run at the same time. */
function processesNaming(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false; // It ended between the two looks.
    }
  });
}

/** Process ids of the launchers of this test's worker. */
const launchers = (): string[] => processesNaming(HOLED.guest);

/** A filter that allows everything: what the namespaces and the root hold by themselves. */
const NO_FILTER = Uint8Array.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);

/** Attacks that stay within the sandbox: a filter of system calls stops them. */
const INSIDE = [
  'start itself again',
  'leave a process in a session of its own',
  'listen by TCP',
  'listen by an abstract name',
  'open the inspector',
  'send by UDP',
];

describe('a worker under full control of an attacker, in the operating system sandbox', () => {
  it('signals no process, reaches no network, no file, no process and no other program', async () => {
    expect(await worked(BUBBLEWRAP)).toEqual([]);
  });

  it('gains nothing by replacing itself by Node with flags of its own, which is the only program that it can become', async () => {
    expect(await worked(BUBBLEWRAP, true)).toEqual([]);
  });

  it('namespaces and root hold without the filter too: the remaining attacks stay within the sandbox', async () => {
    const unfiltered = bubblewrap(systemTool('bwrap') ?? '', librariesOf(process.execPath), NO_FILTER);
    expect((await worked(unfiltered)).filter((deed) => !INSIDE.includes(deed))).toEqual([]);
  });

  it.each([false, true])(
    'finding 4: the namespaces and the root of unshare hold, too; it knows the name of the machine',
    async (replaced) => {
      const left = (await worked(UNSHARE, replaced)).filter((deed) => !INSIDE.includes(deed));
      expect(left).toEqual(['know the name of the machine']);
    },
  );
});

/** Processes below this one, at any depth. */
function descendants(pid = process.pid): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
      .filter((child) => child !== '')
      .map(Number);
    return children.flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}

describe.each(['bubblewrap', 'unshare'] as const)('the launcher %s', (launcher) => {
  it('programs run, and what is watched is the worker, not the launcher', async () => {
    await using sandbox = await Sandbox.create({ files: HOLED, concurrency: 1, launcher });
    expect(sandbox.launcher).toMatchObject({ cage: { name: launcher }, reason: null });
    expect((await run(sandbox, 'echo', { value: 7 })).result.result).toBe(7);
    for (const [deed, limit] of [
      ['wedge', 'memoryBytes'],
      ['spin', 'cpuMs'],
    ] as const) {
      const { result } = await run(sandbox, deed, {}, { memoryBytes: 32 * 1024 * 1024, cpuMs: 1000 });
      expect(result.error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA' });
      expect(['memoryBytes', 'cpuMs']).toContain(result.error?.limit ?? limit);
      expect((await run(sandbox, 'echo', { value: 8 })).result.result).toBe(8);
    }
  });

  it('a worker wedged in native code is killed through it, at the wall', async () => {
    await using sandbox = await Sandbox.create({ files: HOLED, concurrency: 1, launcher });
    const start = performance.now();
    const { result } = await run(sandbox, 'wedge', {}, { wallMs: 200, memoryBytes: 1024 * 1024 * 1024 });
    expect(result.error).toMatchObject({ code: 'ERR_TIMEOUT', limit: 'wallMs' });
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('leaves no process behind when the sandbox is closed', async () => {
    const sandbox = await Sandbox.create({ files: HOLED, concurrency: 2, launcher });
    await vi.waitFor(() => expect(sandbox.load().idle).toBe(2), 10_000);
    expect(descendants().length).toBeGreaterThanOrEqual(4);
    const busy = sandbox.run(inputOf('spin', {}, defaultLimits('run')), handlers());
    await sandbox.close();
    expect((await busy).result.error?.code).toBe('ERR_CANCELLED');
    const end = performance.now() + 5_000;
    while (descendants().length > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(descendants()).toEqual([]);
  });

  it('leaves no process behind when launchers are killed while they set up', async () => {
    const before = launchers();
    for (let round = 0; round < 5; round++) {
      const sandbox = await Sandbox.create({ files: HOLED, concurrency: 6, launcher });
      const runs = Promise.allSettled(Array.from({ length: 6 }, () => run(sandbox, 'spin')));
      // The others are on their way then.
      expect(sandbox.load().workers).toBe(6);
      await sandbox.close();
      await runs;
    }
    const left = (): string[] => launchers().filter((pid) => !before.includes(pid));
    const end = performance.now() + 5_000;
    while (left().length > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(left()).toEqual([]);
  });

  it('18: no worker outlives a host that was killed', async () => {
    const bin = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
    const host = spawn(process.execPath, [bin, 'run', '-', '--launcher', launcher, '--fuel', '1000000000000'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    host.stdin?.end('command\n  while true\n    set n = 1\n  endwhile\nendcommand\n');
    const workers = (): number[] => (host.pid === undefined ? [] : descendants(host.pid));
    const end = performance.now() + 20_000;
    while (workers().length < 2 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = workers();
    expect(before.length).toBeGreaterThanOrEqual(2);
    host.kill('SIGKILL');
    const left = (): number[] => before.filter((pid) => existsSync(`/proc/${pid}`));
    while (left().length > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(left()).toEqual([]);
  });

  it('a runtime takes it, too', async () => {
    await using runtime = await createRuntime({ launcher, concurrency: 1 });
    expect((await runtime.run('command\n  emit 1 + 2\nendcommand\n')).emits).toEqual(['3']);
  });
});

it('finding 4: auto takes unshare where bubblewrap is missing, and says why', async () => {
  vi.doMock('../../src/sandbox/bubblewrap.ts', () => ({ findBubblewrap: () => 'bubblewrap is not installed' }));
  vi.resetModules();
  const fresh = await import('../../src/sandbox/index.ts');
  await using sandbox = await fresh.Sandbox.create({ files: HOLED, concurrency: 1 });
  expect(sandbox.launcher).toMatchObject({ cage: { name: 'unshare' }, reason: 'bubblewrap is not installed' });
  expect((await run(sandbox, 'echo', { value: 7 })).result.result).toBe(7);
});
