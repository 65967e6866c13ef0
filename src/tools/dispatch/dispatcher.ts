import { turnStorage } from '../../context/index.ts';
import type { CallIo, FinalReply } from '../../wire/call.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError, effectChangedError, shorten, suspendedError, workerError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { ASK, type EarlierCall, type ForkQuery, type JournalEntry, PROMPT, type WaitingCall } from '../../wire/journal.ts';
import { isHeavy } from '../../wire/pieces.ts';
import type { CallSite, GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { errorOf } from '../../wire/unknown.ts';
import { ToolError } from '../errors.ts';
import { canonicalName } from '../names.ts';
import { Pending } from '../pending.ts';
import { Asks } from './asks.ts';
import { onBehalfOfCall, unlessOver } from './callscope.ts';
import { type DispatchContext, notify } from './context.ts';
import { type CallHold, HostHold } from './hold.ts';
import { CallJournal, elapsed } from './journal.ts';
import type { CallKeeper } from './keeper.ts';
import { textOf } from './large.ts';
import { replyFor } from './outcome.ts';
import { promptUser } from './prompt.ts';
import { CallQuotas } from './quotas.ts';
import { type Completed, type Known, replyOf } from './recorded.ts';
import { Suspended, suspendPrompt } from './suspended.ts';
import { callTool } from './toolcall.ts';

/**
 * Answers the calls of one run: tool calls, prompts and asks. Each call of a script goes through the same steps: it enters the
 * journal, a recorded answer is repeated or a new one is made, and the answer enters the journal.
 */
export class Dispatcher {
  readonly #context: DispatchContext;
  readonly #quotas: CallQuotas;
  readonly #holds: HostHold;
  readonly #journal: CallJournal;
  readonly #asks: Asks;
  readonly #waiting: WaitingCall[] = [];
  /** Places of calls that follow an earlier attempt, by the numbers of the calls. */
  readonly #places = new Map<number, string>();

  constructor(context: DispatchContext) {
    this.#context = context;
    this.#quotas = new CallQuotas(context.limits, context.earlier?.made);
    this.#holds = new HostHold(this.#quotas);
    const { onCall } = context;
    this.#journal = new CallJournal(onCall === undefined ? null : (entry) => notify(context, 'onCall', () => onCall(entry)));
    this.#asks = new Asks(context.ask, this.#quotas);
  }

  /** Answers one call of a script. Never rejects: the failure of a tool is an answer. */
  async handle(call: GuestCall, io: CallIo): Promise<FinalReply> {
    this.#journal.open(call, io);
    const text = isHeavy(call) ? await textOf(call) : JSON.stringify(call);
    const breach = this.#quotas.countJournalBytes(this.#journal.pack(call, text));
    // A recorded call counts too, and gets the answer that it had.
    const outside = this.#outside(call);
    const known = this.#context.recorded?.known(call) ?? this.#context.earlier?.known(call) ?? null;
    const isTaken = known?.t === 'taken' || (known?.t === 'recorded' && known.entry.from !== undefined);
    const { earlier } = this.#context;
    if (call.t === 'tool' && earlier !== undefined && !isTaken) this.#places.set(call.seq, earlier.placeOf(call));
    if (known?.t === 'recorded') return this.#repeat(call, known.entry, io);
    if (known?.t === 'taken' && outside === null && breach === null) return this.#take(call, known, io);
    if (known?.t === 'answer' && known.reply.t === 'halt') {
      // A recorded halt ends the run in any case, so it may exceed the limit of the journal.
      this.#journal.close(call, known.reply);
      return known.reply;
    }
    const make = (hold: CallHold): Promise<FinalReply> =>
      outside === null ? this.#answer(call, io, known, hold) : Promise.resolve(outside);
    const answer = breach === null ? await this.#withinJournal(call, make) : halt(breach);
    const { keeper } = this.#context;
    const reply = keeper === undefined ? answer : await this.#kept(call, answer, keeper);
    if (this.#isWaiting(call)) {
      // A waiting call enters the journal when it is answered, in a later run.
      if (!io.over) this.#journal.drop(call);
      return reply;
    }
    return this.#close(call, reply, io);
  }

  /**
   * Completes the journal when the run is over. Unanswered calls end with `error`, which stopped the run; null means that the worker
   * ended the run.
   */
  finish(error: ErrorInfo | null): Pick<CallJournal, 'entries' | 'last'> {
    const halted = error ?? workerError('the run ended while the call was open');
    this.#journal.finish(halted, (call) => this.#asks.spentBy(call));
    return this.#journal;
  }

  /** Resolves when no nested loop of this run is left. */
  settled(): Promise<void> {
    return this.#asks.settled();
  }

  /** The calls at which the run was put aside, in the order of the program: several only when they ran together. */
  get waiting(): readonly WaitingCall[] {
    return this.#waiting.toSorted((a, b) => a.seq - b.seq);
  }

  /** Tool calls that took the answer of an earlier attempt. The journal counts: an answer that came too late was not taken. */
  get taken(): number {
    return this.#journal.entries.filter(({ kind, from }) => kind === 'tool' && from !== undefined).length;
  }

  #isWaiting({ seq }: GuestCall): boolean {
    return this.#waiting.some((waiting) => waiting.seq === seq);
  }

  /** The refusal of a call that was not foreseen, if the run is bound to a preview. */
  #outside(call: GuestCall): FinalReply | null {
    const { bound } = this.#context;
    if (bound === undefined) return null;
    const reason = bound.admit(...foreseenAs(call));
    return reason === null ? null : { t: 'error', code: NS_CODES.Policy, message: reason };
  }

  /** The answer, once it is stored. An answer that ends the run is not stored, because the end of the run is. */
  async #kept(call: GuestCall, reply: FinalReply, keeper: CallKeeper, origin?: EarlierCall): Promise<FinalReply> {
    if (reply.t === 'halt' || this.#isWaiting(call)) return reply;
    const entry = this.#journal.entryOf(call, reply, this.#asks.spentBy(call), origin);
    return entry === null ? reply : this.#whileActing(() => keeper.ended(entry), reply);
  }

  /** The reply if the work succeeds, else the halt of a run for which this process may not act any more. */
  async #whileActing<T extends FinalReply | null>(work: () => Promise<void>, reply: T): Promise<T | FinalReply> {
    try {
      await work();
      return reply;
    } catch (error) {
      this.#context.host.logger.error({ error }, 'a call could not be kept');
      return halt(cancelledError(CANNOT_ACT));
    }
  }

  /** Stores the beginning of a call that must not be repeated automatically. Null when the call may be made. */
  async #begin(call: GuestCall, completion: Completed | null, keeper: CallKeeper): Promise<FinalReply | null> {
    if (call.t === 'prompt') return null;
    if (call.t === 'ask') {
      const { seq, model, prompt, options, at } = call;
      return this.#whileActing(() => keeper.began(begun(seq, ASK, [model, prompt, options], at)), null);
    }
    const tool = this.#context.tools.lookup(call.name);
    // No tool runs for an answer that is the result itself, so there is nothing to store.
    if (tool === undefined || tool.idempotent || (completion !== null && tool.complete === null)) return null;
    return this.#whileActing(() => keeper.began(begun(call.seq, tool.canonicalName, call.args, call.at)), null);
  }

  /** Gives a recorded call its recorded answer, after the same queries to the fork. */
  async #repeat(call: GuestCall, entry: JournalEntry, io: CallIo): Promise<FinalReply> {
    const reply = replyOf(entry);
    // The quotas count a call where it was made, and it was made by an earlier attempt if its answer came from there.
    const calls = entry.kind === 'ask' ? (entry.spent?.toolCalls ?? 0) : Number(entry.kind === 'tool');
    if (entry.from === undefined) this.#quotas.countCallsElsewhere(calls);
    else this.#context.earlier?.take(entry.from);
    this.#quotas.countJournalBytes(this.#journal.answer(call, reply, await textOf(reply)));
    await repeatQueries(entry.asked ?? [], io);
    if (io.accept?.() ?? !io.over) this.#journal.repeat(call, entry);
    return reply;
  }

  /** Gives a call the answer of the same call of an earlier attempt. No tool runs, and no quota of calls counts it. */
  async #take(call: GuestCall, { entry, origin }: Known & { readonly t: 'taken' }, io: CallIo): Promise<FinalReply> {
    const { spent: _, ...reply }: FinalReply & { readonly spent?: unknown } = replyOf(entry);
    const breach = this.#quotas.countJournalBytes(this.#journal.answer(call, reply, await textOf(reply)));
    if (breach !== null) return this.#close(call, halt(breach), io);
    await repeatQueries(entry.asked ?? [], io);
    const { keeper } = this.#context;
    const kept = keeper === undefined ? reply : await this.#kept(call, reply, keeper, origin);
    return this.#close(call, kept, io, origin);
  }

  #close(call: GuestCall, reply: FinalReply, io: CallIo, origin?: EarlierCall): FinalReply {
    // An answer that comes too late never reaches the script: `finish` then records how the call really ended.
    if (io.accept?.() ?? !io.over) this.#journal.close(call, reply, this.#asks.spentBy(call), origin);
    return reply;
  }

  /** The answer, unless the journal would hold too much with it. */
  async #withinJournal(call: GuestCall, answer: (hold: CallHold) => Promise<FinalReply>): Promise<FinalReply> {
    const { turn, depth = 0 } = this.#context;
    const hold = this.#holds.begin();
    try {
      const made = await onBehalfOfCall(depth + 1, () => turnStorage.run(turn, answer, hold));
      const reply = made.t === 'halt' || hold.fuel === 0 ? made : { ...made, work: hold.fuel };
      const breach = this.#quotas.countJournalBytes(this.#journal.answer(call, reply, await textOf(reply)));
      return breach === null ? reply : halt(breach);
    } finally {
      hold.release();
    }
  }

  async #answer(call: GuestCall, io: CallIo, known: Known | null, hold: CallHold): Promise<FinalReply> {
    if (known?.t === 'answer') return known.reply;
    if (known?.t === 'changed') return this.#changed(call, known);
    if (known?.t === 'waits') {
      this.#waiting.push(known.waiting);
      return halt(suspendedError(`the answer to ${known.waiting.tool} has not come: ${known.waiting.reason}`));
    }
    if (!this.#context.turn.mayAct()) return halt(cancelledError(CANNOT_ACT));
    const completed = known?.t === 'completed' ? known : null;
    const { keeper } = this.#context;
    const refused = keeper === undefined ? null : await this.#begin(call, completed?.completion ?? null, keeper);
    if (refused !== null) return refused;
    const start = performance.now();
    try {
      if (completed !== null) await repeatQueries(completed.asked, io);
      // The process may have been stopped meanwhile, for longer than it may act.
      if (!this.#context.turn.mayAct()) return halt(cancelledError(CANNOT_ACT));
      const reply = await this.#make(call, io, completed?.completion ?? null, hold);
      const { breach } = this.#quotas;
      return breach === null || call.t === 'ask' ? reply : halt(breach);
    } catch (thrown) {
      const error = errorOf(thrown);
      const { breach } = this.#quotas;
      if (breach !== null) return halt(breach);
      if (error instanceof Suspended && call.t !== 'ask') this.#wait(call, error, io, start);
      return replyFor(error);
    }
  }

  async #make(call: GuestCall, io: CallIo, completion: Completed | null, hold: CallHold): Promise<FinalReply> {
    switch (call.t) {
      case 'ask':
        return completion === null ? this.#asks.answer(call, io) : { t: 'ok', value: completedValue(completion) };
      case 'prompt':
        return { t: 'ok', value: await this.#prompt(call.text, io, completion) };
      case 'tool': {
        const { name, args, at, seq } = call;
        const { turn, tools } = this.#context;
        const id = `${turn.turnIndex ?? tools.forkId}${this.#places.get(seq) ?? `.${seq}`}`;
        this.#quotas.countScriptCall(canonicalName(name));
        const run = { context: this.#context, quotas: this.#quotas, holds: this.#holds };
        return { t: 'ok', value: await callTool(run, { id, name, args, site: at, io, hold, depth: 0, completion }) };
      }
    }
  }

  async #prompt(text: string, io: CallIo, completion: Completed | null): Promise<TaggedJson> {
    if (completion !== null) return completedValue(completion);
    const { host, mayWait = false } = this.#context;
    return unlessOver(io, () => promptUser(host, text)).catch((error) => {
      if (error instanceof Pending) throw suspendPrompt(error, mayWait);
      throw error;
    });
  }

  /**
   * Refuses or puts aside a call of a tool with effects that an earlier attempt called in another way: only a person knows whether both
   * calls are meant.
   */
  #changed(call: GuestCall, { entry, origin, halts }: Known & { readonly t: 'changed' }): FinalReply {
    const [tool, args] = foreseenAs(call);
    const reason = `attempt ${origin.attempt} already called ${shortCall(entry)}; answer true to allow this other call, false to refuse it`;
    if (halts)
      return halt(
        effectChangedError(`the call of ${tool} was not made: attempt ${origin.attempt} already called ${shortCall(entry)}`),
      );
    const { mayWait = false } = this.#context;
    if (!mayWait) return replyFor(new ToolError(NS_CODES.PreconditionFailed, `${reason}, and nobody keeps this run until then`));
    this.#waiting.push({ ...begun(call.seq, tool, args, call.at), reason, allows: true });
    return halt(suspendedError(reason));
  }

  /** Puts the run aside at this call. Calls that run together with it still come to their end. */
  #wait(call: Exclude<GuestCall, { readonly t: 'ask' }>, { pending }: Suspended, io: CallIo, start: number): void {
    const { seq, at } = call;
    const { reason, expiresIn } = pending;
    const [tool, args] = call.t === 'tool' ? [canonicalName(call.name), call.args] : [PROMPT, [call.text]];
    this.#waiting.push({ seq, tool, args, at, asked: [...io.queries], reason, expiresIn, ms: elapsed(start) });
  }
}

