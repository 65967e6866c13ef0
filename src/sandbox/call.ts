import type { CallIo, ClosingReply } from '../wire/call.ts';
import { LazyAbort } from '../wire/cancellation.ts';
import { type ErrorInfo, RuntimeClosedError } from '../wire/errors.ts';
import type { ForkQuery } from '../wire/journal.ts';
import type { GuestReply, TaggedJson, WorkerFrame } from '../wire/protocol.ts';

type VarFrame = Extract<WorkerFrame, { t: 'var' }>;

const OVER = 'the call is over: its variables can no longer be reached';

/** The run that has an open call: its program, its counters and its clocks. */
export interface CallHost extends Pick<CallIo, 'cpuMs' | 'spend' | 'work'> {
  /** Sends a frame to the program. */
  send(frame: GuestReply): void;
  /** Called once for each call, after its answer was sent. */
  closed(reply: ClosingReply): void;
  /** Ends the call if a deadline has passed, because a tool that never yields keeps timers from firing. */
  expire?(): void;
}

/**
 * One open call of a program. One side sends at a time: queries of variables are sent one after another, even if a handler makes several
 * at once, and the answer is sent after the last one.
 */
export class OpenCall implements CallIo {
  readonly #host: CallHost;
  readonly #abort = new LazyAbort();
  readonly #waiting: { readonly query: ForkQuery; readonly answer: PromiseWithResolvers<VarFrame> }[] = [];
  readonly #queries: ForkQuery[] = [];
  #reply: ClosingReply | null = null;
  #accepted = false;
  #over = false;
  #outlives = false;

  constructor(host: CallHost) {
    this.#host = host;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * Whether the call has ended. Checks the deadlines first, so that the journal does not record a late answer that the script never got.
   */
  get over(): boolean {
    if (!this.#abort.aborted && this.#reply === null && !this.#accepted) this.#host.expire?.();
    return this.#abort.aborted;
  }

  accept(): boolean {
    this.#accepted = !this.over;
    return this.#accepted;
  }

  whenOver(callback: () => void): () => void {
    if (this.over) callback();
    else this.#abort.addEventListener('abort', callback);
    return () => this.#abort.removeEventListener('abort', callback);
  }

  cpuMs(): number | null {
    return this.#host.cpuMs?.() ?? null;
  }

  spend(cpuMs: number): void {
    this.#host.spend?.(cpuMs);
  }

  work(fuel: number): void {
    this.#host.work?.(fuel);
  }

  get queries(): readonly ForkQuery[] {
    return this.#queries;
  }

  async repeat(query: ForkQuery): Promise<void> {
    await this.#ask(query);
  }

  async getVar(name: string): Promise<{ found: boolean; value: TaggedJson }> {
    const { found, value } = await this.#ask({ t: 'var.get', name });
    return { found, value };
  }

  async setVar(name: string, value: TaggedJson): Promise<string | null> {
    return (await this.#ask({ t: 'var.set', name, value })).error;
  }

  async defineConst(name: string, value: TaggedJson, redefine: boolean): Promise<string | null> {
    return (await this.#ask({ t: 'const', name, value, redefine })).error;
  }

  /** Answers the call. Only the first answer counts. */
  reply(reply: ClosingReply): void {
    if (this.#over || this.#reply !== null) return;
    this.#reply = reply;
    if (this.#waiting.length === 0) this.#close();
  }

  /** Ends the call before its answer: aborts the handler's signal and sends `halt` to the program. */
  halt(error: ErrorInfo): void {
    if (this.#over) return;
    this.#reply = { t: 'halt', error };
    this.#abort.abort(error);
    const [open, ...rest] = this.#waiting.splice(0);
    for (const { answer } of rest) answer.reject(new RuntimeClosedError(OVER));
    if (open === undefined) this.#close();
    else this.#waiting.push(open);
  }

  /** Ends the call of a worker that is gone. No answer is sent. */
  lost(error: ErrorInfo): void {
    if (this.#over) return;
    this.#over = true;
    this.#abort.abort(error);
    for (const { answer } of this.#waiting.splice(0)) answer.reject(new RuntimeClosedError(OVER));
  }

  /** The worker is gone, and the call goes on to its answer. Its questions of the program fail, and no answer is sent. */
  outlive(): void {
    this.#outlives = true;
    for (const { answer } of this.#waiting.splice(0)) answer.reject(new RuntimeClosedError(OVER));
    this.#close();
  }

  /** The worker has answered a question. Returns false when no question is open. */
  answered(frame: VarFrame): boolean {
    const open = this.#waiting.shift();
    if (open === undefined) return false;
    open.answer.resolve(frame);
    const next = this.#waiting[0];
    if (next !== undefined) this.#put(next.query);
    else if (this.#reply !== null) this.#close();
    return true;
  }

  async #ask(query: ForkQuery): Promise<VarFrame> {
    if (this.#over || this.#outlives || this.#reply !== null) throw new RuntimeClosedError(OVER);
    const answer = Promise.withResolvers<VarFrame>();
    this.#waiting.push({ query, answer });
    if (this.#waiting.length === 1) this.#put(query);
    return answer.promise;
  }

  #put(query: ForkQuery): void {
    this.#queries.push(query);
    this.#host.send(query);
  }

  #close(): void {
    const reply = this.#reply;
    if (reply === null) return;
    this.#over = true;
    if (!this.#outlives) this.#host.send(reply);
    this.#host.closed(reply);
  }
}
