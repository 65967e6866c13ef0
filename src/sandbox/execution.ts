import type { FinalReply } from '../wire/call.ts';
import { cancelledError, timeoutError, workerError } from '../wire/errorinfo.ts';
import { type ErrorInfo, WireError } from '../wire/errors.ts';
import { frameLimit } from '../wire/frames.ts';
import type { CallSite, GuestCall, HostFrame, OutFrame, RunInput, WorkerFrame } from '../wire/protocol.ts';
import { Vigil } from './busypoll.ts';
import { OpenCall } from './call.ts';
import { RunClock } from './clock.ts';
import type { RunHandlers, SandboxResult } from './handlers.ts';
import { diedOf, lostResult, messageOf, withVerdict } from './outcome.ts';
import { watchedRun } from './overuse.ts';
import type { Watchdog, Watched } from './watchdog.ts';
import type { Gone, WorkerProcess, WorkerTask } from './worker.ts';

type ResultFrame = Extract<WorkerFrame, { t: 'result' }>;

/** What the pool wants to know of a run on one of its workers. */
export interface ExecutionOwner {
  /** The worker waits for the host, or goes on. */
  onBlocked(blocked: boolean): void;
  /** Called once. */
  onEnd(result: SandboxResult): void;
}

/** What the parser takes at worst for a character of source, garbage included. */
const PARSER_BYTES = 512;
/** How long a program may take to end once its call was answered with `halt`, before its worker is killed. */
const HALT_MS = 50;
/** The same when the host's own handler halted it, where no clock is running out. */
const REFUSED_MS = 250;
/** How long the interpreter may take to notice by itself that its wall time is over. */
const WALL_MS = 20;

/**
 * One run on one worker, from its `run` frame to its end. Whatever happens on the way is turned into one result; the order of
 * frames is enforced, and time, memory, cancellation and death of the worker end it.
 */
export class Execution implements WorkerTask {
  readonly #worker: WorkerProcess;
  readonly #input: RunInput;
  readonly #handlers: RunHandlers;
  readonly #signal: AbortSignal | undefined;
  readonly #owner: ExecutionOwner;
  readonly #watchdog: Watchdog;
  readonly #id: number;
  readonly #onAbort = (): void => this.cancel('the run was cancelled');
  readonly #clock: RunClock;
  /** CPU time of the program when its worker was killed. */
  #cpuMs: number | null = null;
  readonly #vigil = new Vigil();
  #lastSeq = 0;
  #calls = 0;
  /** What nested loops used up that this run was charged. */
  readonly #paid = { fuel: 0, toolCalls: 0, cpuMs: 0 };
  #outputBytes = 0;
  #call: OpenCall | null = null;
  /** Where in the program the open call stands. */
  #at: CallSite | null = null;
  /** Why the host ends the run; the worker's own account cannot change it. */
  #verdict: ErrorInfo | null = null;
  #over = false;
  #toolTimer: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #watched: Watched | null = null;

