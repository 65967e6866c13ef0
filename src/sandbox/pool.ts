import { BusyError, ConfigError, RuntimeClosedError } from '../wire/errors.ts';
import type { RunKind } from './affinity.ts';
import { outside } from './detached.ts';
import { launch, type WorkerFiles } from './launch.ts';
import type { Launcher } from './launcher.ts';
import { messageOf } from './outcome.ts';
import { WorkerProcess } from './worker.ts';

/** Something that needs a worker for itself for a while. */
export interface Job {
  /** How many runs wait for it, each within the other, see `RunHandlers.nested`; 0 for one that nobody waits for. */
  readonly depth: number;
  /** Whose it is; jobs of one session do not hold up those of another. Null: nobody's in particular. */
  readonly session: string | null;
  /** What a worker has ready that has run such a job before; null where nothing is. */
  readonly kind: RunKind | null;
  /** Called with a free worker. Must call `pool.release(worker)` once it is done with it, dead or alive. */
  start(worker: WorkerProcess): void;
  /** No worker will come: the pool is closed, or none can be started. */
  fail(error: RuntimeClosedError | Error): void;
}

/** How runs share processes: one after another in the same worker, each in a fresh isolate, or each in a process of its own. */
export type Isolation = 'worker' | 'process-per-turn';

export interface PoolOptions {
  readonly isolation: Isolation;
  readonly concurrency: number;
  readonly maxWorkers: number;
  readonly queueLength: number;
  /**
   * Depths at which nested runs wait for a worker, where deeper ones are refused: that many workers are kept for them, one for each
   * depth, so that runs which wait for each other always end.
   */
  readonly levels: number;
  readonly files: WorkerFiles;
  readonly launcher: Launcher;
  /** The memory limit most runs will have, for which isolates are prepared. */
  readonly memoryBytes: number;
}

/** A worker is replaced after this many runs, whatever they did to it. */
const MAX_RUNS = 2_000;
/** The same when its process has grown by this much since it started. */
const MAX_GROWTH = 64 * 1024 * 1024;
/** Starts that may fail one after another before the jobs that wait are told. */
const MAX_FAILED_STARTS = 3;
const RETRY_MS = 100;
/** A worker beyond `concurrency`, made while others waited for the host, is given up after doing nothing for so long. */
const SPARE_MS = 5_000;

