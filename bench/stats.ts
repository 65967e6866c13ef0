import { setTimeout as sleep } from 'node:timers/promises';

/** Summary of a series of measurements. A percentile is null if the series is too short for it. */
export interface Summary {
  readonly samples: number;
  readonly min: number;
  /** The time of a run that hardly anything else disturbed. */
  readonly p10: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  readonly max: number;
  /** Null below 20 samples. */
  readonly p95: number | null;
  /** Null below 100 samples, where it would be the maximum. */
  readonly p99: number | null;
}

/** Least number of samples for a percentile that differs from the maximum. */
const ENOUGH = { p95: 20, p99: 100 } as const;

/** Summarises a series; null when it is empty. Percentiles are nearest-rank, so each is a measured value. */
export function summarize(values: readonly number[]): Summary | null {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  if (sorted.length === 0) return null;
  return {
    samples: sorted.length,
    min: at(0),
    p10: at(0.1),
    q1: at(0.25),
    median: at(0.5),
    q3: at(0.75),
    max: at(1),
    p95: sorted.length >= ENOUGH.p95 ? at(0.95) : null,
    p99: sorted.length >= ENOUGH.p99 ? at(0.99) : null,
  };
}

/** The median of a series; NaN of an empty one. */
export function median(values: readonly number[]): number {
  return summarize(values)?.median ?? Number.NaN;
}

/** How series are measured. */
interface Turns {
  readonly rounds: number;
  /** Rounds before, which do not count. */
  readonly warmup?: number;
  /** Pause before each piece, in milliseconds. */
  readonly pauseMs?: number;
}

/** Measures series in turns, so that other work of the machine meets all alike. A piece resolves with its time. */
export async function inTurns(
  { rounds, warmup = 0, pauseMs = 0 }: Turns,
  pieces: readonly ((round: number) => Promise<number>)[],
): Promise<(Summary | null)[]> {
  const times = pieces.map((): number[] => []);
  for (let round = -warmup; round < rounds; round++)
    for (const [index, piece] of pieces.entries()) {
      if (pauseMs > 0) await sleep(pauseMs);
      const time = await piece(round);
      if (round >= 0) times[index]?.push(time);
    }
  return times.map(summarize);
}

const CONFIDENCE = 0.95;

/**
 * Upper bound of the median of what a series was drawn from, with a confidence of 95 %, whatever its distribution: the least value
 * such that the median lies above it by chance in at most 5 % of all series (sign test). Infinite below five values.
 */
export function medianBound(values: readonly number[]): number {
  const { length } = values;
  let choices = 1;
  let below = 0;
  for (const [rank, value] of [...values].sort((a, b) => a - b).entries()) {
    below += choices;
    if (below / 2 ** length >= CONFIDENCE) return value;
    choices = (choices * (length - rank)) / (rank + 1);
  }
  return Number.POSITIVE_INFINITY;
}
