import type { Job } from '../src/sandbox/jobqueue.ts';
import { type OpenPool, Sandbox, type SandboxOptions } from '../src/sandbox/sandbox.ts';
import { openThreads, threadSandbox } from '../src/sandbox/threads.ts';
import type { WorkerProcess } from '../src/sandbox/worker.ts';
import { RuntimeClosedError } from '../src/wire/errors.ts';

// Tests whose subject is not a worker process have threads in the place of processes, and most of them borrow the threads of earlier ones,
// as the runs of one runtime share workers. Everything else is real: the runtime, the queue, the frames, and the worker's server.

/** Most pools that a test process keeps. A test file uses few combinations of options. */
const MOST_POOLS = 4;

type SharedPool = OpenPool['pool'];

const create = Sandbox.create;
/** The pools by their options; the one that was used last stands last. */
const pools = new Map<string, { readonly open: Promise<OpenPool>; users: number }>();

/** What the runtimes of the following tests in this process have as workers: processes, threads, or threads that they share. */
export function workersAre(kind: 'processes' | 'threads' | 'shared'): void {
  Sandbox.create = kind === 'processes' ? create : (options = {}) => (kind === 'threads' ? own(options) : borrow(options));
}

/** A worker of other files, one that serves a single run, and one behind a launcher is a process. */
function needsProcess({ files, isolation, launcher }: SandboxOptions): boolean {
  return files !== undefined || isolation === 'process' || launcher !== undefined;
}

async function own(options: SandboxOptions): Promise<Sandbox> {
  return needsProcess(options) ? create.call(Sandbox, options) : threadSandbox(options);
}

async function borrow(options: SandboxOptions): Promise<Sandbox> {
  if (needsProcess(options)) return create.call(Sandbox, options);
  const { concurrency, maxWorkers, queueLength, nesting, isolation } = options;
  const key = [concurrency, maxWorkers, queueLength, nesting].map(String).join(' ');
  const pool = pools.get(key) ?? { open: openThreads(options), users: 0 };
  pools.delete(key);
  pools.set(key, pool);
  pool.users++;
  try {
    const open = await pool.open;
    await closeIdle();
    return new Sandbox({ ...open, pool: new BorrowedPool(open.pool, () => pool.users--) }, isolation);
  } catch (error) {
    pools.delete(key);
    throw error;
  }
}

/** Closes the pools that nobody uses, beyond the number that is kept. */
async function closeIdle(): Promise<void> {
  for (const [key, { open, users }] of pools) {
    if (pools.size <= MOST_POOLS) return;
    if (users > 0) continue;
    pools.delete(key);
    await (await open).pool.close();
  }
}

/** The jobs of one sandbox in a pool that outlives it. */
class BorrowedPool implements SharedPool {
  readonly #pool: SharedPool;
  readonly #onClosed: () => void;
  readonly #breachesBefore: number;
  /** The waiting jobs, as the sandbox and as the pool know them. */
  readonly #waiting = new Map<Job, Job>();
  readonly #held = new Set<WorkerProcess>();
  #closing: PromiseWithResolvers<void> | null = null;

  constructor(pool: SharedPool, onClosed: () => void) {
    this.#pool = pool;
    this.#onClosed = onClosed;
    this.#breachesBefore = pool.breaches;
  }

  submit(job: Job): void {
    if (this.#closing !== null) throw new RuntimeClosedError();
    const inPool: Job = {
      ...job,
      start: (worker) => {
        this.#waiting.delete(job);
        this.#held.add(worker);
        job.start(worker);
      },
      fail: (error) => {
        this.#waiting.delete(job);
        job.fail(error);
      },
    };
    this.#waiting.set(job, inPool);
    try {
      this.#pool.submit(inPool);
    } catch (error) {
      this.#waiting.delete(job);
      throw error;
    }
  }

  withdraw(job: Job): void {
    const inPool = this.#waiting.get(job);
    if (inPool !== undefined) this.#pool.withdraw(inPool);
    this.#waiting.delete(job);
  }

  block(worker: WorkerProcess, blocked: boolean): void {
    this.#pool.block(worker, blocked);
  }

  release(worker: WorkerProcess, reusable: boolean): void {
    this.#held.delete(worker);
    this.#pool.release(worker, reusable);
    if (this.#held.size === 0) this.#closing?.resolve();
  }

  load(): ReturnType<SharedPool['load']> {
    return this.#pool.load();
  }

  get breaches(): number {
    return this.#pool.breaches - this.#breachesBefore;
  }

  /** Fails the waiting jobs and resolves when the running ones have ended; the sandbox has cancelled them. */
  async close(): Promise<void> {
    this.#closing = Promise.withResolvers();
    for (const job of [...this.#waiting.keys()]) {
      this.withdraw(job);
      job.fail(new RuntimeClosedError());
    }
    if (this.#held.size === 0) this.#closing.resolve();
    await this.#closing.promise;
    this.#onClosed();
  }
}
