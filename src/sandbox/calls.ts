import type { CallIo, ClosingReply, FinalReply } from '../wire/call.ts';
import { timeoutError, workerError } from '../wire/errorinfo.ts';
import { type ErrorInfo, WireError } from '../wire/errors.ts';
import { isHeavy } from '../wire/pieces.ts';
import type { GuestCall, GuestReply, RunInput, ToolGuestCall } from '../wire/protocol.ts';
import { messageOf } from '../wire/unknown.ts';
import type { BusyPoll } from './busypoll.ts';
import { type CallHost, OpenCall } from './call.ts';
import { CallTimes } from './calltimes.ts';
import type { RunClock } from './clock.ts';
import type { Ledger } from './ledger.ts';
import { answerTogether } from './together.ts';
import type { WorkerProcess } from './worker.ts';

/** The run whose calls these are. */
interface CallsOwner {
  /** Why the host ends the run; null while it goes on. */
  verdict(): ErrorInfo | null;
  /** Ends the run with this error, and its worker after this time; at once when it is 0. */
  end(verdict: ErrorInfo, graceMs: number): void;
  /** Ends a run whose interpreter let the program exceed a limit. */
  endBreach(breach: ErrorInfo): void;
  /** The worker begins or ends waiting for the host. */
  onBlocked(blocked: boolean): void;
  /** A call has got its answer, and none is open. */
  onReplied(): void;
}

/** What the calls of a run need of its host. */
interface CallsInit {
  readonly worker: WorkerProcess;
  readonly input: RunInput;
  /** Answers a call, as `RunHandlers` does. */
  readonly handlers: { onCall(call: GuestCall, io: CallIo): Promise<FinalReply> };
  readonly ledger: Ledger;
  readonly clock: RunClock;
  readonly poll: BusyPoll;
  readonly owner: CallsOwner;
}

/** Time for a program to end after its call was answered with `halt`. Afterwards its worker is killed. */
export const HALT_MS = 50;
/** The same for a halt by a handler of the host, when no time limit is exceeded. */
const HANDLER_HALT_MS = 250;

/** The calls of one run, one after another: their order, their limits, their time and their answers. */
export class Calls {
  readonly #init: CallsInit;
  #lastSeq = 0;
  #open: OpenCall | null = null;
  readonly #times: CallTimes;
  /** What all calls of the run share. */
  readonly #host: CallHost;
  /** Whether the open call is an `ask`, which is charged what it used. */
  #asks = false;
  /** A call whose time is over. */
  #late: GuestCall | null = null;

  constructor(init: CallsInit) {
    this.#init = init;
    const times = new CallTimes(init.input.limits.toolMs, (call) => this.#endCall(call));
    const { clock, ledger, owner } = init;
    const endBy = (breach: ErrorInfo | null): void => {
      if (breach !== null) owner.end(breach, HALT_MS);
    };
    this.#times = times;
    this.#host = {
      send: (frame) => this.#send(frame),
      closed: (reply) => this.#onReplied(reply),
      cpuMs: () => (clock.usedCpuMs ?? 0) + ledger.nestedCpuMs,
      expire: () => {
        const now = performance.now();
        times.check(now);
        clock.check(now);
      },
      spend: (cpuMs) => endBy(ledger.spend(cpuMs)),
      work: (fuel) => endBy(ledger.work(fuel)),
    };
  }

  /** The open call; null without one. */
  get open(): OpenCall | null {
    return this.#open;
  }