/** A recorded call in a few words. */
function shortCall(entry: JournalEntry): string {
  const args = entry.kind === 'tool' ? entry.args.map((arg) => JSON.stringify(arg)).join(', ') : '';
  return shorten(`${entry.kind === 'tool' ? entry.name : entry.kind}(${args})`);
}

/** The name and the arguments by which a call is foreseen. */
function foreseenAs(call: GuestCall): readonly [name: string, args: readonly TaggedJson[]] {
  if (call.t === 'tool') return [canonicalName(call.name), call.args];
  return call.t === 'ask' ? ['ask', [call.model, call.prompt, call.options]] : ['promptuser', [call.text]];
}

const CANNOT_ACT = "this process no longer holds the session's lease";

/** The value of a late answer. Throws {@link ToolError} for a failure. */
function completedValue(completion: Completed): TaggedJson {
  if (completion.ok) return completion.value;
  throw new ToolError(completion.code, completion.message);
}

/** A call that begins, in the form of a call that waits: if its outcome stays unknown, a person enters it. */
function begun(seq: number, tool: string, args: readonly TaggedJson[], at: CallSite): WaitingCall {
  return { seq, tool, args, at, asked: [], reason: IN_DOUBT, expiresIn: null, ms: 0 };
}

const IN_DOUBT = 'its process died during this call, and nobody knows whether it took effect; answer with what it did';

const halt = (error: ErrorInfo): FinalReply => ({ t: 'halt', error });

/** Puts recorded queries to the fork again: their answers are known, but the script pays fuel for them. */
async function repeatQueries(queries: readonly ForkQuery[], io: CallIo): Promise<void> {
  for (const query of queries) await io.repeat(query);
}
