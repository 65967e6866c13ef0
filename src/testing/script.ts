import { type TurnInit, turnStorage } from '../context/index.ts';
import { createRuntime, type RunOptions, type Runtime, type RuntimeOptions } from '../runtime/index.ts';
import { ScriptRun } from './run.ts';
import { ALLOW_ALL } from './tools.ts';

/** How a script is run: as `Runtime.run` does it. */
export interface ScriptOptions extends Omit<RunOptions, 'turn'> {
  /** Session, turn, deadline, clock and values that its tools find in their turn context. */
  readonly turn?: TurnInit;
}

/**
 * Runs scripts in the real sandbox; its worker is ready when {@link create} resolves. Close it when done (`await using`).
 */
export class ScriptBench implements AsyncDisposable {
  /** For what the bench does not offer itself. */
  readonly runtime: Runtime;

  private constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /**
   * Options are those of `createRuntime`; without a policy every tool is allowed, everything granted, and tools that
   * require trust are admitted. One worker unless told otherwise. Rejects with `ConfigError` (`ERR_CONFIG`).
   */
  static async create(options: RuntimeOptions = {}): Promise<ScriptBench> {
    return new ScriptBench(await createRuntime({ policy: ALLOW_ALL, concurrency: 1, ...options }));
  }

  /**
   * Runs a script: a whole source, or statements alone, which become a command block. Resolves for everything that a script
   * or a limit does; rejects as `Runtime.run`.
   */
  async run(source: string, { turn = {}, ...options }: ScriptOptions = {}): Promise<ScriptRun> {
    using context = this.runtime.turn(turn);
    return new ScriptRun(await turnStorage.run(context, () => this.runtime.run(wholeSource(source), options)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.runtime.close();
  }
}

/** One script against tools, in a line: options of {@link ScriptBench.create} and of {@link ScriptBench.run}. */
export async function runScript(
  source: string,
  { run = {}, ...options }: RuntimeOptions & { readonly run?: ScriptOptions } = {},
): Promise<ScriptRun> {
  await using bench = await ScriptBench.create(options);
  return await bench.run(source, run);
}

/** A text whose first line that counts begins no block of a file is the inside of a command block. */
function wholeSource(source: string): string {
  const first = source.split('\n').find((line) => line.trim() !== '' && !/^\s*(?:#|--)/.test(line)) ?? '';
  if (first === '' || /^\s*(?:func|command|on\s+event|::)(?![A-Za-z0-9_])/.test(first)) return source;
  return `command\n${source}\nendcommand\n`;
}
