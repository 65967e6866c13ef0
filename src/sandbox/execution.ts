import type { CallIo, FinalReply } from '../wire/call.ts';
import { cancelledError, workerError } from '../wire/errorinfo.ts';
import { type ErrorInfo, WireError } from '../wire/errors.ts';
import { frameLimit, frameValues } from '../wire/frames.ts';
import { probeBytes } from '../wire/heat.ts';
import type { GuestCall, OutFrame, RunInput, WorkerFrame } from '../wire/protocol.ts';
import { messageOf } from '../wire/unknown.ts';
import { BusyPoll } from './busypoll.ts';
import { Calls, HALT_MS } from './calls.ts';
import { RunClock } from './clock.ts';
import type { Owner } from './isolates.ts';
import type { TenantShare } from './jobqueue.ts';
import { Ledger } from './ledger.ts';
import { Measuring } from './measuring.ts';
import { crashError, isReportable, lostResult, type SandboxResult, withVerdict } from './result.ts';
import { PARSER_BYTES, type Watchdog, type WatchedRun } from './watchdog.ts';
import type { Gone, WorkerProcess, WorkerTask } from './worker.ts';

type ResultFrame = Extract<WorkerFrame, { t: 'result' }>;

/** The host's handlers for one run. A handler that throws ends the run with `ERR_WORKER`, kind `internal`. */
export interface RunHandlers {
  /** The program has started, or counts as started because its worker is silent. Called before all other handlers. */
  onStarted?(): void;
  /** Output of the program, in order, always before the call that follows it. */
  onOut(out: OutFrame): void;
  /** Answers a call, for which the program waits. The answer is ignored after `io.signal` is aborted. */
  onCall(call: GuestCall, io: CallIo): Promise<FinalReply>;
  /**
   * True if a call of another run waits for this run. The run must not wait for a worker that its ancestors hold, so it gets a worker at
   * once or is refused with `BusyError`.
   */
  readonly nested?: boolean;
  /**
   * The nesting depth of this run, from 1. Up to the sandbox's `nesting` the run waits for a worker; a deeper run, and one without a
   * depth, is refused instead.
   */
  readonly depth?: number;
  /** The session of the run. Workers are given to waiting sessions in turn, whatever the number of their runs. */
  readonly session?: string | null;
  /** Asked when the run gets its worker: why it must not begin any more. Null when it may. */
  refusal?(): ErrorInfo | null;
  /** Whether whole-number keys in the values of output and the result have the `$` that keeps their place. */
  readonly markedKeys?: boolean;
  /** The tenant of the run. All runs of a tenant count as one session here. */
  readonly tenant?: TenantShare | null;
}

/** The owner of a run on one of the workers of a pool. */
interface ExecutionOwner {
  /** The worker begins or ends waiting for the host. */
  onBlocked(blocked: boolean): void;
  /**
   * Called once. `spoiled`: a worker that had served other runs broke the protocol before it sent `started`, so that the run can begin
   * again on another worker.
   */
  onEnd(result: SandboxResult, spoiled: boolean): void;
}

/** What one run on one worker needs. */
export interface ExecutionInit {
  readonly worker: WorkerProcess;
  readonly id: number;
  readonly input: RunInput;
  /** Whose kept isolate the run has; absent for a fresh one. */
  readonly isolate?: Owner | undefined;
  readonly handlers: RunHandlers;
  readonly owner: ExecutionOwner;
  readonly watchdog: Watchdog;
}

/** Time for the interpreter to notice the end of its wall time by itself. */
const WALL_MS = 20;

/**
 * One run on one worker, from its `run` frame to its result. It enforces the order of frames; time, memory, cancellation and the
 * death of the worker end it.
 */
export class Execution implements WorkerTask {
  readonly #worker: WorkerProcess;
  readonly #input: RunInput;
  readonly #handlers: RunHandlers;
  readonly #owner: ExecutionOwner;
  readonly #watchdog: Watchdog;
  readonly #id: number;
  readonly #isolate: Owner | undefined;
  readonly #clock: RunClock;
  /** CPU time of the program, read just before its worker is killed. */
  #cpuMs: number | null = null;
  readonly #poll = new BusyPoll();
  readonly #ledger: Ledger;
  /** The worker's reports about a measured run. */
  readonly #measuring: Measuring | null;
  readonly #calls: Calls;
  /** Why the host ends the run. The worker's own report cannot change it. */
  #verdict: ErrorInfo | null = null;
  #over = false;
  /** The end of the worker, while the call that it left open goes on. */
  #gone: Gone | null = null;
  #grace: NodeJS.Timeout | undefined;
  #watched: WatchedRun | null = null;

