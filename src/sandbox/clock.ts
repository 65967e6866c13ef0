import { timeoutError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { RunInput } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import type { StatsReading } from './processstats.ts';
import type { WorkerProcess } from './worker.ts';

/**
 * A worker sends `started` with its first output or after some thousands of steps, so that a small run needs one write. The host watches
 * a worker that sends nothing for this time. When the worker has computed longer than this time and the parser's time together, the
 * program counts as started, because it may keep the worker from ever sending anything.
 */
const SILENT_MS = 25;
/** Characters that the parser reads in a millisecond, at worst. */
const PARSED_PER_MS = 500;
/** A worker that has not sent `started` after this time is killed, whatever the wall limit of its program is. */
const PARSE_MS = 5_000;

/** The owner of a clock. */
interface ClockOwner {
  /** The program has started, or counts as started. Called once. */
  onStarted(): void;
  /** The watchdog must watch the worker from now on, or use the new data of the clock. */
  onWatch(): void;
  /** The program or the parser has used up its time. */
  onLate(error: ErrorInfo): void;
}

/** The elapsed time of one run: its start, its duration so far, and its end. */
export class RunClock {
  readonly #worker: WorkerProcess;
  readonly #wallMs: number;
  readonly #sourceChars: number;
  readonly #owner: ClockOwner;
  /** The worker's statistics before this run. */
  readonly before: StatsReading;
  #begun = 0;
  #started: number | null = null;
  #startCpu: number | null = null;
  #announced = false;
  #watching = false;
  #stopped = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(worker: WorkerProcess, { sources, limits }: RunInput, owner: ClockOwner) {
    this.#worker = worker;
    this.#wallMs = limits.wallMs;
    this.#sourceChars = sources.reduce((sum, { text }) => sum + text.length, 0);
    this.#owner = owner;
    this.before = worker.reading();
  }

  /** Begins before the run is sent: a worker may compute before the send returns. */
  begin(): void {
    this.#begun = performance.now();
    this.#deadline = setTimeout(() => this.#onSilent(), SILENT_MS);
  }

  /** Stops the clock. Afterwards it does not call its owner. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#deadline);
  }

  /** Whether the worker has sent `started`. The program may count as started before. */
  get announced(): boolean {
    return this.#announced;
  }

  get started(): boolean {
    return this.#started !== null;
  }

  /** Characters of all sources. */
  get sourceChars(): number {
    return this.#sourceChars;
  }

  /** Milliseconds since the program started. */
  get elapsed(): number {
    return this.#started === null ? 0 : performance.now() - this.#started;
  }

  /** Milliseconds since the run was sent to the worker. */
  get sinceSent(): number {
    return performance.now() - this.#begun;
  }

  /** CPU time of the worker when the program started, milliseconds; null while it is unknown. */
  get startCpuMs(): number | null {
    return this.#startCpu;
  }

  /** CPU time since the start of the program, milliseconds; null where the system does not tell. */
  get usedCpuMs(): number | null {
    const now = this.#worker.stats?.cpuMs() ?? null;
    return now === null || this.#startCpu === null ? null : now - this.#startCpu;
  }

  /** The worker has sent `started`. */
  announce(): void {
    this.#announced = true;
    this.#onStarted();
  }

  /**
   * Handles a silent worker. Either the program keeps it from sending `started`, or the machine is busy and the worker has not begun yet;
   * its CPU time decides.
   */
  #onSilent(): void {
    // A killed worker starts nothing. On a busy machine its end is reported late.
    if (this.#worker.dead) return;
    if (!this.#watching) this.#watch();
    const elapsed = performance.now() - this.#begun;
    const cpuMs = this.#worker.stats?.cpuMs() ?? null;
    const used = cpuMs === null || this.before.cpuMs === null ? elapsed : cpuMs - this.before.cpuMs;
    const left = SILENT_MS + this.#sourceChars / PARSED_PER_MS - used;
    if (elapsed >= PARSE_MS) this.#worker.afterArrived(() => this.#onNoWord());
    else if (left <= 0) this.#onStarted();
    else this.#deadline = setTimeout(() => this.#onSilent(), Math.min(left, PARSE_MS - elapsed));
  }

  /** Runs after the host has read the frames that arrived while it was busy. */
  #onNoWord(): void {
    if (this.#started === null && !this.#stopped) this.#onLate(true);
  }

  #onStarted(): void {
    clearTimeout(this.#deadline);
    const again = this.#started !== null;
    this.#started = performance.now();
    // A small program has ended by then: its `started` comes together with its result.
    setImmediate(() => {
      if (this.#stopped) return;
      this.#startCpu = this.#worker.stats?.cpuMs() ?? null;
      this.#bound();
      this.#watch();
    });
    if (!again) this.#owner.onStarted();
  }

  /** Ends the run if its time is over. `now` is a parameter because `performance.now` takes as long as the check. */
  check(now = performance.now()): void {
    if (!this.#stopped && this.#started !== null && now - this.#started > this.#wallMs) this.#onLate(false);
  }

  #watch(): void {
    this.#watching = true;
    this.#owner.onWatch();
  }

  #bound(): void {
    const started = this.#started;
    const parsed = this.#announced ? Number.POSITIVE_INFINITY : this.#begun + PARSE_MS - performance.now();
    const left = Math.min(this.#wallMs - this.elapsed, parsed);
    const late = (): void => {
      // The program may have ended in time while the host was busy: frames that have arrived are read first.
      this.#worker.afterArrived(() => {
        if (this.#started === started && !this.#stopped) this.#onLate(left === parsed);
      });
    };
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(late, Math.max(0, left));
  }

  #onLate(parsing: boolean): void {
    const allowed = parsing ? PARSE_MS : this.#wallMs;
    // A timer may fire a fraction of a millisecond early.
    const used = parsing ? PARSE_MS : Math.max(allowed, Math.round(this.elapsed));
    const message = parsing
      ? `parsing took longer than ${PARSE_MS} ms`
      : `the program ran for ${grouped(used)} ms, ${grouped(allowed)} ms are allowed`;
    this.#owner.onLate(timeoutError({ limit: 'wallMs', allowed, used }, message));
  }
}
