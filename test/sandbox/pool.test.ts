import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type LimitOptions, Sandbox } from '../../src/sandbox/index.ts';
import { BusyError, ConfigError, RuntimeClosedError } from '../../src/wire/errors.ts';
import { closeSandboxes, HOLED, handlers, inputOf, never, OK, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Process ids of the children of a process; its threads may each have some. */
function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);
}

/** Waits for something that other processes bring about. */
async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 15_000;
  while (!condition() && performance.now() < end) await sleep(10);
  expect(condition()).toBe(true);
}

function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('options', () => {
  it.each([
    [{ concurrency: 0 }, 'concurrency'],
    [{ concurrency: 1.5 }, 'concurrency'],
    [{ concurrency: Number.NaN }, 'concurrency'],
    [{ concurrency: 4, maxWorkers: 2 }, 'maxWorkers'],
    [{ queueLength: -1 }, 'queueLength'],
  ])('%j is refused by name', async (options, name) => {
    await expect(Sandbox.create({ files: HOLED, ...options })).rejects.toThrow(ConfigError);
    await expect(Sandbox.create({ files: HOLED, ...options })).rejects.toThrow(name);
  });
});

describe('the queue', () => {
  it('is bounded: one more run is refused with BusyError, and room comes back', async () => {
    const sandbox = await sandboxOf({ queueLength: 2 });
    const hog = run(sandbox, 'loop', {}, { cpuMs: 100 });
    const waiting = [run(sandbox, 'nothing'), run(sandbox, 'nothing')];
    await expect(run(sandbox, 'nothing')).rejects.toThrow(BusyError);
    await Promise.all([hog, ...waiting]);
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    await sandbox.close();
  });

  it('does not count the runs that begin as soon as a worker has started: two at once and two that wait are four', async () => {
    // The pool is open when its first worker is ready.
    const sandbox = await sandboxOf({ concurrency: 2, maxWorkers: 2, queueLength: 2 });
    const runs = Array.from({ length: 5 }, () => run(sandbox, 'nothing'));
    const ends = await Promise.allSettled(runs);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    await sandbox.close();
  });

  it('lets at most `concurrency` runs compute at a time, first come, first served', async () => {
    const sandbox = await sandboxOf({ concurrency: 2 });
    let computing = 0;
    let most = 0;
    const order: number[] = [];
    const one = async (i: number): Promise<void> => {
      await sandbox.run(inputOf('loop', {}, { cpuMs: 60 }), {
        ...handlers(),
        onStarted: () => {
          order.push(i);
          most = Math.max(most, ++computing);
        },
      });
      computing--;
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => one(i)));
    expect(most).toBe(2);
    expect(order.slice(2).every((i) => i >= 2)).toBe(true);
    await sandbox.close();
  });
});

describe('the workers beyond the first', () => {
  it('start a second after the first, so that one run does not wait for their start', async () => {
    const sandbox = await sandboxOf({ concurrency: 3 });
    expect(sandbox.load().workers).toBe(1);
    await run(sandbox, 'nothing');
    expect(sandbox.load().workers).toBe(1);
    await until(() => sandbox.load().idle === 3);
    await sandbox.close();
  });

  it('start at once when runs need them', async () => {
    const sandbox = await sandboxOf({ concurrency: 2 });
    const runs = [run(sandbox, 'nothing'), run(sandbox, 'nothing')];
    expect(sandbox.load()).toMatchObject({ workers: 2, computing: 1, queued: 1 });
    for (const { result } of await Promise.all(runs)) expect(result.ok).toBe(true);
    await sandbox.close();
  });
});