  constructor(init: ExecutionInit) {
    this.#worker = init.worker;
    this.#id = init.id;
    this.#isolate = init.isolate;
    this.#input = init.input;
    this.#ledger = new Ledger(init.input);
    this.#measuring = init.input.probe === undefined ? null : new Measuring(init.input);
    this.#handlers = init.handlers;
    this.#owner = init.owner;
    this.#watchdog = init.watchdog;
    this.#clock = new RunClock(init.worker, init.input, {
      onStarted: () => this.#notify(() => this.#handlers.onStarted?.()),
      onWatch: () => this.#watch(),
      onLate: (error) => this.#end(error, this.#calls.open === null ? WALL_MS : HALT_MS),
    });
    this.#calls = new Calls({
      ...init,
      ledger: this.#ledger,
      clock: this.#clock,
      poll: this.#poll,
      owner: {
        verdict: () => this.#verdict,
        end: (verdict, graceMs) => this.#end(verdict, graceMs),
        endBreach: (breach) => this.#endBreach(breach),
        onBlocked: (blocked) => this.#owner.onBlocked(blocked),
        onReplied: () => {
          if (this.#gone !== null) this.#lose(this.#gone);
        },
      },
    });
  }

  get marksKeys(): boolean {
    return this.#handlers.markedKeys === true;
  }

  /** Sends the run. Throws when the input cannot be sent; the worker is free then. */
  begin(): void {
    const { limits } = this.#input;
    this.#worker.assign(this, frameLimit(limits), frameValues(limits));
    this.#clock.begin();
    try {
      this.#worker.run(this.#id, this.#input, this.#isolate);
    } catch (error) {
      this.#clock.stop();
      this.#worker.free();
      throw error;
    }
    this.#poll.onStart();
  }

  /** Ends the run with `ERR_CANCELLED`: at once while it computes; while it waits for a call, after the handler's signal. */
  cancel(message: string): void {
    this.#end(cancelledError(message), this.#calls.open === null ? 0 : HALT_MS);
  }

  onFrame(frame: WorkerFrame, units: number): void {
    const { announced } = this.#clock;
    const free = announced && this.#calls.open === null;
    if (frame.t === 'started' && frame.id === this.#id && !announced) this.#clock.announce();
    else if (frame.t === 'out' && free) this.#onOut(frame);
    else if ((frame.t === 'tool' || frame.t === 'prompt' || frame.t === 'ask') && free) this.#calls.onCall(frame, units);
    else if (frame.t === 'probe' && free && this.#measuring !== null) this.#measuring.add(frame);
    else if (frame.t === 'together' && free) this.#calls.onTogether(frame.calls, units);
    else if (frame.t === 'result' && frame.id === this.#id && this.#calls.open === null) this.#onResult(frame);
    else if (frame.t !== 'var' || this.#calls.open?.answered(frame) !== true)
      throw new WireError(`a frame '${frame.t}' came out of turn`);
  }

  /**
   * The worker has ended. A call that it left open goes on within its time, if the worker did nothing wrong: whatever its tool does is done,
   * and the journal must have it.
   */
  onGone(gone: Gone): void {
    if (this.#calls.open === null || this.#verdict !== null || gone.violation !== null) {
      this.#lose(gone);
      return;
    }
    this.#gone = gone;
    this.#calls.open.outlive();
  }

  #lose(gone: Gone): void {
    const { announced, started, elapsed } = this.#clock;
    const error = this.#verdict ?? crashError(gone, this.#input.limits.memoryBytes);
    this.#calls.open?.lost(error);
    const [phase, wallMs] = started ? (['exec', elapsed] as const) : (['parse', 0] as const);
    const { fuel, toolCalls, outputBytes, nestedCpuMs } = this.#ledger;
    const cpuMs = (this.#cpuMs ?? wallMs) + nestedCpuMs;
    // Before `started`, the program has made no output and no call.
    const spoiled = gone.violation !== null && this.#verdict === null && !announced && this.#worker.runs > 0;
    this.#finish(lostResult(phase, error, { fuel, wallMs, cpuMs, toolCalls, outputBytes }), spoiled);
  }

  #watch(): void {
    const { stats, allowance } = this.#worker;
    const rss = stats?.rssBytes() ?? null;
    if (stats === null || rss === null) return;
    const { before, announced, sourceChars } = this.#clock;
    const parsed = (before.rssBytes ?? rss) + sourceChars * PARSER_BYTES;
    // The program may have used memory before its `started` was read.
    const baseRss = announced ? Math.min(rss, parsed) : parsed;
    if (announced) this.#worker.restRss = rss;
    if (this.#watched !== null) this.#watchdog.remove(this.#watched);
    this.#watched = {
      stats,
      allowance,
      baseRss,
      limits: this.#input.limits,
      sourceChars,
      probeBytes: probeBytes(this.#input),
      startCpuMs: () => this.#clock.startCpuMs,
      calls: () => this.#ledger.ownToolCalls,
      nestedCpuMs: () => this.#ledger.nestedCpuMs,
      end: (error) => this.#end(error, 0),
      violate: (what) => {
        this.#cpuMs = (this.#clock.usedCpuMs ?? 0) + (allowance?.helperMs ?? 0);
        this.#worker.retire(what);
      },
    };
    this.#watchdog.add(this.#watched);
  }

  #onOut(frame: OutFrame): void {
    const breach = this.#ledger.out(frame);
    if (breach === null) this.#notify(() => this.#handlers.onOut(frame));
    else this.#endBreach(breach);
  }

  /** Calls a handler of the host. An exception ends the run and spares the host. */
  #notify(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#end(workerError(`the host's handler of output failed: ${messageOf(error)}`), 0);
    }
  }

  /** Ends the run with this error; the first verdict counts. The worker is killed after `graceMs`, or at once when that is 0. */
  #end(verdict: ErrorInfo, graceMs: number): void {
    if (this.#over || this.#verdict !== null) return;
    const at = this.#calls.at;
    this.#verdict = at === undefined ? verdict : { ...verdict, source: at.source, line: at.line, column: at.column };
    this.#calls.open?.halt(this.#verdict);
    // Without a worker the run has ended with its call.
    if (this.#gone !== null) return;
    if (graceMs === 0) this.#kill();
    else this.#grace = setTimeout(() => this.#kill(), graceMs);
  }

  /** Ends a run whose interpreter let the program exceed a limit. */
  #endBreach(breach: ErrorInfo): void {
    this.#end(breach, 0);
    this.#worker.retire(breach.message);
  }

  #kill(): void {
    this.#cpuMs = this.#clock.usedCpuMs ?? this.#cpuMs;
    this.#worker.kill();
  }

  #onResult(frame: ResultFrame): void {
    if (!this.#clock.announced && frame.result.ok) throw new WireError("a success came before 'started'");
    const { error } = frame.result;
    if (this.#verdict === null && error !== null && !isReportable(error))
      throw new WireError(`only the host reports ${error.code} of kind '${error.kind}'`);
    this.#measuring?.check(Math.min(frame.usage.fuel, this.#input.limits.fuel));
    const breach = this.#ledger.result(frame.result);
    if (breach !== null) {
      this.#endBreach(breach);
      return;
    }
    const usage = this.#ledger.usage(frame.usage, this.#clock.sinceSent);
    const { fuel, peakMemoryBytes, toolCalls, outputBytes } = usage;
    const result = { ...withVerdict(frame.result, this.#verdict), fuel, peakMemoryBytes, toolCalls, outputBytes };
    // Only now: a free worker tells nobody of its end, so an error above would leave the run without one.
    this.#worker.free();
    const { errors, findings, last } = frame;
    // The sandbox adds how long the run waited for its worker.
    this.#finish({ result, usage: { ...usage, queueMs: 0 }, errors, findings, outputComplete: !last });
  }

  #finish(result: SandboxResult, spoiled = false): void {
    if (this.#over) return;
    this.#over = true;
    this.#poll.onEnd();
    this.#clock.stop();
    this.#calls.stop();
    clearTimeout(this.#grace);
    if (this.#watched !== null) this.#watchdog.remove(this.#watched);
    this.#owner.onEnd(this.#measuring === null ? result : { ...result, measuring: this.#measuring }, spoiled);
  }
}
