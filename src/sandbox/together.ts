import type { CallIo, ClosingReply, FinalReply } from '../wire/call.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { ForkQuery } from '../wire/journal.ts';
import type { BranchEnd, TaggedJson, ToolGuestCall } from '../wire/protocol.ts';
import type { OpenCall } from './call.ts';

const WRITES_NOTHING = 'a call that runs together with others cannot set variables or constants of the program';

/**
 * Access to the fork of one call among several that run together. It may read the program's variables and change none: two branches
 * that write would make the result depend on which of them is faster.
 */
class Branch implements CallIo {
  readonly #open: OpenCall;
  readonly #queries: ForkQuery[] = [];
  #ended = false;

  constructor(open: OpenCall) {
    this.#open = open;
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

/** Answers one call. */
type Answer = (call: ToolGuestCall, io: CallIo) => Promise<FinalReply>;

/**
 * Answers calls that run together. All begin at once, in the order of the program, and all run to their end even if one fails. Only the
 * breach of a quota ends the others: they would add to it. `open` is their common open call; when a call has ended, `onEnded` receives
 * the first call that is still open.
 */
export async function answerTogether(
  calls: readonly ToolGuestCall[],
  open: OpenCall,
  answer: Answer,
  onEnded: (next: ToolGuestCall) => void,
): Promise<ClosingReply> {
  const left = new Set(calls);
  const replies = await Promise.all(
    calls.map(async (call) => {
      const reply = await answer(call, new Branch(open));
      left.delete(call);
      if (reply.t === 'halt' && reply.error.kind === 'quota') open.halt(reply.error);
      for (const next of left) {
        onEnded(next);
        break;
      }
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
    if (reply.t === 'ok') ends.push({ value: reply.value });
    else if (reply.t === 'error') ends.push({ code: reply.code, message: reply.message, hint: reply.hint });
    else if (halted === null || (halted.code === 'ERR_SUSPENDED' && reply.error.code !== 'ERR_SUSPENDED')) halted = reply.error;
  }
  return halted === null ? { t: 'all', ends, ...(work === 0 ? {} : { work }) } : { t: 'halt', error: halted };
}
