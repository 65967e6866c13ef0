import {
  type Launcher,
  type RuntimeLimitOptions,
  Sandbox,
  type SandboxOptions,
  splitLimits,
  type WorkerFiles,
} from '../sandbox/index.ts';
import { WARNINGS } from '../wire/codes.ts';
import { anything, checker, checkText, required } from '../wire/options.ts';
import { Runtime } from './runtime.ts';
import { checkSettings, RUNTIME_SETTINGS, type RuntimeSettings } from './settings.ts';

/** Options of a runtime. */
export type RuntimeOptions = Omit<RuntimeSettings, 'limits'> &
  Pick<SandboxOptions, 'concurrency' | 'maxWorkers' | 'queueLength' | 'launcher' | 'isolation' | 'files'> & {
    /**
     * Absent limits keep their defaults; forks and runs can only tighten them. Limits of the pool may be here or among the other options.
     */
    readonly limits?: RuntimeLimitOptions;
  };

/** Depths of `ask` with a reserved worker. It is the default for the deepest nesting of `askHandler`. */
const ASK_LEVELS = 4;

const checkRuntimeOptions = checker<RuntimeOptions>({
  ...RUNTIME_SETTINGS,
  concurrency: anything,
  maxWorkers: anything,
  queueLength: anything,
  launcher: anything,
  isolation: anything,
  files: checker<WorkerFiles>({ worker: required(checkText), guest: required(checkText) }),
});

/**
 * Starts a runtime: its first worker is ready when it resolves. Close it when done (`await using`, or `close()`). Rejects with
 * `ConfigError` (`ERR_CONFIG`) for options that cannot be used, before any process is started.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'neuroscript-runtime';
 *
 * await using runtime = await createRuntime({ limits: { wallMs: 2_000 } });
 * const { emits } = await runtime.run('command\n  emit 1 + 2\nendcommand');
 * ```
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return await openRuntime(options, async (sandboxOptions) => {
    const sandbox = await Sandbox.create(sandboxOptions);
    warnWithoutLauncher(sandbox.launcher);
    return sandbox;
  });
}

/** As {@link createRuntime}, in the sandbox that `open` opens: for tests, which need no processes. */
export async function openRuntime(
  options: RuntimeOptions,
  open: (options: SandboxOptions) => Promise<Sandbox>,
): Promise<Runtime> {
  checkRuntimeOptions('the options of the runtime', options);
  const { concurrency, maxWorkers, queueLength, launcher, isolation, files, limits = {}, ...rest } = options;
  const { run, pool } = splitLimits(limits, { concurrency, maxWorkers, queueLength });
  const settings = checkSettings({ ...rest, limits: run });
  const sandbox = await open({
    ...pool,
    launcher,
    isolation,
    files,
    // A nested loop needs a worker of its own while the worker of its caller waits.
    nesting: settings.ask === undefined ? 0 : ASK_LEVELS,
    memoryBytes: settings.limits.memoryBytes,
  });
  return new Runtime(sandbox, settings);
}

let warned = false;

/** Warns when the first runtime of a process has no launcher. */
function warnWithoutLauncher({ cage, reason }: Launcher): void {
  if (cage !== null || warned) return;
  warned = true;
  process.emitWarning(`no sandbox of the operating system confines the workers: ${reason}`, {
    code: WARNINGS.noLauncher,
    detail: "'neuroscript doctor' says what is missing. With the option launcher: 'required', createRuntime refuses to start.",
  });
}
