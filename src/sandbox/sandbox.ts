import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Cancellation } from '../wire/cancellation.ts';
import { cancelledError, workerError } from '../wire/errorinfo.ts';
import { ConfigError, NeuroScriptError, RuntimeClosedError } from '../wire/errors.ts';
import { defaultLimits } from '../wire/limits.ts';
import type { ForeseeOptions, RunInput, Source } from '../wire/protocol.ts';
import type { CheckEnvironment, CheckReport, ForeseenReport, FormatReport } from '../wire/sourcereports.ts';
import { messageOf } from '../wire/unknown.ts';
import { affinityOf } from './affinity.ts';
import { findCgroups } from './cgroup.ts';
import { cacheRoleOf } from './codecache.ts';
import type { Confinement } from './confinement.ts';
import { Execution, type ExecutionInit, type RunHandlers } from './execution.ts';
import { ISOLATIONS, type Isolation } from './isolates.ts';
import { flowOf, type Job } from './jobqueue.ts';
import { checkFiles, launch, packageFiles, type WorkerFiles } from './launch.ts';
import { type Launcher, type LauncherChoice, withLauncher } from './launcher.ts';
import { type PoolLimitOptions, poolLimits } from './limits.ts';
import type { PoolLoad } from './load.ts';
import { Pool, type PoolOptions } from './pool.ts';
import { checkQuery, foreseeQuery, formatQuery, type ParseOutcome, parseQuery, type Query, QueryTask } from './query.ts';
import { type SandboxResult, unstartedResult } from './result.ts';
import { Watchdog } from './watchdog.ts';
import type { WorkerProcess } from './worker.ts';

/** The options of a sandbox. The limits of its pool have the defaults of the table of limits. */
export interface SandboxOptions extends PoolLimitOptions {
  /** The memory limit for which isolates are prepared: that of most runs. The default limit when absent. */
  readonly memoryBytes?: number;
  /** How the operating system confines the workers; `auto` when absent. */
  readonly launcher?: LauncherChoice | undefined;
  /** How runs share isolates and processes; `run` when absent. A tenant may have a choice of its own. */
  readonly isolation?: Isolation | undefined;
  /** Depths at which nested runs wait for a worker instead of being refused, see `PoolOptions`; 0 when absent. */
  readonly nesting?: number;
  /**
   * The files of the worker, for a host that bundles this package: copies of `dist/worker.js` and `dist/guest.js` of the same version of
   * this package.
   */
  readonly files?: WorkerFiles | undefined;
}

/**
 * Runs programs in worker processes. Everything that a program, a limit or a cancellation does is a result; the methods reject
 * only with `ConfigError`, `RuntimeClosedError` and `BusyError`.
 */
export class Sandbox implements AsyncDisposable {
  /** The launcher of its workers. */
  readonly launcher: Launcher;
  /** The restrictions that the workers lack, as the kernel reported them for the first worker. */
  readonly confinement: Confinement;
  readonly #pool: OpenPool['pool'];
  readonly #isolation: Isolation;
  readonly #watchdog = new Watchdog();
  readonly #running = new Set<{ cancel(message: string): void }>();
  /** The number of the next task. */
  #id = 1;
  #outstanding = 0;
  readonly #keepAlive = setInterval(() => {}, 1 << 30).unref();
  #draining: PromiseWithResolvers<void> | null = null;
  #closing: Promise<void> | null = null;

  /** Use {@link create}, which starts the first worker. */
  constructor({ pool, launcher, confinement }: OpenPool, isolation: Isolation = 'run') {
    this.#pool = pool;
    this.#isolation = isolation;
    this.launcher = launcher;
    this.confinement = confinement;
  }

  /** Starts the first worker and returns when it is ready. Throws {@link ConfigError}. */
  static async create(options: SandboxOptions = {}): Promise<Sandbox> {
    const isolation = checkIsolation(options.isolation);
    return new Sandbox(await openPool(options), isolation);
  }

  /** Its worker processes and runs at this moment. */
  load(): PoolLoad {
    return this.#pool.load();
  }

