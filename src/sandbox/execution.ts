import type { CallIo, ClosingReply, FinalReply } from '../wire/call.ts';
import { cancelledError, timeoutError, workerError } from '../wire/errorinfo.ts';
import { type ErrorInfo, WireError } from '../wire/errors.ts';
import { frameLimit, MAX_FRAME_VALUES } from '../wire/frames.ts';
import { probeBytes } from '../wire/heat.ts';
import { isHeavy } from '../wire/pieces.ts';
import type { GuestCall, GuestReply, OutFrame, RunInput, ToolGuestCall, WorkerFrame } from '../wire/protocol.ts';
import { messageOf } from '../wire/unknown.ts';
import { BusyPoll } from './busypoll.ts';
import { OpenCall } from './call.ts';
import { RunClock } from './clock.ts';
import type { TenantShare } from './jobqueue.ts';
import { Ledger } from './ledger.ts';
import { Measuring } from './measuring.ts';
import { crashError, isReportable, lostResult, type SandboxResult, withVerdict } from './result.ts';
import { answerTogether } from './together.ts';
import type { Watchdog, WatchedRun } from './watchdog.ts';
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

/** Bytes that the parser needs for a character of source at worst, garbage included. */
const PARSER_BYTES = 512;
/** Time for a program to end after its call was answered with `halt`. Afterwards its worker is killed. */
const HALT_MS = 50;
/** The same for a halt by a handler of the host, when no time limit is exceeded. */
const HANDLER_HALT_MS = 250;
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
  readonly #clock: RunClock;
  /** CPU time of the program, read just before its worker is killed. */
  #cpuMs: number | null = null;
  readonly #poll = new BusyPoll();
  #lastSeq = 0;
  readonly #ledger: Ledger;
  /** The worker's reports about a measured run. */
  readonly #measuring: Measuring | null;
  #call: OpenCall | null = null;
  /** The open call as the program made it. */
  #asked: GuestCall | null = null;
  /** Why the host ends the run. The worker's own report cannot change it. */
  #verdict: ErrorInfo | null = null;
  #over = false;
  /** The end of the worker, while the call that it left open goes on. */
  #gone: Gone | null = null;
  #toolTimer: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #watched: WatchedRun | null = null;

  constructor(init: {
    worker: WorkerProcess;
    id: number;
    input: RunInput;
    handlers: RunHandlers;
    owner: ExecutionOwner;
    watchdog: Watchdog;
  }) {
    this.#worker = init.worker;
    this.#id = init.id;
    this.#input = init.input;
    this.#ledger = new Ledger(init.input);
    this.#measuring = init.input.probe === undefined ? null : new Measuring(init.input);
    this.#handlers = init.handlers;
    this.#owner = init.owner;
    this.#watchdog = init.watchdog;
    this.#clock = new RunClock(init.worker, init.input, {
      onStarted: () => this.#notify(() => this.#handlers.onStarted?.()),
      onWatch: () => this.#watch(),
      onLate: (error) => this.#end(error, this.#call === null ? WALL_MS : HALT_MS),
    });
  }

  get marksKeys(): boolean {
    return this.#handlers.markedKeys === true;
  }

  /** Sends the run. Throws when the input cannot be sent; the worker is free then. */
  begin(): void {
    const { limits, mapKeys = Number.POSITIVE_INFINITY } = this.#input;
    this.#worker.assign(this, frameLimit(limits), MAX_FRAME_VALUES, mapKeys);
    this.#clock.begin();
    try {
      this.#worker.run(this.#id, this.#input);
    } catch (error) {
      this.#clock.stop();
      this.#worker.free();
      throw error;
    }
    this.#poll.onStart();
  }

  /** Ends the run with `ERR_CANCELLED`: at once while it computes; while it waits for a call, after the handler's signal. */
  cancel(message: string): void {
    this.#end(cancelledError(message), this.#call === null ? 0 : HALT_MS);
  }

  onFrame(frame: WorkerFrame, units: number): void {
    const { announced } = this.#clock;
    const free = announced && this.#call === null;
    if (frame.t === 'started' && frame.id === this.#id && !announced) this.#clock.announce();
    else if (frame.t === 'out' && free) this.#onOut(frame);
    else if ((frame.t === 'tool' || frame.t === 'prompt' || frame.t === 'ask') && free) this.#onCall(frame, units);
    else if (frame.t === 'probe' && free && this.#measuring !== null) this.#measuring.add(frame);
    else if (frame.t === 'together' && free) this.#onTogether(frame.calls, units);
    else if (frame.t === 'result' && frame.id === this.#id && this.#call === null) this.#onResult(frame);
    else if (frame.t !== 'var' || this.#call?.answered(frame) !== true)
      throw new WireError(`a frame '${frame.t}' came out of turn`);
  }

  /**
   * The worker has ended. A call that it left open goes on within its time, if the worker did nothing wrong: whatever its tool does is done,
   * and the journal must have it.
   */
  onGone(gone: Gone): void {
    if (this.#call === null || this.#verdict !== null || gone.violation !== null) {
      this.#lose(gone);
      return;
    }
    this.#gone = gone;
    this.#call.outlive();
  }

  #lose(gone: Gone): void {
    const { announced, started, elapsed } = this.#clock;
    const error = this.#verdict ?? crashError(gone, this.#input.limits.memoryBytes);
    this.#call?.lost(error);
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

  #onCall(call: GuestCall, units: number): void {
    this.#mustFollow(call);
    const breach = this.#ledger.call(call, units);
    if (breach !== null) {
      this.#endBreach(breach);
      return;
    }
    // The time of this run and the limits of the loop bound a nested loop. The time limit of one tool does not.
    const open = this.#open(call, call.t === 'ask' ? Number.POSITIVE_INFINITY : this.#input.limits.toolMs);
    if (open !== null) void this.#reply(open, () => this.#handlers.onCall(call, open));
  }

  #onTogether(calls: readonly ToolGuestCall[], units: number): void {
    for (const call of calls) this.#mustFollow(call);
    const [first] = calls;
    const breach = this.#ledger.together(calls, units);
    if (breach !== null) this.#endBreach(breach);
    if (breach !== null || first === undefined) return;
    const open = this.#open(first, this.#input.limits.toolMs);
    if (open === null) return;
    const answer = (call: ToolGuestCall, io: CallIo) => this.#handlers.onCall(call, io);
    const onEnded = (next: ToolGuestCall) => {
      if (this.#call === open) this.#asked = next;
    };
    void this.#reply(open, () => answerTogether(calls, open, answer, onEnded));
  }

  /** Throws {@link WireError} for a call that the interpreter cannot make now. */
  #mustFollow({ seq, at }: GuestCall): void {
    if (seq <= this.#lastSeq) throw new WireError(`call ${seq} came after call ${this.#lastSeq}`);
    if (!this.#ledger.knows(at, seq)) throw new WireError(`call ${seq} came from a fork that the run has not`);
    this.#lastSeq = seq;
  }

  /** Opens a call, or calls of which this is the first. Null when the run has ended and the call was halted. */
  #open(call: GuestCall, toolMs: number): OpenCall | null {
    this.#poll.onCall();
    const deadline = performance.now() + toolMs;
    const open = new OpenCall(
      (frame) => this.#send(frame),
      (reply) => this.#onReplied(reply),
      () => this.#clock.usedCpuMs,
      () => {
        const now = performance.now();
        if (now > deadline && this.#asked !== null) this.#endCall(this.#asked);
        this.#clock.check(now);
      },
      (cpuMs) => {
        const breach = this.#ledger.spend(cpuMs);
        if (breach !== null) this.#end(breach, HALT_MS);
      },
    );
    this.#call = open;
    this.#asked = call;
    this.#owner.onBlocked(true);
    if (this.#verdict !== null) {
      open.halt(this.#verdict);
      return null;
    }
    if (call.t !== 'ask') this.#startToolTimer(toolMs);
    return open;
  }

  /**
   * Starts the time of the open call. Every call restarts the same timer and none stops it, because making and clearing a timer takes as
   * long as a small tool. So the timer may fire while no call, or an `ask`, is open.
   */
  #startToolTimer(toolMs: number): void {
    if (this.#toolTimer !== undefined) {
      this.#toolTimer.refresh();
      return;
    }
    this.#toolTimer = setTimeout(() => {
      if (this.#asked !== null && this.#asked.t !== 'ask') this.#endCall(this.#asked);
    }, toolMs);
  }

  /** Ends the call of a tool whose time is over. */
  #endCall(call: GuestCall): void {
    const { toolMs } = this.#input.limits;
    const message = `${call.t === 'tool' ? call.name : call.t} did not answer within ${toolMs} ms`;
    this.#end(timeoutError({ limit: 'toolMs', allowed: toolMs, used: toolMs }, message), HALT_MS);
  }

  async #reply(open: OpenCall, answer: () => Promise<ClosingReply>): Promise<void> {
    let reply: ClosingReply;
    try {
      reply = await answer();
    } catch (error) {
      reply = { t: 'halt', error: workerError(`the host's handler of a call failed: ${messageOf(error)}`) };
    }
    if (!open.over && 'spent' in reply && reply.spent !== undefined) this.#ledger.charge(reply.spent);
    if (!open.over && 'work' in reply && reply.work !== undefined) this.#ledger.chargeWork(reply.work);
    open.reply(reply);
  }

  /** Sends a frame. An answer that is too large for a frame or that JSON cannot hold ends the run. */
  #send(frame: GuestReply): void {
    try {
      if (isHeavy(frame)) void this.#worker.sendInPieces(frame).catch((error: unknown) => this.#unsent(error));
      else this.#worker.send(frame);
    } catch (error) {
      this.#unsent(error);
    }
  }

  #unsent(error: unknown): void {
    this.#end(workerError(`the answer to a call cannot be sent: ${messageOf(error)}`), 0);
  }

  #onReplied(reply: ClosingReply): void {
    this.#call = null;
    this.#owner.onBlocked(false);
    if (reply.t === 'halt') this.#end(reply.error, HANDLER_HALT_MS);
    else this.#poll.onAnswer();
    this.#asked = null;
    if (this.#gone !== null) this.#lose(this.#gone);
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
    const at = this.#asked?.at;
    this.#verdict = at === undefined ? verdict : { ...verdict, source: at.source, line: at.line, column: at.column };
    this.#call?.halt(this.#verdict);
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
    for (const timer of [this.#toolTimer, this.#grace]) clearTimeout(timer);
    if (this.#watched !== null) this.#watchdog.remove(this.#watched);
    this.#owner.onEnd(this.#measuring === null ? result : { ...result, measuring: this.#measuring }, spoiled);
  }
}
