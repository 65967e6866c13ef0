import type { StatsReading } from './processstats.ts';

/** An idle worker waits in one read. It computes only to get ready after a run, while helper threads may still compile or collect. */
const IDLE_CPU_MS = 500;
/** Memory by which an idle worker may grow: its next isolate, and pages that the system counts late. */
const IDLE_GROWTH = 64 * 1024 * 1024;

/** What a worker did between two readings while it had no task; null when that is no more than a worker at rest does. */
export function movement(before: StatsReading, now: StatsReading): string | null {
  const grown = increase(before.rssBytes, now.rssBytes);
  if (grown > IDLE_GROWTH) return `it grew by ${grown} bytes without a task`;
  const used = increase(before.cpuMs, now.cpuMs);
  return used > IDLE_CPU_MS ? `it computed for ${Math.round(used)} ms without a task` : null;
}

function increase(before: number | null, now: number | null): number {
  return before === null || now === null ? 0 : now - before;
}
