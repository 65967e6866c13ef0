import { BusyError, type RuntimeClosedError } from '../wire/errors.ts';
import type { Affinity } from './affinity.ts';
import type { Isolation } from './isolates.ts';
import type { WorkerProcess } from './worker.ts';

/** A tenant's share of the workers. */
export interface TenantShare {
  readonly id: string;
  /** Its weight against other tenants that wait. */
  readonly share: number;
  /** Most runs that have begun; a part of the free workers when absent. */
  readonly concurrency?: number | undefined;
  /** Most runs that wait; a part of the free places in the queue when absent. */
  readonly queueLength?: number | undefined;
  /** How its runs share isolates and processes; as the sandbox says when absent. */
  readonly isolation?: Isolation | undefined;
}

/** A task that needs a worker of its own until it ends. */
export interface Job {
  /** The nesting depth, see `RunHandlers.depth`; 0 when no run waits for it. */
  readonly depth: number;
  /** Jobs of one flow keep their order, and flows take turns: the runs of a tenant, of a session, or of equal programs. */
  readonly flow: string;
  /** The tenant that the flow belongs to; null without one. */
  readonly tenant: TenantShare | null;
  /** Tells which worker starts it soonest; null when all are equal. */
  readonly affinity: Affinity | null;
  /** With `process`, the worker serves no other job before it and after it. */
  readonly isolation: Isolation;
  /** Called with a free worker. The job must call `pool.release(worker)` when it ends, even if the worker is dead. */
  start(worker: WorkerProcess): void;
  /** Called when the job gets no worker: the pool is closed, or no worker can be started. */
  fail(error: RuntimeClosedError | Error): void;
}

/** Characters of a program that identify its flow. */
const PROGRAM_CHARACTERS = 4096;

/** The flow of a run: that of its tenant, else of its session, else of all runs of the same program. */
export function flowOf(tenant: TenantShare | null, session: string | null, program: string): string {
  if (tenant !== null) return `tenant ${tenant.id}`;
  return session === null ? `program ${program.length} ${program.slice(0, PROGRAM_CHARACTERS)}` : `session ${session}`;
}

/** The jobs of one flow. */
interface Flow {
  held: number;
  waiting: number;
  /** Its weighted use so far, on the scale of {@link JobQueue}. */
  had: number;
}

/** A job costs its flow 1, and 1 more for each of these times that it holds its worker. */
const COST_MS = 250;
/** A tenant gets one more worker or place in the queue while it has fewer than this number for each free one. */
const GREED = 3;
/** From this number of workers on, no flow without a tenant gets the last one in addition to others. */
const SPARING_FROM = 8;
/** Most idle flows that are remembered because they have used more than waiting ones. */
const MAX_IDLE_FLOWS = 10_000;

/**
 * Jobs that wait for a worker. The next worker goes to the flow with the least use in proportion to its share (start-time fair queueing,
 * after Goyal, Vin and Cheng). No flow may hold all workers while tools are slow: a tenant gets a part of the free ones, and other flows
 * leave one free of {@link SPARING_FROM} or more.
 */
export class JobQueue {
  readonly #jobs: Job[] = [];
  readonly #flows = new Map<string, Flow>();
  readonly #workers: number;
  /** The use of the flow that got a worker last. An idle flow starts again from this value, so it cannot save up turns. */
  #now = 0;

  /** `workers`: the largest number of workers. */
  constructor(workers: number) {
    this.#workers = workers;
  }

  get length(): number {
    return this.#jobs.length;
  }

  /** Jobs that may begin while `free` workers can be given. */
  ready(free: number): number {
    return free <= 0 ? 0 : this.#jobs.filter((job) => this.mayBegin(job, free)).length;
  }

  /** Whether the flow of a job may hold one more worker while `free` workers can be given. */
  mayBegin({ flow, tenant }: Job, free: number): boolean {
    const held = this.#flows.get(flow)?.held ?? 0;
    if (tenant !== null) return held < (tenant.concurrency ?? Math.max(1, GREED * free));
    return this.#workers < SPARING_FROM || held < (this.#workers - 1) * free;
  }

  /** Throws {@link BusyError} when no more jobs of this job's tenant may wait while the queue has so many places free. */
  checkPlaces({ flow, tenant }: Job, free: number): void {
    if (tenant === null) return;
    const allowed = tenant.queueLength ?? Math.max(1, GREED * free);
    const used = this.#flows.get(flow)?.waiting ?? 0;
    if (used >= allowed)
      throw new BusyError(
        `${used} runs of the tenant '${tenant.id}' are waiting already, and ${allowed} are allowed; try again later`,
        {
          limit: 'tenantQueueLength',
          allowed,
          used,
        },
      );
  }

  push(job: Job): void {
    this.#jobs.push(job);
    this.#flow(job).waiting++;
  }

  /** Removes the next job that may begin; it begins at once. */
  take(free: number): Job | undefined {
    let best: Job | undefined;
    for (const job of this.#jobs)
      if ((best === undefined || this.#flow(job).had < this.#flow(best).had) && this.mayBegin(job, free)) best = job;
    if (best !== undefined) this.#withdraw(best);
    return best;
  }

  /** Removes a job. Returns false when it does not wait. */
  remove(job: Job): boolean {
    if (!this.#jobs.includes(job)) return false;
    this.#forget(job.flow, this.#withdraw(job));
    return true;
  }

  /** Counts a job that gets a worker. */
  onBegun(job: Job): void {
    const flow = this.#flow(job);
    this.#now = Math.max(this.#now, flow.had);
    flow.held++;
    flow.had += 1 / shareOf(job);
  }

  /** Counts a job that has held its worker for this time. */
  onEnded(job: Job, heldMs: number): void {
    const flow = this.#flow(job);
    flow.held--;
    flow.had += Math.floor(heldMs / COST_MS) / shareOf(job);
    this.#forget(job.flow, flow);
  }

  /** Removes all jobs. */
  drain(): readonly Job[] {
    for (const flow of this.#flows.values()) flow.waiting = 0;
    return this.#jobs.splice(0);
  }

  /** Number of remembered flows. */
  get flows(): number {
    return this.#flows.size;
  }

  #withdraw(job: Job): Flow {
    this.#jobs.splice(this.#jobs.indexOf(job), 1);
    const flow = this.#flow(job);
    flow.waiting--;
    return flow;
  }

  #flow({ flow: key }: Job): Flow {
    const known = this.#flows.get(key);
    if (known !== undefined) {
      if (known.held === 0 && known.waiting === 0) known.had = Math.max(known.had, this.#now);
      return known;
    }
    const flow: Flow = { held: 0, waiting: 0, had: this.#now };
    this.#flows.set(key, flow);
    return flow;
  }

  /** Forgets a flow without jobs, unless it has used more than waiting ones. */
  #forget(key: string, { held, waiting, had }: Flow): void {
    if (held > 0 || waiting > 0) return;
    if (had <= this.#now) this.#flows.delete(key);
    const isFull = this.#flows.size > MAX_IDLE_FLOWS + this.#jobs.length + this.#workers;
    if (!isFull && this.#jobs.length > 0) return;
    for (const [other, flow] of this.#flows) if (flow.held === 0 && flow.waiting === 0) this.#flows.delete(other);
  }
}

function shareOf({ tenant }: Job): number {
  return tenant?.share ?? 1;
}