  /** Refuses new runs, except those that belong to a running one, and resolves when none is left. */
  async drain(): Promise<void> {
    this.#draining ??= Promise.withResolvers();
    if (this.#outstanding === 0) this.#draining.resolve();
    await this.#draining.promise;
  }

  /** Workers that the host killed because they broke the protocol, let a program exceed a limit, or acted without a task. */
  get boundaryBreaches(): number {
    return this.#pool.breaches;
  }

  /** Runs a program in an isolate that no other program uses meanwhile. Aborting `signal` ends it at any point with `ERR_CANCELLED`. */
  async run(input: RunInput, handlers: RunHandlers, signal?: Cancellation): Promise<SandboxResult> {
    if (this.#closing !== null || (this.#draining !== null && handlers.nested !== true)) throw new RuntimeClosedError();
    if (signal?.aborted) return unstartedResult(cancelledError(CANCELLED));
    using _awake = this.#stayAwake();
    const { promise, resolve, reject } = Promise.withResolvers<SandboxResult>();
    let begun: Execution | null = null;
    const submitted = performance.now();
    const onAbort = (): void => {
      if (begun !== null) {
        begun.cancel('the run was cancelled');
        return;
      }
      this.#pool.withdraw(job);
      end(unstartedResult(cancelledError(CANCELLED)));
    };
    let queueMs: number | null = null;
    const end = (result: SandboxResult): void => {
      const waited = queueMs ?? performance.now() - submitted;
      resolve({ ...result, usage: { ...result.usage, queueMs: Math.round(waited * 1000) / 1000 } });
    };
    /**
     * Begins a run again on another worker, because an earlier run spoiled its worker. `result` is the result if no worker is available.
     */
    const again = (result: SandboxResult): void => {
      begun = null;
      try {
        this.#pool.submit(job);
      } catch {
        end(result);
      }
    };
    const { tenant = null, session = null } = handlers;
    const isolation = tenant?.isolation ?? this.#isolation;
    // A measured run needs memory of its own for what it measures.
    const owner = isolation === 'tenant' && input.probe === undefined ? (tenant?.id ?? null) : undefined;
    const job: Job = {
      depth: handlers.nested === true ? (handlers.depth ?? Number.POSITIVE_INFINITY) : 0,
      flow: flowOf(tenant, session, input.sources.at(-1)?.text ?? ''),
      tenant,
      affinity: affinityOf(input, owner),
      isolation,
      start: (worker) => {
        const refusal = signal?.aborted ? cancelledError(CANCELLED) : handlers.refusal?.();
        if (refusal != null) {
          this.#pool.release(worker, true);
          end(unstartedResult(refusal));
          return;
        }
        const activity = worker.moved();
        if (activity !== null) {
          worker.retire(activity);
          this.#pool.release(worker, false);
          again(unstartedResult(workerError(`the worker is no longer used: ${activity}`)));
          return;
        }
        queueMs = performance.now() - submitted;
        const execution = this.#execution(worker, { input, handlers, isolate: owner }, end, again);
        begun = execution;
        this.#running.add(execution);
        try {
          execution.begin();
        } catch (error) {
          reject(this.#unsent(worker, execution, error));
        }
      },
      fail: (error) => {
        if (error instanceof RuntimeClosedError) reject(error);
        else end(unstartedResult(workerError(error.message)));
      },
    };
    // The listener is removed at the end of the run, because one signal may serve a thousand runs.
    signal?.addEventListener('abort', onAbort);
    try {
      this.#pool.submit(job);
      return await promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Parses sources without running them; `depth` is as in `RunHandlers`, 0 when no run waits for it. Rejects also with a
   * `NeuroScriptError` of code `ERR_TIMEOUT` or `ERR_WORKER` when a source makes the parser fail.
   */
  async parse(sources: readonly Source[], sourceBytes: number, depth = 0): Promise<ParseOutcome> {
    return this.#query(parseQuery(sources, sourceBytes), depth);
  }

  /** Finds mistakes in sources that run together, and estimates their fuel. `depth` and rejections are as in {@link parse}. */
  async check(sources: readonly Source[], sourceBytes: number, environment: CheckEnvironment, depth = 0): Promise<CheckReport> {
    return this.#query(checkQuery(sources, sourceBytes, environment), depth);
  }

  /** Foresees what sources that run together can do, without running them. `depth` and rejections are as in {@link parse}. */
  async foresee(sources: readonly Source[], sourceBytes: number, options: ForeseeOptions, depth = 0): Promise<ForeseenReport> {
    return this.#query(foreseeQuery(sources, sourceBytes, options), depth);
  }

  /** Formats a source. `depth` and rejections are as in {@link parse}. */
  async format(source: Source, sourceBytes: number, depth = 0): Promise<FormatReport> {
    return this.#query(formatQuery(source, sourceBytes), depth);
  }

  /** Rejects waiting runs with `RuntimeClosedError` and cancels running ones. Resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
    clearInterval(this.#keepAlive);
  }

  async #close(): Promise<void> {
    using _awake = this.#stayAwake();
    for (const running of this.#running) running.cancel('the runtime was closed');
    await this.#pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #execution(
    worker: WorkerProcess,
    run: Pick<ExecutionInit, 'input' | 'handlers' | 'isolate'>,
    end: (result: SandboxResult) => void,
    again: (result: SandboxResult) => void,
  ): Execution {
    const execution: Execution = new Execution({
      ...run,
      worker,
      id: this.#nextId(),
      watchdog: this.#watchdog,
      owner: {
        onBlocked: (blocked) => this.#pool.block(worker, blocked),
        onEnd: (result, spoiled) => {
          this.#running.delete(execution);
          // A worker that reports a defect is not used again: it has a defect, or it is compromised.
          this.#pool.release(worker, result.outputComplete && result.result.error?.kind !== 'internal');
          if (spoiled) again(result);
          else end(result);
        },
      },
    });
    return execution;
  }

  async #query<Answer>(query: Query<Answer>, depth = 0): Promise<Answer> {
    if (this.#closing !== null) throw new RuntimeClosedError();
    using _awake = this.#stayAwake();
    const settle = Promise.withResolvers<Answer>();
    const job: Job = {
      depth,
      flow: QUERIES,
      tenant: null,
      affinity: null,
      isolation: this.#isolation,
      start: (worker) => {
        const task: QueryTask<Answer> = new QueryTask(worker, this.#nextId(), query, settle, (spoiled) => {
          this.#running.delete(task);
          this.#pool.release(worker, true);
          if (spoiled === null) return;
          try {
            this.#pool.submit(job);
          } catch {
            settle.reject(spoiled);
          }
        });
        this.#running.add(task);
        try {
          task.begin();
        } catch (error) {
          settle.reject(this.#unsent(worker, task, error));
        }
      },
      fail: (error) =>
        settle.reject(error instanceof RuntimeClosedError ? error : new NeuroScriptError('ERR_WORKER', error.message)),
    };
    this.#pool.submit(job);
    return await settle.promise;
  }

  /** A random number for a task. A worker cannot guess the number of its next task, so a frame that it sends too early answers no task. */
  #nextId(): number {
    const id = this.#id;
    this.#id = randomInt(1, MAX_ID);
    return id;
  }

  /** Ends a task that could not be sent to its worker: its input is a mistake of the caller. */
  #unsent(worker: WorkerProcess, task: { cancel(message: string): void }, error: unknown): ConfigError {
    this.#running.delete(task);
    this.#pool.release(worker, true);
    return new ConfigError(`the input cannot be sent to a worker: ${messageOf(error)}`, { cause: error });
  }

  /** Keeps the event loop of the host alive until the result is disposed of; idle workers do not keep it alive. */
  #stayAwake(): Disposable {
    this.#outstanding++;
    this.#keepAlive.ref();
    return {
      [Symbol.dispose]: () => {
        this.#outstanding--;
        if (this.#outstanding > 0) return;
        this.#keepAlive.unref();
        this.#draining?.resolve();
      },
    };
  }
}

/** A pool whose first worker is ready, and what confines its workers. */
export interface OpenPool extends Pick<Sandbox, 'launcher' | 'confinement'> {
  readonly pool: Pick<Pool, 'submit' | 'withdraw' | 'block' | 'release' | 'load' | 'breaches' | 'close'>;
}

/** Starts the first worker process of a sandbox and returns when it is ready. Throws {@link ConfigError}. */
export async function openPool(options: SandboxOptions): Promise<OpenPool> {
  const settings = poolSettings(options);
  const files = options.files === undefined ? packageFiles() : checkFiles(options.files);
  const memoryBytes = options.memoryBytes ?? defaultLimits('run').memoryBytes;
  return await withLauncher(options.launcher ?? 'auto', (launcher) => {
    const found = findCgroups();
    const cgroups = typeof found === 'string' ? undefined : found;
    const start = () => ({ ...launch(files, memoryBytes, launcher.cage, cacheRoleOf(files)), cgroups });
    return openWith({ ...settings, launcher, start });
  });
}

/** The settings of a pool of any workers. Throws {@link ConfigError}. */
export function poolSettings(options: SandboxOptions): Omit<PoolOptions, 'launcher' | 'start'> {
  const limits = poolLimits(options, availableParallelism());
  return { ...limits, levels: options.nesting ?? 0 };
}

/** The isolation that an option chooses. Throws {@link ConfigError}. */
export function checkIsolation(isolation: unknown = 'run', what = 'isolation'): Isolation {
  const known = ISOLATIONS.find((each) => each === isolation);
  if (known === undefined) throw new ConfigError(`${what} must be one of ${ISOLATIONS.join(', ')}, got '${String(isolation)}'`);
  return known;
}

/** Starts the first worker of a pool and returns when it is ready. Throws {@link ConfigError}. */
export async function openWith(options: PoolOptions): Promise<OpenPool> {
  const pool = new Pool(options);
  // A worker that starts does not keep the event loop of the host alive.
  const awake = setInterval(() => {}, 1 << 30);
  try {
    const { confinement } = await pool.open();
    return { pool, launcher: options.launcher, confinement };
  } finally {
    clearInterval(awake);
  }
}

/** The largest range of `randomInt`. */
const MAX_ID = 2 ** 48 - 1;
/** The flow of all queries. */
const QUERIES = 'queries';

const CANCELLED = 'the run was cancelled before it began';
