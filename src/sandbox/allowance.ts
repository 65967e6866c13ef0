import type { Holdings, Load } from './processstats.ts';

const MB = 1024 * 1024;
/** Page tables of an honest worker: 1 MB at its start, 3 MB with 80 MB of a program's values. */
const PAGE_TABLES = 16 * MB;
/** Resident bytes for which a worker may have one more byte of page tables. A full table of 4 KB stands for 2 MB. */
const BYTES_PER_TABLE_BYTE = 16;
/** Descriptors that Node may open late. */
const LATE_DESCRIPTORS = 8;
/** Threads of Node and isolated-vm: 7 in a quiet worker, one more for a timer of a program, four more if Node uses its pool. */
const THREADS = 48;
/** Helper threads of V8 compile and collect. They take at most this multiple of the main thread's CPU time; 0.4 is usual. */
const HELPER_FACTOR = 2;
/** CPU time that helper threads may take in advance, and more of it for each MB of resident memory, which they may collect. */
const HELPER_MS = 500;
const HELPER_MS_PER_MB = 1;

/** The system resources that an honest worker may have. Nothing that a program does exceeds them. */
export class Allowance {
  readonly #start: Holdings;
  #last: Load;
  #helperMs = 0;

  /** `start`: what the worker had when it was ready. */
  constructor(start: Holdings) {
    this.#start = start;
    this.#last = start;
  }

  /** CPU time of all threads but the main one, beyond the multiple that is allowed for. */
  get helperMs(): number {
    return this.#helperMs;
  }

  /** Describes processes, descriptors and the like that the worker must not have; null when there are none. */
  taken(now: Holdings, children: number): string | null {
    const excess = this.excess(now);
    if (children > 0) return `it started ${children} processes`;
    const opened = (now.descriptors ?? 0) - (this.#start.descriptors ?? Number.POSITIVE_INFINITY);
    return opened > LATE_DESCRIPTORS ? `it opened ${opened} descriptors` : excess;
  }

  /** Describes page tables, threads and CPU time of threads that the worker must not have; null when there are none. */
  excess(now: Load): string | null {
    const main = now.mainCpuMs - this.#last.mainCpuMs;
    const helpers = now.cpuMs - this.#last.cpuMs - main;
    this.#last = now;
    // Time that the helpers did not take is no credit for later.
    this.#helperMs = Math.max(0, this.#helperMs + helpers - main * HELPER_FACTOR);
    if (now.pageTableBytes > PAGE_TABLES + now.rssBytes / BYTES_PER_TABLE_BYTE)
      return `it has ${now.pageTableBytes} bytes of page tables`;
    if (now.threads > THREADS) return `it has ${now.threads} threads`;
    if (this.#helperMs <= HELPER_MS + (now.rssBytes / MB) * HELPER_MS_PER_MB) return null;
    return `its other threads computed for ${Math.round(this.#helperMs)} ms`;
  }
}
