import { type TurnInit, turnStorage } from '../context/index.ts';
import { createRuntime, openRuntime, type RunOptions, type Runtime, type RuntimeOptions } from '../runtime/index.ts';
import { threadSandbox } from '../sandbox/index.ts';
import { ScriptRun } from './run.ts';
import { ALLOW_ALL } from './tools.ts';

/** Options of a script: those of `Runtime.run`, and a turn. */
export interface ScriptOptions extends Omit<RunOptions, 'turn'> {
  /** The turn context of the tools: session, turn, deadline, clock and values. */
  readonly turn?: TurnInit;
}

/** Options of a {@link ScriptBench}: those of `createRuntime`, and where scripts run. */
export interface ScriptBenchOptions extends RuntimeOptions {
  /**
   * True: scripts run in threads of this process, which start in a tenth of the time of worker processes. Results and fuel are the same.
   * Nothing but the interpreter keeps a script within its limits, so it is for scripts that you trust. `launcher`, `isolation` and `files`
   * have no effect then.
   */
  readonly threads?: boolean;
}

/**
 * Runs scripts in the real sandbox. The worker is ready when {@link create} resolves. Close the bench after use (`await using`).
 */
export class ScriptBench implements AsyncDisposable {
  /** The runtime of the bench, for functions that the bench lacks. */
  readonly runtime: Runtime;

  private constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /**
   * Without a policy, every tool and grant is allowed, also tools that require trust. `concurrency` is 1 if absent. Rejects with
   * `ConfigError` (`ERR_CONFIG`).
   */
  static async create({ threads = false, ...options }: ScriptBenchOptions = {}): Promise<ScriptBench> {
    const settings = { policy: ALLOW_ALL, concurrency: 1, ...options };
    return new ScriptBench(await (threads ? openRuntime(settings, threadSandbox) : createRuntime(settings)));
  }

  /**
   * Runs a script: a whole source, or statements, which become a command block. Resolves for every outcome of the script, also
   * a reached limit. Rejects as `Runtime.run` does.
   */
  async run(source: string, { turn = {}, ...options }: ScriptOptions = {}): Promise<ScriptRun> {
    using context = this.runtime.turn(turn);
    return new ScriptRun(await turnStorage.run(context, () => this.runtime.run(wholeSource(source), options)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.runtime.close();
  }
}

/**
 * Runs one script in a bench of its own. Takes the options of {@link ScriptBench.create}, and those of {@link ScriptBench.run} as `run`.
 */
export async function runScript(
  source: string,
  { run = {}, ...options }: ScriptBenchOptions & { readonly run?: ScriptOptions } = {},
): Promise<ScriptRun> {
  await using bench = await ScriptBench.create(options);
  return await bench.run(source, run);
}

/** Wraps statements into a command block, unless the first line of code opens a block. */
function wholeSource(source: string): string {
  const first = source.split('\n').find((line) => line.trim() !== '' && !/^\s*(?:#|--)/.test(line)) ?? '';
  if (first === '' || /^\s*(?:func|command|on\s+event|::)(?![A-Za-z0-9_])/.test(first)) return source;
  return `command\n${source}\nendcommand\n`;
}
