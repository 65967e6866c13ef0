// @module-tag slow
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/entries/index.ts';
import { poolLimits } from '../../src/sandbox/limits.ts';
import { BusyError, ConfigError } from '../../src/wire/errors.ts';
import { neuroscript } from '../cli/spawn.ts';

describe('the limits of a pool', () => {
  it('have defaults that go with the machine, and bounds', () => {
    expect(poolLimits({}, 2)).toEqual({ concurrency: 2, maxWorkers: 16, queueLength: 1024 });
    expect(poolLimits({}, 64)).toEqual({ concurrency: 64, maxWorkers: 64, queueLength: 1024 });
    expect(poolLimits({ maxWorkers: 1 }, 8)).toEqual({ concurrency: 1, maxWorkers: 1, queueLength: 1024 });
    expect(poolLimits({ concurrency: 1024 }, 2)).toEqual({ concurrency: 1024, maxWorkers: 1024, queueLength: 1024 });
    expect(poolLimits({ concurrency: 20 }, 2)).toEqual({ concurrency: 20, maxWorkers: 20, queueLength: 1024 });
  });

  it.each([
    [{ concurrency: 0 }, 'concurrency must be at least 1, got 0'],
    [{ concurrency: 1025 }, 'concurrency must be at most 1024, got 1025'],
    [{ maxWorkers: 1.5 }, 'maxWorkers must be a whole number, got 1.5'],
    [{ queueLength: -1 }, 'queueLength must be at least 0, got -1'],
    [{ queueLength: Number.POSITIVE_INFINITY }, 'queueLength must be a number, got Infinity'],
    [{ maxWorkers: 2, concurrency: 3 }, 'maxWorkers (2) must be at least concurrency (3)'],
  ])('%j is refused with the reason, wherever it stands', async (options, reason) => {
    expect(() => poolLimits(options, 2)).toThrow(new ConfigError(reason));
    await expect(createRuntime(options)).rejects.toThrow(reason);
    await expect(createRuntime({ limits: options })).rejects.toThrow(reason);
  });

  it('among the limits of a runtime they hold as well, the lower of two counts, and nobody below may have them', async () => {
    await using runtime = await createRuntime({ concurrency: 1, queueLength: 5, limits: { queueLength: 0, fuel: 1e12 } });
    const busy = runtime.run('command\nwhile true\nset n = 1\nendwhile\nendcommand\n', { limits: { cpuMs: 100 } });
    await expect(runtime.run('command\nemit 1\nendcommand\n')).rejects.toThrow(BusyError);
    expect((await busy).error?.limit).toBe('cpuMs');
    expect('queueLength' in runtime.limits).toBe(false);
    const limits: object = { queueLength: 1 };
    const reason = 'limit queueLength is one of a whole runtime; set it where the runtime is made';
    await expect(runtime.run('', { limits })).rejects.toThrow(reason);
    expect(() => runtime.interpreter().fork({ limits })).toThrow(reason);
  });

  it('have flags', async () => {
    const run = (...flags: string[]) => neuroscript(['run', '-', ...flags], { stdin: 'command\n  emit 1\nendcommand\n' });
    expect(await run('--concurrency', '1', '--max-workers', '2', '--queue-length', '0')).toMatchObject({
      stdout: '1\n',
      code: 0,
    });
    expect(await run('--max-workers', '0')).toMatchObject({ stdout: '', code: 2 });
  });
});
