import type { RuntimeClosedError } from '../wire/errors.ts';
import type { Affinity } from './affinity.ts';
import type { WorkerProcess } from './worker.ts';

/** A task that needs a worker of its own until it ends. */
export interface Job {
  /** The number of runs that wait for it, each within the other, see `RunHandlers.depth`; 0 when no run waits for it. */
  readonly depth: number;
  /** Its session; jobs of one session do not hold up those of another. Null: no session. */
  readonly session: string | null;
  /** Tells which worker starts it soonest; null when every worker is as good. */
  readonly affinity: Affinity | null;
  /** Called with a free worker. The job must call `pool.release(worker)` when it ends, even if the worker is dead. */
  start(worker: WorkerProcess): void;
  /** The job gets no worker: the pool is closed, or no worker can be started. */
  fail(error: RuntimeClosedError | Error): void;
}

/** Jobs that wait for a worker. Sessions take turns; the jobs of one session keep their order. */
export class JobQueue {
  readonly #jobs: Job[] = [];
  /** The order in which sessions got a worker last. */
  readonly #served = new Map<string | null, number>();
  #serving = 0;

  get length(): number {
    return this.#jobs.length;
  }

  push(job: Job): void {
    this.#jobs.push(job);
  }

  /** Records that the session of a job gets a worker. */
  onServed({ session }: Job): void {
    this.#served.set(session, ++this.#serving);
  }

  /** Forgets which sessions got a worker, when no job waits. */
  settle(): void {
    if (this.#jobs.length === 0) this.#served.clear();
  }

  /** Removes the first job of the session that has waited longest since it got a worker. */
  take(): Job | undefined {
    const lastOf = (job: Job | undefined): number => (job === undefined ? 0 : (this.#served.get(job.session) ?? 0));
    let best = 0;
    for (let at = 1; at < this.#jobs.length; at++) if (lastOf(this.#jobs[at]) < lastOf(this.#jobs[best])) best = at;
    const [job] = this.#jobs.splice(best, 1);
    return job;
  }

  /** Removes a job. Returns false when it does not wait. */
  remove(job: Job): boolean {
    const at = this.#jobs.indexOf(job);
    if (at >= 0) this.#jobs.splice(at, 1);
    return at >= 0;
  }

  /** Removes all jobs. */
  drain(): readonly Job[] {
    return this.#jobs.splice(0);
  }
}