describe('the worker for a run', () => {
  const wakings = (pid: number): number =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

  /** The one that woke up for a run, which has had the time to get ready for another. */
  async function workerOf(sandbox: Sandbox, limits: LimitOptions, workers: readonly number[]): Promise<number> {
    const before = workers.map(wakings);
    await run(sandbox, 'nothing', {}, limits);
    await sleep(50);
    const [one, ...others] = workers.filter((pid, index) => wakings(pid) > (before[index] ?? 0));
    expect(others).toEqual([]);
    return one ?? Number.NaN;
  }

  it('is the one that ran such a run last, and is ready for it', async () => {
    const before = childrenOf(process.pid);
    const sandbox = await sandboxOf({ concurrency: 2, launcher: 'none' });
    const workers = (): number[] => childrenOf(process.pid).filter((pid) => !before.includes(pid));
    await until(() => sandbox.load().idle === 2);
    await Promise.all([run(sandbox, 'loop', {}, { cpuMs: 50 }), run(sandbox, 'loop', {}, { cpuMs: 50 })]);
    await sleep(100);
    const [small, large] = [{ memoryBytes: 16 * 2 ** 20 }, { memoryBytes: 64 * 2 ** 20 }];
    const pids = workers();
    const ofSmall = await workerOf(sandbox, small, pids);
    const ofLarge = await workerOf(sandbox, large, pids);
    expect(new Set([ofSmall, ofLarge])).toEqual(new Set(pids));
    const again: number[] = [];
    for (const limits of [small, small, large, small, large, large]) again.push(await workerOf(sandbox, limits, pids));
    expect(again).toEqual([ofSmall, ofSmall, ofLarge, ofSmall, ofLarge, ofLarge]);
    await sandbox.close();
  });

  it('is another one when that has not made its next isolate yet', async () => {
    const before = childrenOf(process.pid);
    const sandbox = await sandboxOf({ concurrency: 2, launcher: 'none' });
    await until(() => sandbox.load().idle === 2);
    await Promise.all([run(sandbox, 'loop', {}, { cpuMs: 50 }), run(sandbox, 'loop', {}, { cpuMs: 50 })]);
    await sleep(100);
    const workers = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    const woken = workers.map(wakings);
    for (let n = 0; n < 2; n++) await run(sandbox, 'nothing');
    await sleep(50);
    expect(workers.filter((pid, index) => wakings(pid) > (woken[index] ?? 0))).toEqual(workers);
    await sandbox.close();
  });
});

