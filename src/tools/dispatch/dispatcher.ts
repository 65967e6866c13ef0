import { turnStorage } from '../../context/index.ts';
import type { CallIo, FinalReply } from '../../wire/call.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError, effectChangedError, suspendedError, workerError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { ASK, costOf, type EarlierCall, type JournalEntry, type Refusal, type WaitingCall } from '../../wire/journal.ts';
import { nanosOf } from '../../wire/money.ts';
import { isHeavy } from '../../wire/pieces.ts';
import type { GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { errorOf } from '../../wire/unknown.ts';
import { answerForm } from '../define/answerform.ts';
import { Halt, PolicyError, ToolError } from '../errors.ts';
import type { Coverage } from '../grant/approvals.ts';
import type { MadeCallOf } from '../grant/bound.ts';
import type { Grant } from '../grant/granted.ts';
import { canonicalName } from '../names.ts';
import { Pending } from '../pending.ts';
import type { FlowRules } from '../policy/flow.ts';
import { CallOrigin, flowOf } from '../policy/origin.ts';
import { Asks } from './asks.ts';
import { CANNOT_ACT, CallScope, mustAct, unlessOver } from './callscope.ts';
import { begun, changes, foreseenAs, grantedAs, isDenied, NOBODY_WAITS, PLAN_REASON, shortCall } from './callwords.ts';
import { type CallingRun, type CallKeeper, type DispatchContext, notify, type ToolCall } from './context.ts';
import { CallHistory, type OpenCall } from './history.ts';
import { type CallHold, HostHold } from './hold.ts';
import { CallJournal, elapsed } from './journal.ts';
import { jsonOf } from './large.ts';
import { askDigest, CallNumbers, callDigest } from './numbers.ts';
import { replyFor } from './outcome.ts';
import { type Packed, packedSize, unpackedCall } from './packed.ts';
import { promptUser } from './prompt.ts';
import { CallQuotas } from './quotas.ts';
import { type Completed, completedValue, type Known, repeatQueries, replyOf } from './recorded.ts';
import { NeedsPerson, Suspended, suspendPrompt } from './suspended.ts';
import { beginning, callTool } from './toolcall.ts';

/**
 * Answers the calls of one run: tool calls, prompts and asks. Each call of a script goes through the same steps: it enters the
 * journal, a recorded answer is repeated or a new one is made, and the answer enters the journal.
 */
export class Dispatcher {
  readonly #context: DispatchContext;
  readonly #quotas: CallQuotas;
  readonly #journal: CallJournal;
  readonly #asks: Asks;
  readonly #history: CallHistory;
  readonly #run: CallingRun;
  /** The rules about origin. */
  readonly #flow: readonly FlowRules[];
  readonly #waiting: WaitingCall[] = [];
  readonly #refused = new Map<number, Refusal>();
  /** Numbers the calls of a turn. */
  readonly #numbers: CallNumbers;
  /** The numbers of the calls, by their places in the run. */
  readonly #ids = new Map<number, string>();
  /** The calls of a turn that have no number yet, in their order. */
  readonly #unnumbered: Packed[] = [];

  constructor(context: DispatchContext) {
    this.#context = context;
    this.#flow = flowOf(context.guards);
    this.#quotas = new CallQuotas(context.limits, context.earlier?.made);
    this.#numbers = context.earlier?.numbers ?? new CallNumbers();
    this.#history = context.history ?? new CallHistory();
    this.#run = { context, quotas: this.#quotas, holds: new HostHold(this.#quotas), history: this.#history };
    const { onCall, before } = context;
    const onEntry = onCall && ((entry: JournalEntry) => notify(context, 'onCall', () => onCall(entry)));
    const behalfOf = (seq: number) => this.#history.behalfOf(seq);
    const [costOf, refusalOf] = [(seq: number) => context.costs.ofCall(seq), (seq: number) => this.#refused.get(seq)];
    this.#journal = new CallJournal(onEntry, { behalfOf, costOf, refusalOf }, before);
    this.#asks = new Asks(context.ask, this.#quotas);
  }

  /** Answers one call of a script. Never rejects: the failure of a tool is an answer. */
  async handle(call: GuestCall, io: CallIo): Promise<FinalReply> {
    const open = call.t === 'tool' ? this.#history.begin(call.seq, call.name) : null;
    this.#journal.open(call, io);
    const json = isHeavy(call) ? await jsonOf(call) : JSON.stringify(call);
    const packed = this.#journal.pack(call, json);
    const breach = this.#quotas.countJournalBytes(packedSize(packed));
    const made = grantedAs(call, this.#context);
    if (made !== null) this.#context.approvals?.makes(made);
    const known = this.#context.recorded?.known(call) ?? this.#context.earlier?.known(call) ?? null;
    const isTaken = known?.t === 'taken' || (known?.t === 'recorded' && known.entry.from !== undefined);
    const plan = made === null ? null : this.#needed(call, made, known);
    // A recorded call counts too, and gets the answer that it had. A call of an earlier attempt was counted when it was made.
    const counted = isTaken || plan !== null || known?.t === 'waits' ? null : made;
    const outside = counted && this.#outside(call, counted);
    const covered = (counted && this.#context.approvals?.admit(counted, this.#history.soFar(call.seq))) ?? null;
    if (!isTaken && this.#context.asTurn === true) this.#unnumbered.push(packed);
    if (known?.t === 'recorded') return this.#ended(open, made, await this.#repeat(call, known.entry, io));
    if (known?.t === 'taken' && breach === null) return this.#ended(open, made, await this.#take(call, known, io));
    if (known?.t === 'answer' && known.reply.t === 'halt') {
      // A recorded halt ends the run in any case, so it may exceed the limit of the journal.
      this.#journal.close(call, known.reply);
      return this.#ended(open, made, known.reply);
    }
    const make = (hold: CallHold, origin: CallOrigin | null): Promise<FinalReply> =>
      outside !== null
        ? Promise.resolve(outside)
        : plan !== null
          ? Promise.resolve(this.#ask(call, PLAN_REASON, plan))
          : this.#answer(call, io, known, hold, origin, covered);
    const mayBegin = outside === null && plan === null && (known === null || known.t === 'completed');
    const answer = breach === null ? await this.#withinJournal(call, io, mayBegin, make) : halt(breach);
    const { keeper } = this.#context;
    const reply = keeper === undefined ? answer : await this.#kept(call, answer, keeper);
    if (this.#isWaiting(call)) {
      // It enters the journal when it is answered, in a later run.
      if (!io.over) this.#journal.drop(call);
      return this.#ended(open, made, reply);
    }
    return this.#ended(open, made, this.#close(call, reply, io));
  }

  /** Tells those who follow the calls of the run how one has ended. */
  #ended(open: OpenCall | null, made: MadeCallOf | null, reply: FinalReply): FinalReply {
    if (open !== null) this.#history.end(open, reply.t === 'ok');
    if (made === null || reply.t !== 'ok') return reply;
    for (const each of [this.#context.bound, this.#context.approvals]) each?.answered(made, reply.value);
    return reply;
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

  /** The refusal of a call outside of the grant, if the run is bound to one. What no tool answers, or a policy denies, is refused later. */
  #outside(call: GuestCall, made: MadeCallOf): FinalReply | null {
    const outside = this.#context.bound?.admit(made, this.#history.soFar(call.seq)) ?? null;
    if (outside === null || isDenied(call, this.#context)) return null;
    this.#refused.set(call.seq, { rule: outside.rule, entry: outside.entry });
    return { t: 'error', code: NS_CODES.Policy, message: outside.reason, hint: outside.instead };
  }

  /** What a person has to approve before the call is made: it may change something, or what was approved so far does not have it. */
  #needed(call: GuestCall, made: MadeCallOf, known: Known | null): Grant | null {
    const { approvals, tools, earlier } = this.#context;
    const isOpen = known === null || known.t === 'allowed' || (known.t === 'changed' && !known.halts);
    const before = this.#history.soFar(call.seq);
    return (isOpen && approvals?.asks(made, before, changes(call, tools), () => earlier?.untaken ?? [])) || null;
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
    return this.#whileActing(() => keeper.began(begun(call.seq, tool.canonicalName, call.args, call.at, answerForm(tool))), null);
  }

  /** Gives a recorded call its recorded answer, after the same queries to the fork. */
  async #repeat(call: GuestCall, entry: JournalEntry, io: CallIo): Promise<FinalReply> {
    const reply = replyOf(entry);
    for (const tool of entry.called ?? []) this.#history.add(call.seq, tool);
    // The quotas count a call where it was made, and it was made by an earlier attempt if its answer came from there.
    const calls = entry.kind === 'ask' ? (entry.spent?.toolCalls ?? 0) : Number(entry.kind === 'tool');
    if (entry.from === undefined) {
      this.#quotas.countCallsElsewhere(calls);
      this.#context.costs.repeat(call.seq, nanosOf(costOf(entry)));
    } else this.#context.earlier?.take(entry.from);
    this.#quotas.countJournalBytes(this.#journal.answer(call, reply, await jsonOf(reply)));
    await repeatQueries(entry.asked ?? [], io);
    if (io.accept?.() ?? !io.over) this.#journal.repeat(call, entry);
    return reply;
  }

  /** Gives a call the answer of the same call of an earlier attempt. No tool runs, and no quota of calls counts it. */
  async #take(call: GuestCall, { entry, origin }: Known & { readonly t: 'taken' }, io: CallIo): Promise<FinalReply> {
    const { spent: _, ...reply }: FinalReply & { readonly spent?: unknown } = replyOf(entry);
    for (const tool of entry.called ?? []) this.#history.add(call.seq, tool);
    const breach = this.#quotas.countJournalBytes(this.#journal.answer(call, reply, await jsonOf(reply)));
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

  /** The answer, unless the journal would hold too much with it. A tool that may begin does so when its largest result has room. */
  async #withinJournal(
    call: GuestCall,
    io: CallIo,
    mayBegin: boolean,
    answer: (hold: CallHold, origin: CallOrigin | null) => Promise<FinalReply>,
  ): Promise<FinalReply> {
    const { turn, depth = 0, tools } = this.#context;
    const hold = this.#run.holds.begin();
    const scope = new CallScope(depth + 1);
    try {
      const tool = mayBegin && call.t === 'tool' ? tools.lookup(call.name) : undefined;
      const waits = tool && beginning(this.#run, tool, { seq: call.seq, hold, io });
      if (waits !== undefined) {
        const begin = io.postpone?.();
        await waits;
        begin?.();
        const { breach } = this.#quotas;
        if (breach !== null) return halt(breach);
      }
      const origin = this.#flow.length === 0 || call.t === 'prompt' ? null : new CallOrigin(this.#flow, call.labels);
      const made = await scope.run(() => turnStorage.run(turn, answer, hold, origin));
      scope.end();
      const labelled = origin?.labelled(made) ?? made;
      const reply = labelled.t === 'halt' || hold.fuel === 0 ? labelled : { ...labelled, work: hold.fuel };
      const breach = this.#quotas.countJournalBytes(this.#journal.answer(call, reply, await jsonOf(reply)));
      return breach === null ? reply : halt(breach);
    } catch (error) {
      if (error instanceof Halt) return halt(error.info);
      throw error;
    } finally {
      scope.end();
      hold.release();
    }
  }

  async #answer(
    call: GuestCall,
    io: CallIo,
    known: Known | null,
    hold: CallHold,
    origin: CallOrigin | null,
    covered: Coverage | null,
  ): Promise<FinalReply> {
    if (known?.t === 'answer') {
      if (known.isRefused === true) this.#refused.set(call.seq, { rule: 'person', entry: null });
      const tool = call.t === 'tool' ? this.#context.tools.lookup(call.name) : undefined;
      if (tool !== undefined) origin?.runs(tool);
      return known.reply;
    }
    if (known?.t === 'changed' && (known.halts || covered?.isOwn !== true)) return this.#changed(call, known);
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
      // The process may have been stopped meanwhile, for longer than it may act. A tool asks again before each try.
      mustAct(this.#context.turn);
      const isAllowed = known?.t === 'allowed' || covered?.isApproved === true;
      const reply = await this.#make(call, io, { completion: completed?.completion ?? null, hold, isAllowed, origin });
      const { breach } = this.#quotas;
      return breach === null || call.t === 'ask' ? reply : halt(breach);
    } catch (thrown) {
      const error = errorOf(thrown);
      if (error instanceof PolicyError) this.#refused.set(call.seq, error.refusal);
      const { breach } = this.#quotas;
      if (breach !== null) return halt(breach);
      if (error instanceof Suspended && call.t !== 'ask') this.#wait(call, error, io, start);
      if (error instanceof NeedsPerson && call.t === 'tool')
        return this.#ask(call, error.message, this.#context.approvals?.whole ?? null);
      return replyFor(error);
    }
  }

  async #make(call: GuestCall, io: CallIo, how: Making): Promise<FinalReply> {
    const { completion, origin } = how;
    switch (call.t) {
      case 'ask':
        return completion === null
          ? this.#asks.answer({ ...call, id: this.#idOf(call.seq) }, io, origin)
          : { t: 'ok', value: completedValue(completion) };
      case 'prompt':
        return { t: 'ok', value: await this.#prompt(call.text, io, completion) };
      case 'tool': {
        const { name, args, at, seq } = call;
        const id = (): string => this.#idOf(seq);
        this.#quotas.countScriptCall(canonicalName(name));
        const { hold, isAllowed } = how;
        const made: ToolCall = { id, seq, name, args, site: at, io, hold, depth: 0, completion, isAllowed, origin };
        return { t: 'ok', value: await callTool(this.#run, made) };
      }
    }
  }

  /** The number of a call within its session. An `ask` has no key of its own, so its id has its digest. */
  #idOf(seq: number): string {
    const { turn, tools } = this.#context;
    for (const packed of this.#unnumbered.splice(0)) {
      const call = unpackedCall(packed);
      if (call.t === 'prompt') continue;
      const digest = call.t === 'tool' ? callDigest(canonicalName(call.name), call.args) : askDigest(call);
      const number = this.#numbers.next(digest);
      this.#ids.set(call.seq, call.t === 'tool' ? `${number}` : `${number}.${digest}`);
    }
    return `${turn.turnIndex ?? tools.forkId}.${this.#ids.get(seq) ?? seq}`;
  }

  async #prompt(text: string, io: CallIo, completion: Completed | null): Promise<TaggedJson> {
    if (completion !== null) return completedValue(completion);
    const { host, mayWait = false } = this.#context;
    return unlessOver(io, () => promptUser(host, text, io.signal)).catch((error) => {
      if (error instanceof Pending) throw suspendPrompt(error, mayWait);
      throw error;
    });
  }

  /**
   * Refuses or puts aside a call of a tool with effects that an earlier attempt called in another way: only a person knows whether both
   * calls are meant.
   */
  #changed(call: GuestCall, { entry, origin, halts }: Known & { readonly t: 'changed' }): FinalReply {
    const [tool] = foreseenAs(call);
    const reason = `attempt ${origin.attempt} already called ${shortCall(entry)}; answer true to allow this other call, false to refuse it`;
    if (halts)
      return halt(
        effectChangedError(`the call of ${tool} was not made: attempt ${origin.attempt} already called ${shortCall(entry)}`),
      );
    const { mayWait = false } = this.#context;
    if (!mayWait) return replyFor(new ToolError(NS_CODES.PreconditionFailed, `${reason}, and nobody keeps this run until then`));
    return this.#ask(call, reason);
  }

  /** Puts the run aside until a person has allowed the call. */
  #ask(call: GuestCall, reason: string, plan: Grant | null = null): FinalReply {
    const [tool, args] = foreseenAs(call);
    if (this.#context.mayWait !== true) return replyFor(new ToolError(NS_CODES.Policy, NOBODY_WAITS));
    const why = plan === null ? { reason } : { reason: PLAN_REASON, plan };
    this.#waiting.push({ ...begun(call.seq, tool, args, call.at, 'truth'), allows: true, ...why });
    return halt(suspendedError(reason));
  }

  /** Puts the run aside at this call. Calls that run together with it still come to their end. */
  #wait(call: Exclude<GuestCall, { readonly t: 'ask' }>, { pending }: Suspended, io: CallIo, start: number): void {
    const { reason, expiresIn } = pending;
    const answer = call.t === 'prompt' ? 'text' : answerForm(this.#context.tools.lookup(call.name));
    const waits = { asked: [...io.queries], reason, expiresIn, ms: elapsed(start) };
    this.#waiting.push({ ...begun(call.seq, ...foreseenAs(call), call.at, answer), ...waits });
  }
}

/** How a call is made. */
interface Making {
  readonly completion: Completed | null;
  readonly hold: CallHold;
  readonly isAllowed: boolean;
  readonly origin: CallOrigin | null;
}

const halt = (error: ErrorInfo): FinalReply => ({ t: 'halt', error });
