import { type RuntimeLimitOptions, Sandbox, type SandboxOptions, splitLimits } from '../sandbox/index.ts';
import { checkOptions, type KeysOf } from '../wire/options.ts';
import { checkSettings, Runtime, type RuntimeSettings } from './runtime.ts';

/** What a runtime is made of. */
export type RuntimeOptions = Omit<RuntimeSettings, 'limits'> &
  Pick<SandboxOptions, 'concurrency' | 'maxWorkers' | 'queueLength' | 'launcher' | 'isolation'> & {
    /** What is absent keeps its default; forks and runs can only tighten. Those of the pool may stand here or beside. */
    readonly limits?: RuntimeLimitOptions;
  };

/** Depths of `ask` for which a worker is kept: the most that `askHandler` nests by default. */
const ASK_LEVELS = 4;

const KEYS: KeysOf<RuntimeOptions> = {
  tools: true,
  policy: true,
  limits: true,
  audit: true,
  ask: true,
  now: true,
  sandboxRoot: true,
  concurrency: true,
  maxWorkers: true,
  queueLength: true,
  launcher: true,
  isolation: true,
};

/**
 * Starts a runtime: its workers are ready when it resolves. Close it when done (`await using`, or `close()`). Rejects with
 * `ConfigError` (`ERR_CONFIG`) for options that cannot be used, before any process is started.
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkOptions('the options of the runtime', options, KEYS);
  const { concurrency, maxWorkers, queueLength, launcher, isolation, limits = {}, ...rest } = options;
  const { run, pool } = splitLimits(limits, { concurrency, maxWorkers, queueLength });
  const settings = checkSettings({ ...rest, limits: run });
  const sandbox = await Sandbox.create({
    ...pool,
    ...(launcher === undefined ? {} : { launcher }),
    ...(isolation === undefined ? {} : { isolation }),
    // Loops within loops need workers while those of their callers stand still.
    nesting: settings.ask === undefined ? 0 : ASK_LEVELS,
    memoryBytes: settings.limits.memoryBytes,
  });
  return new Runtime(sandbox, settings);
}