describe('sessions', () => {
  it('take turns: one that has many runs waiting does not hold up another', async () => {
    const sandbox = await sandboxOf({ concurrency: 1 });
    const order: string[] = [];
    const one = (session: string | null, name: string): Promise<unknown> =>
      sandbox.run(inputOf('nothing'), { ...handlers(), session, onStarted: () => void order.push(name) });
    const hog = run(sandbox, 'loop', {}, { cpuMs: 50 });
    const a = [1, 2, 3, 4].map((n) => one('a', `a${n}`));
    const b = [1, 2].map((n) => one('b', `b${n}`));
    await Promise.all([hog, ...a, ...b, one(null, 'n1')]);
    expect(order).toHaveLength(7);
    expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a2'));
    expect(order.indexOf('b2')).toBeLessThan(order.indexOf('a3'));
    expect(order.indexOf('n1')).toBeLessThan(order.indexOf('a3'));
    expect(order.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4']);
    await sandbox.close();
  });
});

describe('a process for every run', () => {
  it('no worker serves two: what one run did to its process, the next cannot find', async () => {
    const sandbox = await sandboxOf({ isolation: 'process-per-turn' });
    const seen = new Set<string>();
    for (let i = 0; i < 3; i++) {
      expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
      await until(() => childrenOf(process.pid).length > 0);
      seen.add(childrenOf(process.pid).join());
      expect(sandbox.load().workers).toBe(1);
    }
    expect(seen.size).toBe(3);
    await sandbox.close();
  });

  it('what is no kind of isolation is refused', async () => {
    const isolation: string = 'none';
    await expect(Sandbox.create({ files: HOLED, isolation: isolation as 'worker' })).rejects.toThrow(ConfigError);
  });
});

describe('runs that wait for the host', () => {
  it('do not count as computing: the pool grows, up to maxWorkers, and slow tools starve nobody', async () => {
    const sandbox = await sandboxOf({ concurrency: 1, maxWorkers: 4 });
    let open = 0;
    let most = 0;
    const four = Promise.withResolvers<void>();
    // No call is answered before four are open at once.
    const slow = handlers(async () => {
      most = Math.max(most, ++open);
      if (open === 4) four.resolve();
      await four.promise;
      open--;
      return OK;
    });
    const results = await Promise.all(Array.from({ length: 8 }, () => sandbox.run(inputOf('call'), slow)));
    expect(results.every(({ result }) => result.ok)).toBe(true);
    expect(most).toBe(4);
    await sandbox.close();
  });

  it('a nested run never waits for the place its ancestor holds; when nothing is left it is refused', async () => {
    const sandbox = await sandboxOf({ concurrency: 1, maxWorkers: 3, queueLength: 10 });
    const depths: number[] = [];
    const nest = async (depth: number): Promise<string> => {
      depths.push(depth);
      const inner = handlers(async () => ({ t: 'ok', value: await nest(depth + 1) }));
      try {
        const { result } = await sandbox.run(inputOf('call'), { ...inner, nested: depth > 0 });
        return JSON.stringify(result.result);
      } catch (error) {
        return error instanceof BusyError ? 'busy' : 'wrong';
      }
    };
    expect(await nest(0)).toContain('busy');
    expect(depths).toEqual([0, 1, 2, 3]);
    await sandbox.close();
  });
});

it('nested runs wait for the workers that are kept for them, so that many that nest at once all end', async () => {
  const sandbox = await sandboxOf({ concurrency: 1, maxWorkers: 4, nesting: 2 });
  const nest = async (depth: number): Promise<boolean> => {
    const inner = handlers(async () => ({ t: 'ok', value: depth === 2 || (await nest(depth + 1)) }));
    return (await sandbox.run(inputOf('call'), { ...inner, nested: depth > 0, depth })).result.ok;
  };
  expect(await Promise.all(Array.from({ length: 12 }, () => nest(0)))).toEqual(Array(12).fill(true));
  await sandbox.close();
});

it('a nested run that waits can be cancelled, and ends with the sandbox', async () => {
  const sandbox = await sandboxOf({ concurrency: 1, maxWorkers: 2, nesting: 1 });
  const inside = Promise.withResolvers<void>();
  const never = handlers(() => {
    inside.resolve();
    return new Promise(() => {});
  });
  const hog = sandbox.run(inputOf('call'), { ...never, nested: true, depth: 1 });
  await inside.promise;
  const second = sandbox.run(inputOf('call'), { ...never, nested: true, depth: 1 });
  const given = new AbortController();
  const waits = sandbox.run(inputOf('nothing'), { ...handlers(), nested: true, depth: 1 }, given.signal);
  const lost = sandbox.run(inputOf('nothing'), { ...handlers(), nested: true, depth: 1 });
  given.abort();
  expect((await waits).result.error?.code).toBe('ERR_CANCELLED');
  expect(sandbox.load().queued).toBe(1);
  const closing = sandbox.close();
  await expect(lost).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  await Promise.allSettled([hog, second, closing]);
});

it('a nested run that waits gets a worker of its own when another one has died', async () => {
  const sandbox = await sandboxOf({ concurrency: 1, maxWorkers: 2, nesting: 1 });
  const nested = { nested: true, depth: 1 };
  const inside = Promise.withResolvers<void>();
  const hold = handlers(() => {
    inside.resolve();
    return new Promise(() => {});
  });
  const holds = sandbox.run(inputOf('call'), { ...hold, ...nested });
  await inside.promise;
  const before = childrenOf(process.pid);
  const started = Promise.withResolvers<void>();
  const dies = sandbox.run(inputOf('loop'), { ...handlers(), ...nested, onStarted: started.resolve });
  await started.promise;
  const waits = sandbox.run(inputOf('nothing'), { ...handlers(), ...nested });
  for (const pid of childrenOf(process.pid)) if (!before.includes(pid)) process.kill(pid, 'SIGKILL');
  expect((await dies).result.error?.code).toBe('ERR_WORKER');
  expect((await waits).result.ok).toBe(true);
  // It did not wait for the other one.
  expect(sandbox.load().waitingForHost).toBe(1);
  await Promise.all([sandbox.close(), holds]);
});

it('a nested run takes an idle worker at once, however many others compute', async () => {
  const sandbox = await sandboxOf({ concurrency: 1, maxWorkers: 2 });
  const nested = handlers(async () => {
    await sandbox.run(inputOf('nothing'), { ...handlers(), nested: true });
    return OK;
  });
  expect((await sandbox.run(inputOf('call'), nested)).result.ok).toBe(true);
  const started = Promise.withResolvers<void>();
  const hog = sandbox.run(inputOf('loop', {}, { cpuMs: 300 }), { ...handlers(), onStarted: started.resolve });
  await started.promise;
  const inner = await sandbox.run(inputOf('nothing'), { ...handlers(), nested: true });
  expect(inner.result.ok).toBe(true);
  expect((await hog).result.error?.code).toBe('ERR_QUOTA');
  await sandbox.close();
});

describe('a pool of workers', () => {
  it('replaces a worker that died while idle', async () => {
    const sandbox = await sandboxOf();
    const [worker = 0] = childrenOf(process.pid);
    process.kill(worker, 'SIGKILL');
    await until(() => childrenOf(process.pid).some((pid) => pid !== worker));
    expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    await sandbox.close();
  });

  it.each([1, 16])(
    'lets a worker go whose process has grown, once another can take its place (maxWorkers %i)',
    async (maxWorkers) => {
      const sandbox = await sandboxOf({ maxWorkers });
      const [first] = childrenOf(process.pid);
      const text = `command\n${'set a = 1 + 2\n'.repeat(40_000)}endcommand\n`;
      const { result } = await sandbox.run({ ...inputOf('nothing'), sources: [{ name: 'a', text }] }, handlers());
      expect(result.ok).toBe(true);
      expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
      await until(() => childrenOf(process.pid).length === 1 && childrenOf(process.pid)[0] !== first);
      expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
      await sandbox.close();
    },
  );

  it('lets it go also where the next run always waits already', async () => {
    const sandbox = await sandboxOf();
    const [first] = childrenOf(process.pid);
    const text = `command\n${'set a = 1 + 2\n'.repeat(40_000)}endcommand\n`;
    const grows = sandbox.run({ ...inputOf('nothing'), sources: [{ name: 'a', text }] }, handlers());
    const end = performance.now() + 15_000;
    let there = true;
    const busy = async (): Promise<void> => {
      while (there && performance.now() < end) {
        // Long enough for its memory to be read at its start.
        expect((await run(sandbox, 'loop', {}, { cpuMs: 20 })).result.error?.limit).toBe('cpuMs');
        there = childrenOf(process.pid).some((pid) => pid === first);
      }
    };
    await Promise.all([grows, busy(), busy(), busy()]);
    expect(there).toBe(false);
    await sandbox.close();
  });

  it('ends the workers beyond `concurrency` one by one once they have been idle for five seconds', async () => {
    const sandbox = await sandboxOf({ maxWorkers: 3 });
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const three = Promise.withResolvers<void>();
    const slow = handlers(async () => {
      if (sandbox.load().waitingForHost === 3) three.resolve();
      await three.promise;
      return OK;
    });
    await Promise.all([1, 2, 3].map(() => sandbox.run(inputOf('call'), slow)));
    await until(() => sandbox.load().idle === 3);
    for (const left of [2, 1]) {
      const [look, ms] = timers.mock.calls.findLast(([, delay]) => delay === 5000) ?? [];
      expect(ms).toBe(5000);
      look?.();
      expect(sandbox.load().workers).toBe(left);
    }
    expect(timers.mock.calls.filter(([, delay]) => delay === 5000)).toHaveLength(2);
    timers.mockRestore();
    await sandbox.close();
  });

  it('fails the runs that wait once three workers in a row have not started', async () => {
    const files = rogue({});
    const sandbox = await sandboxOf({ files });
    writeFileSync(files.guest, JSON.stringify({ hello: false, before: [{ stderr: 'no native module' }, { exit: 70 }] }));
    for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL');
    await until(() => sandbox.load().workers === 0);
    const { error } = (await run(sandbox, 'nothing')).result;
    expect([error?.code, error?.message]).toEqual(['ERR_WORKER', expect.stringContaining('no native module')]);
    await sandbox.close();
  });

  it('tells the runs that wait when no worker can be started any more', async () => {
    const sandbox = await sandboxOf({ files: rogue({ run: [{ exit: 1 }] }) });
    const results = await Promise.all([run(sandbox, 'nothing'), run(sandbox, 'nothing'), run(sandbox, 'nothing')]);
    expect(results.map(({ result }) => result.error?.code)).toEqual(['ERR_WORKER', 'ERR_WORKER', 'ERR_WORKER']);
    await sandbox.close();
  });
});

it('a sandbox that drains refuses new runs, and says when those that run and what belongs to them have ended', async () => {
  const sandbox = await sandboxOf();
  const [inside, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = handlers(async () => {
    inside.resolve();
    await go.promise;
    expect((await sandbox.run(inputOf('nothing'), { ...handlers(), nested: true })).result.ok).toBe(true);
    return OK;
  });
  const first = sandbox.run(inputOf('call'), held);
  await inside.promise;
  const drained = sandbox.drain();
  await expect(run(sandbox, 'nothing')).rejects.toThrow(RuntimeClosedError);
  go.resolve();
  expect((await first).result.ok).toBe(true);
  await drained;
  await sandbox.close();
});

describe('close', () => {
  it('ends every child; running runs are cancelled, later ones reject', async () => {
    const sandbox = await sandboxOf({ concurrency: 2 });
    const mine = childrenOf(process.pid);
    const called = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const answer: typeof never = (call, io) => {
      called.resolve();
      return never(call, io);
    };
    const inCall = sandbox.run(inputOf('call'), handlers(answer));
    const computing = sandbox.run(inputOf('loop'), { ...handlers(), onStarted: started.resolve });
    await Promise.all([called.promise, started.promise]);
    await sandbox.close();
    expect((await inCall).result.error?.code).toBe('ERR_CANCELLED');
    expect((await computing).result.error?.code).toBe('ERR_CANCELLED');
    expect(mine.filter(lives)).toEqual([]);
    await expect(run(sandbox, 'nothing')).rejects.toThrow(RuntimeClosedError);
    await expect(sandbox.parse([], 1)).rejects.toThrow(RuntimeClosedError);
    await sandbox.close();
  });

  it('a run that waits for a worker rejects with RuntimeClosedError', async () => {
    const sandbox = await sandboxOf();
    const hog = run(sandbox, 'loop');
    const waiting = run(sandbox, 'nothing');
    await sleep(20);
    const closed = sandbox.close();
    await expect(waiting).rejects.toThrow(RuntimeClosedError);
    expect((await hog).result.error?.code).toBe('ERR_CANCELLED');
    await closed;
  });

  it('`await using` closes', async () => {
    const before = childrenOf(process.pid).length;
    {
      await using sandbox = await Sandbox.create({ concurrency: 1, files: HOLED });
      expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
    }
    expect(childrenOf(process.pid)).toHaveLength(before);
  });
});

/** Runs a little program that uses a sandbox; returns what it printed, its exit code, and the worker it told of. */
async function hosted(
  body: string,
  after?: (pid: number, worker: number) => void,
): Promise<{ out: string; code: number | null }> {
  const file = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));
  const text = `
    import { readFileSync } from 'node:fs';
    import { Sandbox } from ${file('sandbox/index.ts')};
    import { defaultLimits } from ${file('wire/limits.ts')};
    const sandbox = await Sandbox.create({ concurrency: 1, files: ${JSON.stringify(HOLED)} });
    const worker = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim();
    const input = (deed) => ({ sources: [], globals: { do: deed }, call: null, events: [], limits: { ...defaultLimits('run'), cpuMs: 60_000, wallMs: 60_000 }, forkId: 'f', turn: false, stdin: false });
    const handlers = { onOut() {}, onCall: () => new Promise(() => {}) };
    console.log(worker);
    ${body}`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module-typescript', '-e', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    out += data;
    if (out.includes('\n') && after !== undefined) {
      after(child.pid ?? 0, Number(out.split('\n')[0]));
      after = undefined;
    }
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { out, code };
}

