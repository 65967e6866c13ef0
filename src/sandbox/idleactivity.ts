import type { StatsReading } from './processstats.ts';

/** An idle worker waits in one read. It computes only to prepare for the next run; helper threads may still compile or collect. */
const IDLE_CPU_MS = 500;
/** Bytes by which an idle worker may grow: its next isolate, and pages that the system counts late. */
const IDLE_GROWTH = 64 * 1024 * 1024;

/** Describes suspicious activity of a worker between two readings without a task; null when there is none. */
export function idleActivity(before: StatsReading, now: StatsReading): string | null {
  const grown = increase(before.rssBytes, now.rssBytes);
  if (grown > IDLE_GROWTH) return `it grew by ${grown} bytes without a task`;
  const used = increase(before.cpuMs, now.cpuMs);
  return used > IDLE_CPU_MS ? `it computed for ${Math.round(used)} ms without a task` : null;
}

function increase(before: number | null, now: number | null): number {
  return before === null || now === null ? 0 : now - before;
}
