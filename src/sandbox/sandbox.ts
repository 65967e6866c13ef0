import { availableParallelism } from 'node:os';
import { cancelledError, workerError } from '../wire/errorinfo.ts';
import { ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import { defaultLimits } from '../wire/limits.ts';
import type { CheckEnvironment, CheckReport, FormatReport, RunInput, Source } from '../wire/protocol.ts';
import { kindOf } from './affinity.ts';
import { Execution } from './execution.ts';
import type { RunHandlers, SandboxResult } from './handlers.ts';
import { packageFiles, type WorkerFiles } from './launch.ts';
import { chooseLauncher, type Launcher, type LauncherChoice, withoutLauncher } from './launcher.ts';
import { type PoolLimitOptions, poolLimits } from './limits.ts';
import { messageOf, unstartedResult } from './outcome.ts';
import { type Isolation, type Job, Pool, type PoolOptions } from './pool.ts';
import { checkQuestion, formatQuestion, Inquiry, type ParseOutcome, parseQuestion, type Question } from './query.ts';
import { Watchdog } from './watchdog.ts';
import type { WorkerProcess } from './worker.ts';

/** How a sandbox is made. The limits of its pool are those of the table; `concurrency` is the number of cores when absent. */
export interface SandboxOptions extends PoolLimitOptions {
  /** The memory limit most runs will have, for which isolates are prepared; the default limit when absent. */
  readonly memoryBytes?: number;
  /** Whether the operating system cages the workers; `auto` when absent. */
  readonly launcher?: LauncherChoice;
  /** Whether a worker may serve one run after another; `worker` (it may) when absent. */
  readonly isolation?: Isolation;
  /** Depths at which nested runs wait for a worker in place of being refused, see `PoolOptions`; none when absent. */
  readonly nesting?: number;
  /** Other bundles than the package's own; tests put theirs here. */
  readonly files?: WorkerFiles;
}

/**
 * Runs programs in worker processes. What a program, a limit or a cancellation does comes back as a result; the methods reject
 * only with `ConfigError`, `RuntimeClosedError` and `BusyError`.
 */
export class Sandbox implements AsyncDisposable {
  /** How its workers were started. */
  readonly launcher: Launcher;
  readonly #pool: Pool;
  readonly #watchdog = new Watchdog();
  readonly #running = new Set<{ cancel(message: string): void }>();
  #nextId = 1;
  #outstanding = 0;
  readonly #keepAlive = setInterval(() => {}, 1 << 30).unref();
  #closing: Promise<void> | null = null;

  private constructor(pool: Pool, launcher: Launcher) {
    this.#pool = pool;
    this.launcher = launcher;
  }

  /** Starts the workers and returns when the first is ready. Throws {@link ConfigError}. */
  static async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const { concurrency, maxWorkers, queueLength } = poolLimits(options, availableParallelism());
    const isolation = options.isolation ?? 'worker';
    if (!ISOLATIONS.includes(isolation))
      throw new ConfigError(`isolation must be one of ${ISOLATIONS.join(', ')}, got '${String(isolation)}'`);
    const settings = {
      isolation,
      concurrency,
      maxWorkers,
      queueLength,
      levels: options.nesting ?? 0,
      memoryBytes: options.memoryBytes ?? defaultLimits('run').memoryBytes,
      files: options.files ?? packageFiles(),
    };
    const choice = options.launcher ?? 'auto';
    const launcher = chooseLauncher(choice);
    try {
      return await Sandbox.#open({ ...settings, launcher });
    } catch (error) {
      if (choice !== 'auto' || launcher.bubblewrap === null) throw error;
      // The first workers are the probe of the launcher. What goes wrong without it too is not its fault.
      const direct = withoutLauncher(messageOf(error));
      const sandbox = await Sandbox.#open({ ...settings, launcher: direct.launcher });
      direct.remember();
      return sandbox;
    }
  }

  static async #open(options: PoolOptions): Promise<Sandbox> {
    const pool = new Pool(options);
    const sandbox = new Sandbox(pool, options.launcher);
    await sandbox.#whileAwake(() => pool.open());
    return sandbox;
  }

  /** Runs a program in a fresh isolate. An abort of `signal` ends it wherever it stands: `ERR_CANCELLED`. */
  async run(input: RunInput, handlers: RunHandlers, signal?: AbortSignal): Promise<SandboxResult> {
    if (this.#closing !== null) throw new RuntimeClosedError();
    if (signal?.aborted) return unstartedResult(cancelledError(CANCELLED));
    return this.#whileAwake(() => this.#run(input, handlers, signal));
  }

  /**
   * Parses sources without running them; `depth` as in `RunHandlers`, 0 when no run waits for it. Besides the errors of the class this rejects with a `NeuroScriptError`
   * of code `ERR_TIMEOUT` or `ERR_WORKER` when a source brings the parser down.
   */
  async parse(sources: readonly Source[], sourceBytes: number, depth = 0): Promise<ParseOutcome> {
    return this.#inquire(parseQuestion(sources, sourceBytes), depth);
  }

  /** Looks for mistakes in sources that run together, and estimates what they cost. Rejects as {@link parse}. */
  async check(sources: readonly Source[], sourceBytes: number, environment: CheckEnvironment): Promise<CheckReport> {
    return this.#inquire(checkQuestion(sources, sourceBytes, environment));
  }

  /** Gives a source its canonical layout. Rejects as {@link parse}. */
  async format(source: Source, sourceBytes: number): Promise<FormatReport> {
    return this.#inquire(formatQuestion(source, sourceBytes));
  }

  /** Ends everything: waiting runs reject with `RuntimeClosedError`, running ones are cancelled. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing ??= this.#whileAwake(async () => {
      for (const running of this.#running) running.cancel('the runtime was closed');
      await this.#pool.close();
    });
    await this.#closing;
    clearInterval(this.#keepAlive);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #run(input: RunInput, handlers: RunHandlers, signal: AbortSignal | undefined): Promise<SandboxResult> {
    const { promise, resolve, reject } = Promise.withResolvers<SandboxResult>();
    // Not called any more once the job has started.
    const withdrawn = (): void => {
      this.#pool.withdraw(job);
      resolve(unstartedResult(cancelledError(CANCELLED)));
    };
    const job: Job = {
      depth: handlers.nested === true ? (handlers.depth ?? Number.POSITIVE_INFINITY) : 0,
      session: handlers.session ?? null,
      kind: kindOf(input),
      start: (worker) => {
        signal?.removeEventListener('abort', withdrawn);
        if (signal?.aborted) {
          this.#pool.release(worker, true);
          resolve(unstartedResult(cancelledError(CANCELLED)));
          return;
        }
        const execution = this.#execution(worker, input, handlers, signal, resolve);
        this.#begin(worker, execution, reject, () => execution.begin());
      },
      fail: (error) => {
        signal?.removeEventListener('abort', withdrawn);
        if (error instanceof RuntimeClosedError) reject(error);
        else resolve(unstartedResult(workerError(error.message)));
      },
    };
    // Before it may start at once: a signal may be that of a thousand runs, and none may leave anything behind there.
    signal?.addEventListener('abort', withdrawn, { once: true });
    try {
      this.#pool.submit(job);
    } catch (error) {
      signal?.removeEventListener('abort', withdrawn);
      throw error;
    }
    return promise;
  }

  #execution(
    worker: WorkerProcess,
    input: RunInput,
    handlers: RunHandlers,
    signal: AbortSignal | undefined,
    resolve: (result: SandboxResult) => void,
  ): Execution {
    const execution: Execution = new Execution({
      worker,
      id: this.#nextId++,
      input,
      handlers,
      signal,
      watchdog: this.#watchdog,
      owner: {
        onBlocked: (blocked) => this.#pool.block(worker, blocked),
        onEnd: (result) => {
          this.#running.delete(execution);
          this.#pool.release(worker, result.outputComplete);
          resolve(result);
        },
      },
    });
    return execution;
  }

  async #inquire<Answer>(question: Question<Answer>, depth = 0): Promise<Answer> {
    if (this.#closing !== null) throw new RuntimeClosedError();
    return this.#whileAwake(() => this.#ask(question, depth));
  }

  #ask<Answer>(question: Question<Answer>, depth: number): Promise<Answer> {
    const settle = Promise.withResolvers<Answer>();
    this.#pool.submit({
      depth,
      session: null,
      kind: null,
      start: (worker) => {
        const inquiry: Inquiry<Answer> = new Inquiry(worker, this.#nextId++, question, settle, () => {
          this.#running.delete(inquiry);
          this.#pool.release(worker, true);
        });
        this.#begin(worker, inquiry, settle.reject, () => inquiry.begin());
      },
      fail: (error) => settle.reject(error),
    });
    return settle.promise;
  }

  /** What cannot be sent to a worker is a mistake of the caller. */
  #begin(
    worker: WorkerProcess,
    task: { cancel(message: string): void },
    reject: (error: Error) => void,
    begin: () => void,
  ): void {
    this.#running.add(task);
    try {
      begin();
    } catch (error) {
      this.#running.delete(task);
      this.#pool.release(worker, true);
      reject(new ConfigError(`the input cannot be sent to a worker: ${messageOf(error)}`, { cause: error }));
    }
  }

  /** No worker keeps the host's event loop alive; work that somebody waits for does. */
  async #whileAwake<T>(work: () => Promise<T>): Promise<T> {
    this.#outstanding++;
    this.#keepAlive.ref();
    try {
      return await work();
    } finally {
      this.#outstanding--;
      if (this.#outstanding === 0) this.#keepAlive.unref();
    }
  }
}

const ISOLATIONS: readonly Isolation[] = ['worker', 'process-per-turn'];

const CANCELLED = 'the run was cancelled before it began';
