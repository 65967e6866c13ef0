/**
 * Promises of time are ratios: the time of the work divided by that of a calibration loop in the same run. They are written as
 * milliseconds of a machine on which the loop takes {@link REFERENCE_MS}. The pace of a machine that is slower or busy is above 1.
 */

const REFERENCE_MS = 10;
const ADDITIONS = 20_000_000;
const LOOPS = 9;
/** A pace is valid for this time, because the load of a machine changes. */
const VALID_MS = 5_000;

let slowest = 1;
let measuredAt = Number.NEGATIVE_INFINITY;

/** How many times as long as on the reference machine the loop took here, at the worst so far; never below 1. */
export function pace(): number {
  if (performance.now() - measuredAt < VALID_MS) return slowest;
  const times = Array.from({ length: LOOPS }, elapsedOfLoop).sort((a, b) => a - b);
  slowest = Math.max(slowest, (times[LOOPS >> 1] ?? 0) / REFERENCE_MS);
  measuredAt = performance.now();
  return slowest;
}

function elapsedOfLoop(): number {
  const start = performance.now();
  let sum = 0;
  for (let i = 0; i < ADDITIONS; i++) sum = (sum + i) | 0;
  // The sum is used, so that the compiler keeps the loop.
  return sum === 0.5 ? 0 : performance.now() - start;
}

const TIMES: ReadonlySet<string> = new Set(['ms', 's', 'µs']);
const RATES: ReadonlySet<string> = new Set(['turns/s', 'MB/s']);

/** What a promise allows at a pace: more time, or a lower rate. Ratios and counts stay. */
export function allowance(unit: string, target: number, at: number = pace()): number {
  if (TIMES.has(unit)) return target * at;
  return RATES.has(unit) ? target / at : target;
}
