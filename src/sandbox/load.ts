import type { ProcessStats } from './processstats.ts';

/** What worker processes use together. */
export interface Spent {
  /** Resident memory; 0 where the system does not tell. */
  readonly rssBytes: number;
  /** CPU time of those that live; 0 where the system does not tell. */
  readonly cpuMs: number;
}

/** The worker processes and jobs of a pool at one moment. */
export interface PoolLoad extends Spent {
  /** Worker processes, including those that are starting. */
  readonly workers: number;
  /** Workers that could begin a run. */
  readonly idle: number;
  /** Runs that compute. */
  readonly computing: number;
  /** Runs whose tool, prompt or ask the host has not answered yet. */
  readonly waitingForHost: number;
  /** Runs that wait for a worker. */
  readonly queued: number;
}

/** What processes use together; those of which the system tells nothing count as nothing. */
export function spentBy(processes: Iterable<{ readonly stats: ProcessStats | null }>): Spent {
  let [rssBytes, cpuMs] = [0, 0];
  for (const { stats } of processes) {
    const load = stats?.load() ?? null;
    rssBytes += load?.rssBytes ?? 0;
    cpuMs += load?.cpuMs ?? 0;
  }
  return { rssBytes, cpuMs };
}
