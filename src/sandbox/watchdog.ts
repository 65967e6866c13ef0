import { quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import { grouped } from '../wire/text/grouped.ts';
import type { Allowance } from './allowance.ts';
import type { ProcessStats } from './processstats.ts';

const MB = 1024 * 1024;
/** Resident memory allowed above the limit: V8's garbage and its new space. */
const RSS_SLACK = 64 * MB;
/** Bytes of a tree and its compiled form, per character of source. */
const TREE_FACTOR = 64;
/** CPU time above the limit at which the host stops waiting for the interpreter's own meter. */
const CPU_SLACK_MS = 100;
/** CPU time of the worker's own code for one call; it runs on the thread of the program. */
const CALL_CPU_MS = 2;

/** A run whose worker is watched. */
export interface WatchedRun {
  readonly stats: ProcessStats;
  readonly allowance: Allowance | null;
  /** Resident bytes of the worker before the run. */
  readonly baseRss: number;
  readonly limits: LimitValues;
  readonly sourceChars: number;
  /** Memory for measuring the run. */
  readonly probeBytes: number;
  /** CPU time of the worker when the program started; null while that is unknown, and then CPU time is not limited. */
  startCpuMs(): number | null;
  /** Tool calls so far. */
  calls(): number;
  /** CPU time of its nested loops. */
  nestedCpuMs(): number;
  /** Ends the run of a worker that uses too much. Called at most once, as is `violate`. */
  end(error: ErrorInfo): void;
  /** Ends a worker that has what no program can make it have. */
  violate(what: string): void;
}

const TICK_MS = 5;
/** Ticks between two looks at page tables and threads: they take ten times as long as a tick. */
const TICKS_PER_LOOK = 4;

/**
 * Reads the memory and CPU time of all running workers every few milliseconds. It is the last resort after the interpreter and
 * the isolate: it ends workers that are stuck in native code or whose V8 exceeds its heap limit.
 */
export class Watchdog {
  readonly #runs = new Set<WatchedRun>();
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;

  add(run: WatchedRun): void {
    this.#runs.add(run);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  remove(run: WatchedRun): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #tick(): void {
    const looks = ++this.#ticks % TICKS_PER_LOOK === 0;
    for (const run of this.#runs) {
      const error = memoryBreach(run) ?? cpuBreach(run);
      const excess = error === null && looks ? excessOf(run) : null;
      if (error === null && excess === null) continue;
      this.remove(run);
      if (error !== null) run.end(error);
      else if (excess !== null) run.violate(excess);
    }
  }
}

/** Bytes that the parser needs for a character of source at worst, garbage included. */
export const PARSER_BYTES = 512;

/**
 * The most memory of a worker with these limits for which the kernel need not end it, resident bytes, page tables and the memory of the
 * kernel together. The watch ends it before, and says why.
 */
export function mostBytes({ memoryBytes, sourceBytes }: LimitValues, restRss: number): number {
  const program = memoryBytes * 1.25 + RSS_SLACK + sourceBytes * (TREE_FACTOR + PARSER_BYTES);
  return (restRss + program) * 1.25 + RSS_SLACK;
}

function excessOf({ stats, allowance }: WatchedRun): string | null {
  const load = allowance === null ? null : stats.load();
  return load === null ? null : (allowance?.excess(load) ?? null);
}

function memoryBreach({ stats, baseRss, limits, sourceChars, probeBytes }: WatchedRun): ErrorInfo | null {
  const allowed = limits.memoryBytes;
  const used = (stats.rssBytes() ?? 0) - baseRss;
  if (used <= allowed * 1.25 + RSS_SLACK + sourceChars * TREE_FACTOR + probeBytes) return null;
  const message = `the worker of the program grew by ${grouped(used)} bytes, ${grouped(allowed)} are allowed`;
  return quotaError({ limit: 'memoryBytes', allowed, used }, message);
}

function cpuBreach(run: WatchedRun): ErrorInfo | null {
  const allowed = run.limits.cpuMs;
  const start = run.startCpuMs();
  const now = run.stats.cpuMs();
  if (start === null || now === null) return null;
  const nested = run.nestedCpuMs();
  if (now - start <= Math.max(0, allowed - nested) * 1.25 + CPU_SLACK_MS + run.calls() * CALL_CPU_MS) return null;
  const used = Math.round(now - start + nested);
  return quotaError(
    { limit: 'cpuMs', allowed, used },
    `the program computed for ${grouped(used)} ms, ${grouped(allowed)} ms are allowed`,
  );
}
