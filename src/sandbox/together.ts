import type { CallIo, ClosingReply, FinalReply } from '../wire/call.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { ForkQuery } from '../wire/journal.ts';
import type { BranchEnd, TaggedJson, ToolGuestCall } from '../wire/protocol.ts';
import type { OpenCall } from './call.ts';
import type { CallTimes } from './calltimes.ts';

const WRITES_NOTHING = 'a call that runs together with others cannot set variables or constants of the program';

/**
 * Access to the fork of one call among several that run together. It may read the program's variables and change none: two branches
 * that write would make the result depend on which of them is faster.
 */
class Branch implements CallIo {
  readonly #open: OpenCall;
  readonly #queries: ForkQuery[] = [];
  readonly postpone: () => () => void;
  #ended = false;

  constructor(open: OpenCall, postpone: () => () => void) {
    this.#open = open;
    this.postpone = postpone;
  }

  get signal(): AbortSignal {
    return this.#open.signal;
  }

  get over(): boolean {
    return !this.#ended && this.#open.over;
  }

  accept(): boolean {
    this.#ended = !this.#open.over;
    return this.#ended;
  }

  whenOver(callback: () => void): () => void {
    return this.#open.whenOver(callback);
  }

  cpuMs(): number | null {
    return this.#open.cpuMs();
  }

  spend(cpuMs: number): void {
    this.#open.spend(cpuMs);
  }

  work(fuel: number): void {
    this.#open.work(fuel);
  }

  get queries(): readonly ForkQuery[] {
    return this.#queries;
  }

  async repeat(query: ForkQuery): Promise<void> {
    this.#queries.push(query);
    await this.#open.repeat(query);
  }

  async getVar(name: string): Promise<{ found: boolean; value: TaggedJson }> {
    this.#queries.push({ t: 'var.get', name });
    return this.#open.getVar(name);
  }

  async setVar(): Promise<string> {
    return WRITES_NOTHING;
  }

  async defineConst(): Promise<string> {
    return WRITES_NOTHING;
  }
}

const UNTIMED = { postpone: () => () => {}, end: () => {} };

/** Answers one call. */
type Answer = (call: ToolGuestCall, io: CallIo) => Promise<FinalReply>;

/**
 * Answers calls that run together. All begin in the order of the program, at once if their results have room, and all run to their end
 * even if one fails. Only the breach of a quota ends the others: they would add to it. `open` is their common open call; `times` has the
 * time of each, where calls have a time.
 */
export async function answerTogether(
  calls: readonly ToolGuestCall[],
  open: OpenCall,
  answer: Answer,
  times: Pick<CallTimes, 'postpone' | 'end'> = UNTIMED,
): Promise<ClosingReply> {
  const replies = await Promise.all(
    calls.map(async (call) => {
      const reply = await answer(call, new Branch(open, () => times.postpone(call)));
      times.end(call);
      if (reply.t === 'halt' && reply.error.kind === 'quota') open.halt(reply.error);
      return reply;
    }),
  );
  return joined(replies);
}

/** The one answer to calls that ran together. A halt ends the run. A suspension yields to any other halt. */
function joined(replies: readonly FinalReply[]): ClosingReply {
  const ends: BranchEnd[] = [];
  let halted: ErrorInfo | null = null;
  let work = 0;
  for (const reply of replies) {
    if (reply.t !== 'halt') work += reply.work ?? 0;
    if (reply.t === 'ok') ends.push({ value: reply.value, labels: reply.labels });
    else if (reply.t === 'error') ends.push({ code: reply.code, message: reply.message, hint: reply.hint, labels: reply.labels });
    else if (halted === null || (halted.code === 'ERR_SUSPENDED' && reply.error.code !== 'ERR_SUSPENDED')) halted = reply.error;
  }
  return halted === null ? { t: 'all', ends, ...(work === 0 ? {} : { work }) } : { t: 'halt', error: halted };
}