/**
 * The workers and the jobs that wait for one. At most `concurrency` jobs are begun at a time, not counting those that wait for
 * the host, for which the pool grows up to `maxWorkers`; an answer to a waiting job is never held back. Workers are started ahead,
 * replaced when they die, and renewed when worn. Sessions take turns; within one, first come, first served.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #starting = new Set<WorkerProcess>();
  /** The one that has been idle longest comes first. */
  readonly #idle: WorkerProcess[] = [];
  readonly #busy = new Set<WorkerProcess>();
  readonly #blocked = new Set<WorkerProcess>();
  readonly #worn = new Set<WorkerProcess>();
  readonly #queue: Job[] = [];
  /** Nested ones that wait. */
  readonly #inner: Job[] = [];
  /** Nested ones whose own worker is being started. */
  #coming = 0;
  readonly #levels: number;
  /** When each session got a worker last, while anybody waits. */
  readonly #served = new Map<string | null, number>();
  #serving = 0;
  #failedStarts = 0;
  #retry: NodeJS.Timeout | undefined;
  #spare: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#levels = Math.min(options.levels, options.maxWorkers - 1);
  }

  /** Starts the workers; resolves with the first that is ready. Throws {@link ConfigError} when none can be started. */
  async open(): Promise<void> {
    try {
      await Promise.any(Array.from({ length: this.#options.concurrency }, () => this.#spawn()));
    } catch (error) {
      await this.close();
      throw new ConfigError(error instanceof AggregateError ? messageOf(error.errors[0]) : messageOf(error), { cause: error });
    }
  }

  /** Begins a job now or later. Throws {@link RuntimeClosedError} and, when the queue is full, {@link BusyError}. */
  submit(job: Job): void {
    if (this.#closed) throw new RuntimeClosedError();
    const nested = job.depth > 0;
    const mayBegin = nested || (this.#queue.length === 0 && this.#computing < this.#options.concurrency);
    const worker = mayBegin && this.#room(job.depth) > 0 ? this.#takeIdle(job) : undefined;
    if (worker !== undefined) this.#begin(job, worker);
    else if (!nested) this.#enqueue(job);
    else if (job.depth <= this.#levels && (this.#room(job.depth) <= 0 || this.#isFull)) this.#inner.push(job);
    else this.#startOwn(job);
  }

  /** Jobs of a depth that may be begun: the deeper, the more, so that what waits for one never keeps it from its place. */
  #room(depth: number): number {
    return this.#options.maxWorkers - Math.max(0, this.#levels - depth) - this.#busy.size - this.#coming;
  }

  get #isFull(): boolean {
    return this.#workers.size >= this.#options.maxWorkers;
  }

  /** Takes back a job that waits. False when it does not wait any more. */
  withdraw(job: Job): boolean {
    for (const waiting of [this.#queue, this.#inner]) {
      const at = waiting.indexOf(job);
      if (at < 0) continue;
      waiting.splice(at, 1);
      return true;
    }
    return false;
  }

  /** A busy worker waits for the host, or goes on. */
  block(worker: WorkerProcess, blocked: boolean): void {
    if (blocked) this.#blocked.add(worker);
    else this.#blocked.delete(worker);
    if (blocked) this.#serve();
  }

  /** Takes a worker back from a job. `reusable` is false when its process may have kept something of a hard breach. */
  release(worker: WorkerProcess, reusable: boolean): void {
    this.#busy.delete(worker);
    this.#blocked.delete(worker);
    worker.runs++;
    if (worker.dead || this.#closed) return;
    if (!reusable || this.#options.isolation !== 'worker') {
      this.#dismiss(worker);
      return;
    }
    if (isWorn(worker, worker.restRss)) this.#worn.add(worker);
    this.#settle(worker);
    // Whoever waits for the result comes first.
    setImmediate(() => this.#refit(worker));
  }

  /** Looks after a worker that has run something, unless it runs the next by now: what that takes is no wear. */
  #refit(worker: WorkerProcess): void {
    if (worker.dead || !this.#idle.includes(worker)) return;
    if (isWorn(worker, worker.meter?.rssBytes() ?? null)) this.#worn.add(worker);
    worker.prepare();
    this.#renew();
  }

  /** Ends all workers; jobs that wait fail. Resolves when every process is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#spare);
    for (const job of [...this.#queue.splice(0), ...this.#inner.splice(0)]) job.fail(new RuntimeClosedError());
    const all = [...this.#workers];
    for (const worker of all) worker.kill();
    await Promise.all(all.map(({ gone }) => gone));
  }

  get #computing(): number {
    return this.#busy.size - this.#blocked.size;
  }

  #enqueue(job: Job): void {
    if (this.#queue.length >= this.#options.queueLength)
      throw new BusyError(`${this.#queue.length} runs are waiting already, ${this.#options.queueLength} may`);
    this.#queue.push(job);
    this.#grow();
  }

  /** Starts a worker for this job alone. */
  #startOwn(job: Job): void {
    if (this.#isFull)
      throw new BusyError(`a nested run needs a worker of its own, and all ${this.#options.maxWorkers} are taken`);
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
   * The worker that ran a job of this kind last, and has had the time to prepare its next isolate: its caches and its core are warm
   * still. Where there is none, the one that has been idle longest: nobody else's comes back to it soon.
   */
  #takeIdle({ kind }: Job): WorkerProcess | undefined {
    const at = this.#idle.findLastIndex((worker) => worker.isReadyFor(kind));
    return at < 0 ? this.#idle.shift() : this.#idle.splice(at, 1)[0];
  }

  /** The first job of the session that was not served for the longest time. */
  #takeNext(): Job | undefined {
    const lastOf = (job: Job | undefined): number => (job === undefined ? 0 : (this.#served.get(job.session) ?? 0));
    let best = 0;
    for (let at = 1; at < this.#queue.length; at++) if (lastOf(this.#queue[at]) < lastOf(this.#queue[best])) best = at;
    const [job] = this.#queue.splice(best, 1);
    return job;
  }

  #begin(job: Job, worker: WorkerProcess): void {
    this.#served.set(job.session, ++this.#serving);
    this.#busy.add(worker);
    worker.kind = job.kind ?? worker.kind;
    job.start(worker);
  }

  /** Gives waiting jobs to free workers, as many as may compute, and starts workers for the rest. */
  #serve(): void {
    this.#serveInner();
    if (this.#queue.length === 0) this.#served.clear();
    while (this.#queue.length > 0 && this.#computing < this.#options.concurrency && this.#room(0) > 0) {
      if (this.#idle.length === 0) break;
      const job = this.#takeNext();
      const worker = job === undefined ? undefined : this.#takeIdle(job);
      if (job !== undefined && worker !== undefined) this.#begin(job, worker);
    }
    this.#grow();
  }

  /** Begins nested jobs that wait, the deepest first: others wait for it. */
  #serveInner(): void {
    this.#inner.sort((left, right) => right.depth - left.depth);
    for (const job of [...this.#inner]) {
      if (this.#closed || this.#room(job.depth) <= 0 || (this.#idle.length === 0 && this.#isFull)) continue;
      this.#inner.splice(this.#inner.indexOf(job), 1);
      const worker = this.#takeIdle(job);
      if (worker === undefined) this.#startOwn(job);
      else this.#begin(job, worker);
    }
  }

  /** Keeps `concurrency` workers alive, and one on its way for each job that could be begun if it were there. */
  #grow(): void {
    if (this.#closed || this.#retry !== undefined) return;
    const { concurrency, maxWorkers } = this.#options;
    const startable = Math.min(this.#queue.length, concurrency - this.#computing, this.#room(0)) - this.#idle.length;
    const missing = Math.max(concurrency - this.#workers.size, startable - this.#starting.size);
    for (let n = Math.min(missing, maxWorkers - this.#workers.size); n > 0; n--) this.#spawn().catch(() => {});
  }

  /** Starts a worker for whoever comes next. Rejects when it cannot be used, which has been dealt with then. */
  async #spawn(): Promise<void> {
    try {
      const worker = this.#create();
      this.#starting.add(worker);
      await worker.ready;
      this.#failedStarts = 0;
      this.#starting.delete(worker);
      this.#settle(worker);
    } catch (error) {
      this.#startFailed(error);
      throw error;
    }
  }

  /** Throws when the system gives no process. */
  #create(): WorkerProcess {
    const { files, memoryBytes, launcher } = this.#options;
    return outside(() => {
      const worker = new WorkerProcess(launch(files, memoryBytes, launcher.bubblewrap));
      this.#workers.add(worker);
      void worker.gone.then(() => this.#forget(worker));
      return worker;
    });
  }

  /** A worker is free: it gets the next job or waits; a worn one goes as soon as another can take its place. */
  #settle(worker: WorkerProcess): void {
    if (worker.dead || this.#closed) return;
    worker.rest();
    this.#idle.push(worker);
    // First: where somebody always waits, a worn worker would be idle at no other time.
    this.#renew();
    this.#serve();
    this.#armSpare();
  }

  /** Lets worn workers go that are idle, each once there is another to take its place. */
  #renew(): void {
    const worn = this.#idle.find((worker) => this.#worn.has(worker));
    if (worn === undefined) return;
    if (this.#idle.length > 1 || this.#workers.size >= this.#options.maxWorkers) this.#dismiss(worn);
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
    this.#worn.delete(worker);
    // One that failed to start is replaced with a delay, by `#startFailed`.
    if (!this.#starting.delete(worker)) this.#serve();
  }

  #startFailed(error: unknown): void {
    if (this.#closed) return;
    this.#failedStarts++;
    if (this.#failedStarts >= MAX_FAILED_STARTS)
      for (const job of [...this.#queue.splice(0), ...this.#inner.splice(0)]) job.fail(new Error(messageOf(error)));
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
    this.#spare = outside(() => setTimeout(look, SPARE_MS).unref());
  }
}

function isWorn({ runs, baseRss }: WorkerProcess, rss: number | null): boolean {
  return runs >= MAX_RUNS || (rss !== null && baseRss !== null && rss > baseRss + MAX_GROWTH);
}
