import { availableParallelism, loadavg } from 'node:os';

/** How busy a machine was. Its other work makes times longer, and says nothing about the product. */
export interface Load {
  /** Mean number of processes that wanted to compute during the last minute. */
  readonly average: number;
  readonly cores: number;
  /** Elapsed time of a calibration loop, as a multiple of the CPU time that it took: 1 on an idle machine. */
  readonly stretch: number;
}

/** CPU milliseconds of the calibration loop. */
const LOOP_MS = { whole: 200, quick: 50 } as const;

/** Measures the load; it takes a fifth of a second on an idle machine, and a quarter of that if it has to be quick. */
export function measureLoad(quick = false): Load {
  const start = performance.now();
  const before = process.cpuUsage();
  let cpuMs = 0;
  while (cpuMs < LOOP_MS[quick ? 'quick' : 'whole']) {
    const { user, system } = process.cpuUsage(before);
    cpuMs = (user + system) / 1000;
  }
  const [average = 0] = loadavg();
  return { average, cores: availableParallelism(), stretch: (performance.now() - start) / cpuMs };
}

export function busier(one: Load, other: Load): Load {
  return other.stretch > one.stretch ? other : one;
}

/** The load in one phrase, for those who judge a time. */
export function loadText({ average, cores, stretch }: Load): string {
  const verdict =
    stretch > BUSY || average > cores + 1 ? 'a busy machine: promises are ratios, its times do not count' : 'an idle machine';
  return `load average ${average.toFixed(1)} on ${cores} cores, calibration ${stretch.toFixed(1)} times its CPU time: ${verdict}`;
}

/** More than this is a busy machine. */
const BUSY = 1.2;
