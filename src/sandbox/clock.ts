import { timeoutError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { RunInput } from '../wire/protocol.ts';
import type { Reading } from './processstats.ts';
import type { WorkerProcess } from './worker.ts';

/**
 * A worker says that a program has started once that is worth a word: with its first output, or after some thousands of steps. One
 * that keeps silent longer than this is watched; once it has computed so long, and what its parser may need besides, its program
 * counts as started: it may be beyond all reach.
 */
const SILENT_MS = 25;
/** Characters that the parser takes a millisecond for, at worst. */
const PARSED_PER_MS = 500;
/** A worker that has not said so by then is ended, however much time its program may take. */
const PARSE_MS = 5_000;

/** Whom the clock of a run tells. */
export interface ClockPort {
  /** The program has started, or counts as started; once. */
  onStarted(): void;
  /** It is time to look after what the worker uses, or to look anew now that more is known. */
  onWatch(): void;
  /** The time of the program, or of the parser, is over. */
  onLate(error: ErrorInfo): void;
}

/** The time of one run: when its program started, what that took so far, and when it is over. */
export class RunClock {
  readonly #worker: WorkerProcess;
  readonly #wallMs: number;
  readonly #sourceChars: number;
  readonly #port: ClockPort;
  /** What the worker used before anything of this run. */
  readonly before: Reading;
  #begun = 0;
  #started: number | null = null;
  #startCpu: number | null = null;
  #told = false;
  #watching = false;
  #stopped = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(worker: WorkerProcess, { sources, limits }: RunInput, port: ClockPort) {
    this.#worker = worker;
    this.#wallMs = limits.wallMs;
    this.#sourceChars = sources.reduce((sum, { text }) => sum + text.length, 0);
    this.#port = port;
    this.before = worker.reading();
  }

  /** The run has been sent to the worker. */
  begin(): void {
    this.#begun = performance.now();
    this.#deadline = setTimeout(() => this.#onSilent(), SILENT_MS);
  }

  /** Time is counted no more, and nobody is told of it. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#deadline);
  }

  /** The worker has said that the program has started; until then it may have been taken for granted. */
  get told(): boolean {
    return this.#told;
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

  /** CPU time of the worker when the program started, milliseconds; null where it is not known yet, or ever. */
  get startCpuMs(): number | null {
    return this.#startCpu;
  }

  /** CPU milliseconds since the program's start, as the system counts them; null where it does not tell. */
  get usedCpuMs(): number | null {
    const now = this.#worker.meter?.cpuMs() ?? null;
    return now === null || this.#startCpu === null ? null : now - this.#startCpu;
  }

  /** The worker says that the program has started. */
  tell(): void {
    this.#told = true;
    this.#onStarted();
  }

  /**
   * The program may have taken the worker over before that could say that it has started; or the worker has not come to it yet, on
   * a busy machine, which its own CPU time tells.
   */
  #onSilent(): void {
    if (!this.#watching) this.#watch();
    const elapsed = performance.now() - this.#begun;
    const cpuMs = this.#worker.meter?.cpuMs() ?? null;
    const used = cpuMs === null || this.before.cpuMs === null ? elapsed : cpuMs - this.before.cpuMs;
    const left = SILENT_MS + this.#sourceChars / PARSED_PER_MS - used;
    if (elapsed >= PARSE_MS) setImmediate(() => this.#onNoWord());
    else if (left <= 0) this.#onStarted();
    else this.#deadline = setTimeout(() => this.#onSilent(), Math.min(left, PARSE_MS - elapsed));
  }

  /** What came while the host itself was busy has been read by now. */
  #onNoWord(): void {
    if (this.#started === null && !this.#stopped) this.#onLate(true);
  }

  #onStarted(): void {
    clearTimeout(this.#deadline);
    const again = this.#started !== null;
    this.#started = performance.now();
    // A small program is over by then: the word that it has started came with that of its end.
    setImmediate(() => {
      if (this.#stopped) return;
      this.#startCpu = this.#worker.meter?.cpuMs() ?? null;
      this.#bound();
      this.#watch();
    });
    if (!again) this.#port.onStarted();
  }

  #watch(): void {
    this.#watching = true;
    this.#port.onWatch();
  }

  #bound(): void {
    const started = this.#started;
    const parsed = this.#told ? Number.POSITIVE_INFINITY : this.#begun + PARSE_MS - performance.now();
    const left = Math.min(this.#wallMs - this.elapsed, parsed);
    const late = (): void => {
      // Where the host itself was busy until now, the program may have ended in time: what came meanwhile is read first.
      setImmediate(() => {
        if (this.#started === started && !this.#stopped) this.#onLate(left === parsed);
      });
    };
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(late, left);
  }

  #onLate(parsing: boolean): void {
    const allowed = parsing ? PARSE_MS : this.#wallMs;
    // A timer may come a fraction of a millisecond early.
    const used = parsing ? PARSE_MS : Math.max(allowed, Math.round(this.elapsed));
    const message = parsing
      ? `parsing took longer than ${PARSE_MS} ms`
      : `the program ran for ${used} ms, ${allowed} ms are allowed`;
    this.#port.onLate(timeoutError({ limit: 'wallMs', allowed, used }, message));
  }
}
