import { quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { ProcessMeter } from './processstats.ts';
import type { Watched } from './watchdog.ts';

const MB = 1024 * 1024;
/** Resident memory above what a limit allows: V8's garbage and its new space, before the last resort. */
const RSS_SLACK = 64 * MB;
/** The tree of a source, and its compiled form, in bytes per byte of source. */
const TREE_FACTOR = 64;
/** CPU time above the limit at which the host stops waiting for the interpreter's own meter. */
const CPU_SLACK_MS = 100;
/** The worker's own share of a call, on the same thread. */
const CALL_CPU_MS = 2;

/** A run, as far as its worker's use of the system is judged by it. */
export interface Metered {
  readonly limits: LimitValues;
  readonly sourceChars: number;
  /** CPU time of the worker when the program started; null while nobody knows that it has, and then no time is too much. */
  startCpuMs(): number | null;
  /** Tool calls so far. */
  calls(): number;
  /** CPU time of its nested loops. */
  nestedCpuMs(): number;
  /** Its worker has outgrown it. */
  end(error: ErrorInfo): void;
}

/** What the watchdog is to know of a run whose worker had `baseRss` resident bytes before it. */
export function watchedRun(meter: ProcessMeter, baseRss: number, run: Metered): Watched {
  const { memoryBytes, cpuMs } = run.limits;
  return {
    meter,
    maxRssBytes: baseRss + memoryBytes * 1.25 + RSS_SLACK + run.sourceChars * TREE_FACTOR,
    maxCpuMs() {
      const start = run.startCpuMs();
      if (start === null) return Number.POSITIVE_INFINITY;
      return start + Math.max(0, cpuMs - run.nestedCpuMs()) * 1.25 + CPU_SLACK_MS + run.calls() * CALL_CPU_MS;
    },
    exceeded(what, reading) {
      run.end(what === 'rss' ? tooLarge(memoryBytes, reading - baseRss) : tooLong(cpuMs, run, reading));
    },
  };
}

function tooLarge(allowed: number, grown: number): ErrorInfo {
  const used = Math.round(grown);
  return quotaError(
    { limit: 'memoryBytes', allowed, used },
    `the worker of the program grew by ${used} bytes, ${allowed} are allowed`,
  );
}

function tooLong(allowed: number, run: Metered, reading: number): ErrorInfo {
  const used = Math.round(reading - (run.startCpuMs() ?? reading) + run.nestedCpuMs());
  return quotaError({ limit: 'cpuMs', allowed, used }, `the program computed for ${used} ms, ${allowed} ms are allowed`);
}
