import { Sandbox, type SandboxOptions } from '../sandbox/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkSettings, Runtime, type RuntimeSettings } from './runtime.ts';

/** What a runtime is made of. */
export type RuntimeOptions = RuntimeSettings & Pick<SandboxOptions, 'concurrency' | 'maxWorkers' | 'queueLength'>;

const KEYS: readonly string[] = [
  'tools',
  'policy',
  'limits',
  'audit',
  'now',
  'concurrency',
  'maxWorkers',
  'queueLength',
] satisfies (keyof RuntimeOptions)[];

/**
 * Starts a runtime: its workers are ready when it resolves. Close it when done (`await using`, or `close()`). Rejects with
 * {@link ConfigError} (`ERR_CONFIG`) for options that cannot be used, before any process is started.
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  for (const key of Object.keys(options))
    if (!KEYS.includes(key)) throw new ConfigError(`unknown option '${key}' of the runtime; known are ${KEYS.join(', ')}`);
  const { concurrency, maxWorkers, queueLength, ...rest } = options;
  const settings = checkSettings(rest);
  const sandbox = await Sandbox.create({
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(maxWorkers === undefined ? {} : { maxWorkers }),
    ...(queueLength === undefined ? {} : { queueLength }),
    memoryBytes: settings.limits.memoryBytes,
  });
  return new Runtime(sandbox, settings);
}
