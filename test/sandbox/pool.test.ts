// @module-tag slow
import { afterAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { BusyError, ConfigError } from '../../src/wire/errors.ts';
import { childrenOf, until } from './children.ts';
import { closeSandboxes, HOLED, handlers, inputOf, OK, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

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
    const sandbox = await sandboxOf({ isolation: 'process' });
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
    await expect(Sandbox.create({ files: HOLED, isolation: isolation as 'run' })).rejects.toThrow(ConfigError);
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