describe('a host process', () => {
  it('ends by itself with an idle pool it forgot to close, and its workers with it', async () => {
    const { out, code } = await hosted("const r = await sandbox.run(input('nothing'), handlers); console.log(r.result.ok);");
    expect(code).toBe(0);
    expect(out).toContain('true');
    await until(() => !lives(Number(out.split('\n')[0])));
  });

  it('is kept alive by a run that somebody waits for', async () => {
    const body = `
      const waiting = sandbox.run({ ...input('call'), limits: { ...defaultLimits('run'), wallMs: 150 } }, handlers);
      console.log((await waiting).result.error.code);`;
    expect((await hosted(body)).out).toContain('ERR_TIMEOUT');
  });

  // The limits of these runs are far away, so that it is not they that end the worker.
  it.each(['nothing', 'loop', 'call'])('that is killed leaves no worker behind (%s)', async (deed) => {
    let worker = 0;
    await hosted(`await sandbox.run(input('${deed}'), handlers); setInterval(() => {}, 1000);`, (pid, child) => {
      worker = child;
      setTimeout(() => process.kill(pid, 'SIGKILL'), 100);
    });
    expect(worker).toBeGreaterThan(0);
    await until(() => !lives(worker));
  });

  it('that exits takes a wedged worker with it', async () => {
    const { out } = await hosted("void sandbox.run(input('wedge'), handlers); setTimeout(() => process.exit(0), 100);");
    await until(() => !lives(Number(out.split('\n')[0])));
  });
});