  constructor(init: {
    worker: WorkerProcess;
    id: number;
    input: RunInput;
    handlers: RunHandlers;
    signal: AbortSignal | undefined;
    owner: ExecutionOwner;
    watchdog: Watchdog;
  }) {
    this.#worker = init.worker;
    this.#id = init.id;
    this.#input = init.input;
    this.#handlers = init.handlers;
    this.#signal = init.signal;
    this.#owner = init.owner;
    this.#watchdog = init.watchdog;
    this.#clock = new RunClock(init.worker, init.input, {
      onStarted: () => this.#hand(() => this.#handlers.onStarted?.()),
      onWatch: () => this.#watch(),
      onLate: (error) => this.#end(error, this.#call === null ? WALL_MS : HALT_MS),
    });
  }

  /** Throws, without having begun, when the input cannot be sent. */
  begin(): void {
    this.#worker.assign(this, frameLimit(this.#input.limits));
    try {
      this.#worker.run(this.#id, this.#input);
    } catch (error) {
      this.#worker.free();
      throw error;
    }
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#vigil.start();
    this.#clock.begin();
  }

  /** Ends the run with `ERR_CANCELLED`: at once while it computes, after its handler's signal while it waits for a call. */
  cancel(message: string): void {
    this.#end(cancelledError(message), this.#call === null ? 0 : HALT_MS);
  }

  onFrame(frame: WorkerFrame): void {
    const { told } = this.#clock;
    const free = told && this.#call === null;
    if (frame.t === 'started' && frame.id === this.#id && !told) this.#clock.tell();
    else if (frame.t === 'out' && free) this.#onOut(frame);
    else if ((frame.t === 'tool' || frame.t === 'prompt' || frame.t === 'ask') && free) this.#onCall(frame);
    else if (frame.t === 'result' && frame.id === this.#id && this.#call === null) this.#onResult(frame);
    else if (frame.t !== 'var' || this.#call?.answered(frame) !== true)
      throw new WireError(`a frame '${frame.t}' came out of turn`);
  }

  onGone(gone: Gone): void {
    const { started, elapsed } = this.#clock;
    const error = this.#verdict ?? diedOf(gone, this.#input.limits.memoryBytes);
    this.#call?.lost(error);
    const [phase, wallMs] = started ? (['exec', elapsed] as const) : (['parse', 0] as const);
    const { fuel, cpuMs: nested } = this.#paid;
    const cpuMs = (this.#cpuMs ?? wallMs) + nested;
    this.#finish(lostResult(phase, error, { fuel, wallMs, cpuMs, toolCalls: this.#toolCalls, outputBytes: this.#outputBytes }));
  }

  #watch(): void {
    const { meter } = this.#worker;
    const rss = meter?.rssBytes() ?? null;
    if (meter === null || rss === null) return;
    const { before, told, sourceChars } = this.#clock;
    const parsed = (before.rssBytes ?? rss) + sourceChars * PARSER_BYTES;
    // By the time that it is told of the program may have grown already.
    const base = told ? Math.min(rss, parsed) : parsed;
    if (told) this.#worker.restRss = rss;
    if (this.#watched !== null) this.#watchdog.remove(this.#watched);
    this.#watched = watchedRun(meter, base, {
      limits: this.#input.limits,
      sourceChars,
      startCpuMs: () => this.#clock.startCpuMs,
      calls: () => this.#calls,
      nestedCpuMs: () => this.#paid.cpuMs,
      end: (error) => this.#end(error, 0),
    });
    this.#watchdog.add(this.#watched);
  }

  #onOut(frame: OutFrame): void {
    for (const text of frame.emits) this.#outputBytes += Buffer.byteLength(text, 'utf8') + 1;
    this.#hand(() => this.#handlers.onOut(frame));
  }

  #onCall(call: GuestCall): void {
    if (call.seq <= this.#lastSeq) throw new WireError(`call ${call.seq} came after call ${this.#lastSeq}`);
    this.#lastSeq = call.seq;
    this.#vigil.end();
    if (call.t === 'tool') this.#calls++;
    const open = new OpenCall(
      (frame) => this.#send(frame),
      (reply) => this.#onReplied(reply),
      () => this.#clock.usedCpuMs,
    );
    this.#call = open;
    this.#at = call.at;
    this.#owner.onBlocked(true);
    if (this.#verdict !== null) {
      open.halt(this.#verdict);
      return;
    }
    // A nested loop is bounded by the time of this run and by its own, not by that of one tool.
    if (call.t !== 'ask') this.#startToolTimer(call);
    void this.#answer(call, open);
  }

  #startToolTimer(call: Exclude<GuestCall, { t: 'ask' }>): void {
    const { toolMs } = this.#input.limits;
    this.#toolTimer = setTimeout(() => {
      const name = call.t === 'tool' ? call.name : call.t;
      const message = `${name} did not answer within ${toolMs} ms`;
      this.#end(timeoutError({ limit: 'toolMs', allowed: toolMs, used: toolMs }, message), HALT_MS);
    }, toolMs);
  }

  async #answer(call: GuestCall, open: OpenCall): Promise<void> {
    let reply: FinalReply;
    try {
      reply = await this.#handlers.onCall(call, open);
    } catch (error) {
      reply = { t: 'halt', error: workerError(`the host's handler of a call failed: ${messageOf(error)}`) };
    }
    if (!open.over) this.#charge(reply);
    open.reply(reply);
  }

  #charge(reply: FinalReply): void {
    if (reply.t === 'halt' || reply.spent === undefined) return;
    const { fuel, toolCalls, cpuMs } = reply.spent;
    this.#paid.fuel += fuel;
    this.#paid.toolCalls += toolCalls;
    this.#paid.cpuMs += cpuMs;
  }

  /** Tool calls that the host has seen, those of nested loops included. */
  get #toolCalls(): number {
    return this.#calls + this.#paid.toolCalls;
  }

  /** An answer may be too large for any frame, or hold what JSON cannot. */
  #send(frame: HostFrame): void {
    try {
      this.#worker.send(frame);
    } catch (error) {
      this.#end(workerError(`the answer to a call cannot be sent: ${messageOf(error)}`), 0);
    }
  }

  #onReplied(reply: FinalReply): void {
    clearTimeout(this.#toolTimer);
    this.#call = null;
    this.#owner.onBlocked(false);
    if (reply.t === 'halt') this.#end(reply.error, REFUSED_MS);
    else this.#vigil.begin();
    this.#at = null;
  }

  /** Calls a handler of the host; one that throws ends the run, not the host. */
  #hand(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#end(workerError(`the host's handler of output failed: ${messageOf(error)}`), 0);
    }
  }

  /** Decides that the run ends with this error. The first decision counts. With no grace the worker is killed at once. */
  #end(verdict: ErrorInfo, graceMs: number): void {
    if (this.#over || this.#verdict !== null) return;
    const place = this.#at === null ? {} : { source: this.#at.source, line: this.#at.line, column: this.#at.column };
    this.#verdict = { ...verdict, ...place };
    this.#stopTimers();
    this.#call?.halt(this.#verdict);
    if (graceMs === 0) this.#kill();
    else this.#grace = setTimeout(() => this.#kill(), graceMs);
  }

  #kill(): void {
    this.#cpuMs = this.#clock.usedCpuMs ?? this.#cpuMs;
    this.#worker.kill();
  }

  #onResult(frame: ResultFrame): void {
    if (!this.#clock.told && frame.result.ok) throw new WireError("a success came before 'started'");
    this.#worker.free();
    const { result, errors } = frame;
    // What the host has charged itself holds, whatever is left of the worker's account.
    const fuel = Math.max(frame.usage.fuel, this.#paid.fuel);
    const usage = { ...frame.usage, fuel, toolCalls: Math.max(frame.usage.toolCalls, this.#toolCalls) };
    this.#finish({ result: withVerdict(result, this.#verdict), usage, errors, outputComplete: !frame.last });
  }

  #finish(result: SandboxResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#vigil.stop();
    this.#stopTimers();
    clearTimeout(this.#grace);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#owner.onEnd(result);
  }

  #stopTimers(): void {
    this.#clock.stop();
    clearTimeout(this.#toolTimer);
    if (this.#watched !== null) this.#watchdog.remove(this.#watched);
    this.#watched = null;
  }
}