  /** Where the program made the open call. */
  get at(): GuestCall['at'] | undefined {
    return (this.#late ?? this.#times.first)?.at;
  }

  /** Stops the time of the open call. */
  stop(): void {
    this.#times.stop();
  }

  /** Handles a call of the program. Throws {@link WireError} for one that the interpreter cannot make now. */
  onCall(call: GuestCall, units: number): void {
    const { handlers, ledger, owner } = this.#init;
    this.#mustFollow(call);
    const breach = ledger.call(call, units);
    if (breach !== null) {
      owner.endBreach(breach);
      return;
    }
    const open = this.#begin([call]);
    if (open !== null) void this.#reply(open, () => handlers.onCall(call, open));
  }

  /** Handles calls that run together. Throws as {@link onCall}. */
  onTogether(calls: readonly ToolGuestCall[], units: number): void {
    const { handlers, ledger, owner } = this.#init;
    for (const call of calls) this.#mustFollow(call);
    const breach = ledger.together(calls, units);
    if (breach !== null) owner.endBreach(breach);
    if (breach !== null || calls.length === 0) return;
    const open = this.#begin(calls);
    if (open === null) return;
    const answer = (call: ToolGuestCall, io: CallIo) => handlers.onCall(call, io);
    void this.#reply(open, () => answerTogether(calls, open, answer, this.#times));
  }

  /** Throws {@link WireError} for a call that the interpreter cannot make now. */
  #mustFollow({ seq, at }: GuestCall): void {
    if (seq <= this.#lastSeq) throw new WireError(`call ${seq} came after call ${this.#lastSeq}`);
    if (!this.#init.ledger.knows(at, seq)) throw new WireError(`call ${seq} came from a fork that the run has not`);
    this.#lastSeq = seq;
  }

  /** Opens a call, or calls that run together. Null when the run has ended and the call was halted. */
  #begin(calls: readonly GuestCall[]): OpenCall | null {
    const { poll, owner } = this.#init;
    poll.onCall();
    const open = new OpenCall(this.#host);
    this.#open = open;
    // The time of this run and the limits of the loop bound a nested loop. The time limit of one tool does not.
    this.#asks = calls[0]?.t === 'ask';
    this.#times.begin(calls, !this.#asks);
    owner.onBlocked(true);
    const verdict = owner.verdict();
    if (verdict !== null) {
      open.halt(verdict);
      return null;
    }
    return open;
  }

  /** Ends the call of a tool whose time is over. */
  #endCall(call: GuestCall): void {
    const { toolMs } = this.#init.input.limits;
    this.#late ??= call;
    const message = `${call.t === 'tool' ? call.name : call.t} did not answer within ${toolMs} ms`;
    this.#init.owner.end(timeoutError({ limit: 'toolMs', allowed: toolMs, used: toolMs }, message), HALT_MS);
  }

  async #reply(open: OpenCall, answer: () => Promise<ClosingReply>): Promise<void> {
    const { ledger } = this.#init;
    let reply: ClosingReply;
    try {
      reply = await answer();
      if (!open.over && 'spent' in reply && reply.spent !== undefined) ledger.charge(reply.spent);
    } catch (error) {
      reply = { t: 'halt', error: workerError(`the host's handler of a call failed: ${messageOf(error)}`) };
    }
    if (!open.over) ledger.chargeWork('work' in reply ? (reply.work ?? 0) : 0);
    open.reply(reply);
  }

  /** Sends a frame. An answer that is too large for a frame or that JSON cannot hold ends the run. */
  #send(frame: GuestReply): void {
    const { worker } = this.#init;
    try {
      if (isHeavy(frame)) void worker.sendInPieces(frame).catch((error: unknown) => this.#unsent(error));
      else worker.send(frame);
    } catch (error) {
      this.#unsent(error);
    }
  }

  #unsent(error: unknown): void {
    this.#init.owner.end(workerError(`the answer to a call cannot be sent: ${messageOf(error)}`), 0);
  }

  #onReplied(reply: ClosingReply): void {
    const { ledger, poll, owner } = this.#init;
    this.#open = null;
    if (reply.t === 'halt' && reply.error.limit === 'fuel' && !this.#asks) ledger.exhaust();
    owner.onBlocked(false);
    if (reply.t === 'halt') owner.end(reply.error, HANDLER_HALT_MS);
    else poll.onAnswer();
    this.#times.clear();
    owner.onReplied();
  }
}
