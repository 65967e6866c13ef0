import type { Runtime, RuntimeOptions } from '../runtime/index.ts';
import { ConfigError } from '../wire/errors.ts';

/** Options of {@link createThreadRuntime}: those of `createRuntime` that need no worker process. */
export type ThreadRuntimeOptions = Omit<RuntimeOptions, (typeof OF_PROCESSES)[number]>;

const OF_PROCESSES = ['launcher', 'isolation', 'files'] as const;

/**
 * Starts a runtime on Node without native code, where `isolated-vm` has no binary. Policy, journal, `ask`, contexts and the loop are those of
 * `createRuntime`, and so are output, errors and fuel. The workers are threads of this process: nothing but the interpreter separates a
 * program from the application, no launcher confines it, and `memoryBytes` counts the program's values alone. Give it no programs of
 * strangers where a hole in the interpreter would matter. Rejects as `createRuntime` does; a page has no Node, and uses {@link runInPage}.
 *
 * @example
 * ```ts
 * import { createThreadRuntime } from 'neuroscript-runtime/browser';
 *
 * await using runtime = await createThreadRuntime({ policy: { allow: [] } });
 * const { emits } = await runtime.run('command\n  emit 1 + 2\nendcommand');
 * ```
 */
export async function createThreadRuntime(options: ThreadRuntimeOptions = {}): Promise<Runtime> {
  const given = OF_PROCESSES.find((name) => Object.hasOwn(options, name));
  if (given !== undefined) throw new ConfigError(`${given}: the workers are threads of this process, which nothing confines`);
  // Pages load this module too, and these need Node.
  const { openRuntime } = await import('../runtime/index.ts');
  const { threadSandbox } = await import('../sandbox/index.ts');
  return await openRuntime(options, threadSandbox);
}
