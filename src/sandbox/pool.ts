import { AsyncLocalStorage } from 'node:async_hooks';
import { BusyError, ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import { messageOf } from '../wire/unknown.ts';
import { type Job, JobQueue } from './jobqueue.ts';
import type { StartedWorker } from './launch.ts';
import type { Launcher } from './launcher.ts';
import { type PoolLoad, spentBy } from './load.ts';
import { startTrouble } from './starttrouble.ts';
import { WorkerProcess } from './worker.ts';
import { WorkerWatch } from './workerwatch.ts';

export interface PoolOptions {
  readonly concurrency: number;
  readonly maxWorkers: number;
  readonly queueLength: number;
  /**
   * Depths at which nested runs wait for a worker; deeper runs are refused. The pool reserves one worker for each of these depths, so
   * that runs cannot deadlock.
   */
  readonly levels: number;
  /** The launcher of the workers. */
  readonly launcher: Launcher;
  /** Starts a worker. Throws when the system cannot. */
  start(): StartedWorker;
}

/** The pool replaces a worker after this number of isolates. */
const MAX_ISOLATES = 2_000;
/** The pool replaces a worker after this number of runs, of which most have had kept isolates. */
const MAX_RUNS = 20_000;
/** The pool replaces a worker that has grown by this number of bytes since its start. New programs of 5,000 lines make one grow by 100 MB. */
const MAX_GROWTH = 128 * 1024 * 1024;
/** Waiting jobs fail after this number of failed starts in a row, unless a worker lives that can take them. */
const MAX_FAILED_STARTS = 3;
const RETRY_MS = 100;
/** The pool ends a worker beyond `concurrency` that has been idle for this time. */
const SPARE_MS = 5_000;
/** The pool starts the workers beyond the first after this time, or when jobs need them: on few cores they would slow down the first run. */
const ALONE_MS = 1_000;

/**
 * Runs a function outside of the caller's asynchronous context. A worker outlives the run for which it is started; it would keep
 * the values of the caller's `AsyncLocalStorage` alive and show them to later callbacks.
 */
const detached: <T>(action: () => T) => T = AsyncLocalStorage.snapshot();

/**
 * The workers, and the jobs that wait for one. At most `concurrency` jobs compute at a time. Jobs that wait for the host do not count;
 * the pool grows up to `maxWorkers` to let others run meanwhile. A job whose answer has come continues at once. The pool starts workers
 * ahead, replaces dead ones and renews large ones.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #starting = new Set<WorkerProcess>();
  /** The worker that has been idle longest comes first. */
  readonly #idle: WorkerProcess[] = [];
  /** The job of each busy worker, and its start. */
  readonly #busy = new Map<WorkerProcess, { readonly job: Job; readonly since: number }>();
  readonly #blocked = new Set<WorkerProcess>();
  readonly #toRenew = new Set<WorkerProcess>();
  readonly #queue: JobQueue;
  /** Waiting nested jobs. */
  readonly #inner: Job[] = [];
  /** Nested jobs whose own worker is being started. */
  #coming = 0;
  readonly #levels: number;
  #failedStarts = 0;
  #breaches = 0;
  /** The number of workers to keep alive. */
  #kept = 1;
  /** Starts the workers beyond the first. */
  #rest: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #spare: NodeJS.Timeout | undefined;
  readonly #watch = new WorkerWatch(this.#workers, this.#idle, (worker, what) => {
    worker.retire(what);
    if (this.#idle.includes(worker)) this.#forget(worker);
  });
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new JobQueue(options.maxWorkers);
    this.#levels = Math.min(options.levels, options.maxWorkers - 1);
  }

  /** Starts the first worker; resolves with it when it is ready. Throws {@link ConfigError} when it cannot be started. */
  async open(): Promise<WorkerProcess> {
    try {
      const first = await this.#spawn();
      this.#rest = detached(() => setTimeout(() => this.#grow(this.#options.concurrency), ALONE_MS).unref());
      return first;
    } catch (error) {
      await this.close();
      throw new ConfigError(startTrouble(error), { cause: error });
    }
  }

  /** Starts a job now or later. Throws {@link RuntimeClosedError} and, when the queue is full, {@link BusyError}. */
  submit(job: Job): void {
    if (this.#closed) throw new RuntimeClosedError();
    const nested = job.depth > 0;
    const worker = (nested ? this.#room(job.depth) > 0 : this.#isNext(job)) ? this.#takeIdle(job) : undefined;
    if (worker !== undefined) this.#begin(job, worker);
    else if (!nested) this.#enqueue(job);
    else if (job.depth <= this.#levels && (this.#room(job.depth) <= 0 || this.#isFull)) this.#inner.push(job);
    else this.#startOwn(job);
  }

  /** Whether a job that is not nested may begin at once. */
  #isNext(job: Job): boolean {
    const free = this.#room(0);
    const canCompute = free > 0 && this.#computing < this.#options.concurrency;
    return canCompute && this.#queue.mayBegin(job, free) && this.#queue.ready(free) === 0;
  }

  /** Its worker processes and jobs at this moment. */
  load(): PoolLoad {
    return {
      workers: this.#workers.size,
      idle: this.#idle.length,
      computing: this.#computing,
      waitingForHost: this.#blocked.size,
      queued: this.#queue.length + this.#inner.length,
      ...spentBy(this.#workers),
    };
  }

  /** Workers that violated the protocol. Each counts from then on, also while its process has not ended yet. */
  get breaches(): number {
    return this.#breaches;
  }

  /**
   * The number of jobs of a depth that may begin. It grows with the depth, so that a job never waits for a worker that its ancestors
   * hold.
   */
  #room(depth: number): number {
    return this.#options.maxWorkers - Math.max(0, this.#levels - depth) - this.#busy.size - this.#coming;
  }

  get #isFull(): boolean {
    return this.#workers.size >= this.#options.maxWorkers;
  }

  /** Removes a waiting job. */
  withdraw(job: Job): void {
    if (this.#queue.remove(job)) return;
    const at = this.#inner.indexOf(job);
    if (at >= 0) this.#inner.splice(at, 1);
  }

  /** A busy worker begins or ends waiting for the host. */
  block(worker: WorkerProcess, blocked: boolean): void {
    if (blocked) this.#blocked.add(worker);
    else this.#blocked.delete(worker);
    if (blocked) this.#serve();
  }

  /** Takes a worker back from a job. `reusable` is false when a hard breach may have left traces in its process. */
  release(worker: WorkerProcess, reusable: boolean): void {
    const ended = this.#busy.get(worker);
    this.#busy.delete(worker);
    this.#blocked.delete(worker);
    if (ended !== undefined && ended.job.depth === 0) this.#queue.onEnded(ended.job, performance.now() - ended.since);
    worker.runs++;
    if (worker.dead || this.#closed) return;
    if (!reusable || ended?.job.isolation === 'process') {
      this.#dismiss(worker);
      return;
    }
    if (mustBeRenewed(worker, worker.restRss)) this.#toRenew.add(worker);
    this.#settle(worker);
    // Deferred, because the caller waits for the result.
    setImmediate(() => this.#checkAtRest(worker));
  }

  /** Checks the wear of a worker that has ended a run and prepares its next isolate, unless it has begun its next run. */
  #checkAtRest(worker: WorkerProcess): void {
    if (worker.dead || !this.#idle.includes(worker)) return;
    if (mustBeRenewed(worker, worker.stats?.rssBytes() ?? null)) this.#toRenew.add(worker);
    worker.prepare();
    this.#renew();
  }

  /** Ends all workers and fails the waiting jobs. Resolves when every process is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of [this.#rest, this.#retry, this.#spare]) clearTimeout(timer);
    for (const job of [...this.#queue.drain(), ...this.#inner.splice(0)]) job.fail(new RuntimeClosedError());
    const all = [...this.#workers];
    for (const worker of all) worker.kill();
    await Promise.all(all.map(({ gone }) => gone));
  }

  get #computing(): number {
    return this.#busy.size - this.#blocked.size;
  }

  #enqueue(job: Job): void {
    const { queueLength } = this.#options;
    const room = this.#room(0);
    // A job that a starting worker will take does not count as waiting.
    const beginsSoon = Math.min(this.#options.concurrency - this.#computing, room) > this.#queue.ready(room);
    if (!beginsSoon || !this.#queue.mayBegin(job, room)) {
      const used = this.#queue.length - this.#startable;
      if (used >= queueLength)
        throw new BusyError(`${used} runs are waiting already, and ${queueLength} are allowed; try again later`, {
          limit: 'queueLength',
          allowed: queueLength,
          used,
        });
      this.#queue.checkPlaces(job, queueLength - used);
    }
    this.#queue.push(job);
    this.#grow();
  }

  /** Starts a worker for one job. */
  #startOwn(job: Job): void {
    if (this.#isFull)
      throw new BusyError(`what a tool runs or checks needs a worker of its own, and all ${this.#options.maxWorkers} are taken`, {
        limit: 'maxWorkers',
        allowed: this.#options.maxWorkers,
        used: this.#workers.size,
      });
    const fail = (error: unknown): void => job.fail(this.#closed ? new RuntimeClosedError() : new Error(messageOf(error)));
    try {
      const own = this.#create();
      this.#coming++;
      own.ready.finally(() => this.#coming--).then(() => (this.#closed ? fail(undefined) : this.#begin(job, own)), fail);
    } catch (error) {
      fail(error);
    }
  }

  /**
   * The idle worker that ran a job of this affinity last and has prepared its next isolate; its caches are still warm. If there is
   * none, the worker that has been idle longest, because jobs of other affinities are least likely to want it back.
   */
  #takeIdle({ affinity }: Job): WorkerProcess | undefined {
    const at = this.#idle.findLastIndex((worker) => worker.isReadyFor(affinity));
    return at < 0 ? this.#idle.shift() : this.#idle.splice(at, 1)[0];
  }

  #begin(job: Job, worker: WorkerProcess): void {
    if (job.isolation === 'process' && worker.runs > 0) {
      this.#workers.delete(worker);
      worker.kill();
      this.#startOwn(job);
      return;
    }
    if (job.depth === 0) this.#queue.onBegun(job);
    this.#busy.set(worker, { job, since: performance.now() });
    worker.affinity = job.affinity ?? worker.affinity;
    job.start(worker);
  }

  /** Gives waiting jobs to idle workers, as many as may compute, and starts workers for the rest. */
  #serve(): void {
    this.#serveInner();
    while (this.#idle.length > 0 && this.#computing < this.#options.concurrency && this.#room(0) > 0) {
      const job = this.#queue.take(this.#room(0));
      const worker = job === undefined ? undefined : this.#takeIdle(job);
      if (job === undefined || worker === undefined) break;
      this.#begin(job, worker);
    }
    this.#grow();
  }

  /** Starts waiting nested jobs, the deepest first, because the others wait for it. */
  #serveInner(): void {
    if (this.#inner.length === 0) return;
    this.#inner.sort((left, right) => right.depth - left.depth);
    for (const job of [...this.#inner]) {
      if (this.#closed || this.#room(job.depth) <= 0 || (this.#idle.length === 0 && this.#isFull)) continue;
      this.#inner.splice(this.#inner.indexOf(job), 1);
      const worker = this.#takeIdle(job);
      if (worker === undefined) this.#startOwn(job);
      else this.#begin(job, worker);
    }
  }

  /** Waiting jobs that lack only a worker: one that is idle, or one that can be started. */
  get #startable(): number {
    const free = Math.min(this.#options.concurrency - this.#computing, this.#room(0));
    return free <= 0 ? 0 : Math.min(free, this.#queue.ready(this.#room(0)));
  }

  /** Keeps this number of workers alive from now on, and starts one for each job that lacks only a worker. */
  #grow(kept = this.#kept): void {
    this.#kept = kept;
    if (this.#closed || this.#retry !== undefined) return;
    const missing = Math.max(this.#kept - this.#workers.size, this.#startable - this.#idle.length - this.#starting.size);
    for (let n = Math.min(missing, this.#options.maxWorkers - this.#workers.size); n > 0; n--) this.#spawn().catch(() => {});
  }

  /** Starts a worker for the next job. Rejects when the worker cannot be used; that is already handled. */
  async #spawn(): Promise<WorkerProcess> {
    try {
      const worker = this.#create();
      this.#starting.add(worker);
      await worker.ready;
      this.#failedStarts = 0;
      this.#starting.delete(worker);
      this.#settle(worker);
      return worker;
    } catch (error) {
      this.#startFailed(error);
      throw error;
    }
  }

  /** Throws when the system cannot start a process. */
  #create(): WorkerProcess {
    return detached(() => {
      const worker = new WorkerProcess(this.#options.start(), this.#options.launcher.demands);
      this.#workers.add(worker);
      this.#watch.start();
      void worker.violated.then(() => this.#breaches++);
      void worker.gone.then(() => this.#forget(worker));
      return worker;
    });
  }

  /** Gives a free worker the next job, or makes it idle. */
  #settle(worker: WorkerProcess): void {
    if (worker.dead || this.#closed) return;
    worker.rest();
    this.#idle.push(worker);
    // Renews before the next job starts, because under constant load such a worker is idle only now.
    this.#renew();
    this.#serve();
    this.#armSpare();
  }

  /** Ends an idle worker that must be renewed when another worker can take its place; else starts that worker. */
  #renew(): void {
    const old = this.#idle.find((worker) => this.#toRenew.has(worker));
    if (old === undefined) return;
    if (this.#idle.length > 1 || this.#workers.size >= this.#options.maxWorkers) this.#dismiss(old);
    else if (this.#starting.size === 0) this.#spawn().catch(() => {});
  }

  /** Ends a worker that is not busy. */
  #dismiss(worker: WorkerProcess): void {
    this.#forget(worker);
    worker.kill();
  }

  #forget(worker: WorkerProcess): void {
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#workers.delete(worker);
    this.#toRenew.delete(worker);
    if (this.#workers.size === 0) this.#watch.stop();
    // A worker that failed to start is replaced later, by `#startFailed`.
    if (!this.#starting.delete(worker)) this.#serve();
  }

  #startFailed(error: unknown): void {
    if (this.#closed) return;
    this.#failedStarts++;
    // A worker that lives takes the others when it is free. What a nested job waits for may wait for that job.
    const lives = this.#workers.size > this.#starting.size;
    if (this.#failedStarts >= MAX_FAILED_STARTS)
      for (const job of [...(lives ? [] : this.#queue.drain()), ...this.#inner.splice(0)]) job.fail(new Error(messageOf(error)));
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#grow();
    }, RETRY_MS * Math.min(this.#failedStarts, 50)).unref();
  }

  #armSpare(): void {
    if (this.#workers.size <= this.#options.concurrency || this.#spare !== undefined) return;
    const look = (): void => {
      this.#spare = undefined;
      const [oldest] = this.#idle;
      if (oldest !== undefined && this.#workers.size > this.#options.concurrency) this.#dismiss(oldest);
      this.#armSpare();
    };
    this.#spare = detached(() => setTimeout(look, SPARE_MS).unref());
  }
}

function mustBeRenewed({ runs, reused, baseRss }: WorkerProcess, rss: number | null): boolean {
  return runs - reused >= MAX_ISOLATES || runs >= MAX_RUNS || (rss !== null && baseRss !== null && rss > baseRss + MAX_GROWTH);
}
