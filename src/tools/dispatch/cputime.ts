/** Work that took so many milliseconds counts as if it had computed all the time: to ask for the CPU time of the thread takes 3 µs. */
const SHORT_MS = 0.1;
/** Milliseconds for which a reading of the thread's CPU time is kept. */
const KEPT_MS = 1;

/** The last reading of the thread's CPU time, and when it was taken. */
const reading = { at: Number.NEGATIVE_INFINITY, cpuMs: 0 };

function read(now: number): number {
  const { user, system } = process.threadCpuUsage();
  reading.at = now;
  reading.cpuMs = (user + system) / 1000;
  return reading.cpuMs;
}

/**
 * Does `work`, and gives `spend` the milliseconds of CPU time that it took: never less than it took, and never more than the time
 * that went by. At most a tenth of a millisecond is counted too much for short work, and one for long work.
 */
export function withCpuTime<T>(work: () => T, spend: (ms: number) => void): T {
  const begun = performance.now();
  const before = begun - reading.at > KEPT_MS ? read(begun) : reading.cpuMs;
  try {
    return work();
  } finally {
    const now = performance.now();
    spend(now - begun > SHORT_MS ? Math.min(now - begun, read(now) - before) : now - begun);
  }
}
