import { idleActivity } from './idleactivity.ts';
import { type Holdings, orphans, type StatsReading } from './processstats.ts';
import type { WorkerProcess } from './worker.ts';

const LOOK_MS = 1_000;

/** A worker at rest, with its usage when the watch first saw it at rest. */
interface Rest {
  /** Number of its runs, which distinguishes this rest from the next one. */
  readonly runs: number;
  readonly base: StatsReading;
}

/**
 * Looks at all workers once a second, also at those without a task, which the watchdog of runs does not watch. An honest worker starts no
 * process, opens no descriptor and stays within its {@link Allowance}, and an idle one neither grows nor computes. Does nothing where the
 * system has no statistics.
 */
export class WorkerWatch {
  readonly #all: Iterable<WorkerProcess>;
  readonly #idle: readonly WorkerProcess[];
  readonly #onMoved: (worker: WorkerProcess, what: string) => void;
  readonly #rests = new WeakMap<WorkerProcess, Rest>();
  #timer: NodeJS.Timeout | null = null;

  /** `onMoved` gets each worker that must end, with the reason. */
  constructor(
    all: Iterable<WorkerProcess>,
    idle: readonly WorkerProcess[],
    onMoved: (worker: WorkerProcess, what: string) => void,
  ) {
    this.#all = all;
    this.#idle = idle;
    this.#onMoved = onMoved;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const all = [...this.#all];
    // Without a cage, processes of a worker can detach from it by ending their parent.
    const lost = all.some(({ session }) => session !== null) ? orphans() : new Map<number, number>();
    for (const worker of all) {
      const now = worker.dead ? null : (worker.stats?.holdings() ?? null);
      if (now === null) continue;
      const { session } = worker;
      const children = (now.children ?? 0) + (session === null ? 0 : (lost.get(session) ?? 0));
      const taken = worker.allowance?.taken(now, children) ?? null;
      const what = taken ?? (this.#idle.includes(worker) ? this.#atRest(worker, now) : null);
      if (what !== null) this.#onMoved(worker, what);
    }
  }

  #atRest(worker: WorkerProcess, now: Holdings): string | null {
    const known = this.#rests.get(worker);
    const { rssBytes, cpuMs } = known?.runs === worker.runs ? known.base : now;
    // Memory that the worker has given back lowers its baseline.
    const base = { rssBytes: rssBytes === null ? null : Math.min(rssBytes, now.rssBytes), cpuMs };
    this.#rests.set(worker, { runs: worker.runs, base });
    return idleActivity(base, now);
  }
}
