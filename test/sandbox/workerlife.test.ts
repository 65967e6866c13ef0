// @module-tag slow
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { Ledger } from '../../src/sandbox/ledger.ts';
import { RuntimeClosedError } from '../../src/wire/errors.ts';
import { childrenOf, lives, sleep, until } from './children.ts';
import { closeSandboxes, HOLED, handlers, inputOf, never, OK, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

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
      const text = `command\n${'set a = 1 + 2\n'.repeat(70_000)}endcommand\n`;
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
    const text = `command\n${'set a = 1 + 2\n'.repeat(70_000)}endcommand\n`;
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

it('a run whose result the host cannot handle has an end', async () => {
  const sandbox = await sandboxOf();
  const broken = vi.spyOn(Ledger.prototype, 'usage').mockImplementation(() => {
    throw new Error('a bug of the host');
  });
  const { result } = await run(sandbox, 'nothing');
  broken.mockRestore();
  expect(result.error?.message).toContain('a bug of the host');
  expect((await run(sandbox, 'nothing')).result.ok).toBe(true);
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
