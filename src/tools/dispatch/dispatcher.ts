import { AsyncLocalStorage } from 'node:async_hooks';
import { type HostContext, type TurnContext, turnStorage } from '../../context/index.ts';
import type { CallIo, FinalReply } from '../../wire/call.ts';
import { decode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError, languageError, quotaError, suspendedError, workerError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry, JournalOutcome, Question, WaitingCall } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { CallSite, GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { type Value, ValueError } from '../../wire/values.ts';
import { type ToolDefinition, ToolError } from '../define/define.ts';
import { canonicalName } from '../names.ts';
import { Pending } from '../pending.ts';
import type { PolicyGuard } from '../policy/policy.ts';
import type { ToolView } from '../registry.ts';
import { approvedCall } from './approval.ts';
import { checkArgBytes, matchArgs } from './arguments.ts';
import { type AskCall, AskLedger, type AskPort, NO_AGENTS } from './asks.ts';
import { type AuditRecord, digestOf } from './audit.ts';
import { CallJournal, elapsed } from './journal.ts';
import { encodeAs, Halt, outcomeOf, replyFor, translate } from './outcome.ts';
import { promptUser } from './prompt.ts';
import { type CallScript, type Completion, type Known, replyOf } from './recorded.ts';
import { resultJson } from './result.ts';
import { timeboxed } from './timebox.ts';
import { type Shared, ToolCall } from './toolruntime.ts';

export interface DispatchInit {
  readonly view: ToolView;
  /** All must admit a call: the root's, then the fork's own. */
  readonly guards: readonly PolicyGuard[];
  readonly host: HostContext;
  readonly turn: TurnContext;
  readonly limits: LimitValues;
  readonly shared: Shared;
  /** Told of every call of a script once it has ended. */
  readonly onCall?: ((entry: JournalEntry) => void) | undefined;
  readonly audit?: ((record: AuditRecord) => void) | undefined;
  /** Answers `ask`; without it there is no agent to ask. */
  readonly ask?: AskPort | undefined;
  /** Knows calls before they are made, when a recorded run is executed again. */
  readonly calls?: CallScript | undefined;
  /** Whether a tool may let the script wait: somebody keeps the run and goes on with it later. */
  readonly mayWait?: boolean;
  /** How many scripts wait for the run whose calls these are; 0 when absent. */
  readonly depth?: number;
}

/** Ends a run whose tool will answer later. */
class Suspended extends Halt {
  readonly pending: Pending;
  constructor(tool: string, pending: Pending) {
    super(suspendedError(`tool '${tool}' will answer later: ${pending.reason}`));
    this.pending = pending;
  }
}

/** Set in everything that a tool does on behalf of a call. */
const openCall = new AsyncLocalStorage<{ open: boolean; readonly depth: number }>();

/** How many scripts wait, each within the other, for the call on whose behalf the current code runs; 0 outside of any. */
export function callDepth(): number {
  const call = openCall.getStore();
  return call?.open === true ? call.depth : 0;
}

/** Deepest nesting of tools that call tools. */
const MAX_NESTING = 32;

/** One run's bridge from calls of scripts to tools: lookup, policy, arguments, the call itself, its result, the journal. */
export class Dispatcher {
  readonly #init: DispatchInit;
  readonly #journal: CallJournal;
  readonly #asks = new AskLedger();
  #waiting: WaitingCall | null = null;
  #nestedCalls = 0;
  #scriptCalls = 0;
  /** Calls of each tool so far, by its canonical name, those of scripts included. */
  readonly #callsOf = new Map<string, number>();
  #halt: ErrorInfo | null = null;

  constructor(init: DispatchInit) {
    this.#init = init;
    this.#journal = new CallJournal((entry) => this.#guarded('onCall', () => init.onCall?.(entry)));
  }

  /** Answers one call. Never rejects: what a tool does wrong is an answer. */
  async handle(call: GuestCall, variables: CallIo): Promise<FinalReply> {
    this.#journal.open(call, variables);
    const known = this.#init.calls?.known(call) ?? null;
    if (known?.t === 'recorded') return this.#repeat(call, known.entry, variables);
    if (known?.t === 'answer' && known.reply.t === 'halt') {
      // It ends the run as it ended before, whatever the journal would hold.
      this.#journal.close(call, outcomeOf(known.reply));
      return known.reply;
    }
    const state = { open: true, depth: (this.#init.depth ?? 0) + 1 };
    const answer = (): Promise<FinalReply> => turnStorage.run(this.#init.turn, () => this.#answer(call, variables, known));
    const refused = this.#weigh(call);
    const answered = refused ?? (await openCall.run(state, answer));
    const reply = refused ?? this.#weigh(answered) ?? answered;
    state.open = false;
    if (this.#waiting?.seq === call.seq) {
      // The call is still to be answered: it belongs to the journal only then.
      if (!variables.over) this.#journal.drop(call);
      return reply;
    }
    // An answer that comes too late never reaches the script: then `finish` says how the call really ended.
    if (!variables.over) this.#journal.close(call, outcomeOf(reply), this.#asks.of(call));
    return reply;
  }

  /**
   * The journal, once the run is over: calls that were never answered end in `error`, which stopped the run. A run
   * without such an error was given up by its worker.
   */
  finish(error: ErrorInfo | null): readonly JournalEntry[] {
    const halted = error ?? workerError('the run ended while the call was open');
    return this.#journal.finish(halted, (call) => this.#asks.of(call));
  }

  /** Resolves when no nested loop of this run is left: one that nobody waits for any more was cancelled, and ends soon. */
  settled(): Promise<void> {
    return this.#asks.settled();
  }

  /** The call at which the run was put aside; null for a run that ended for any other reason. */
  get waiting(): WaitingCall | null {
    return this.#waiting;
  }

  /** Gives a recorded call the answer that it had, after the same questions. */
  async #repeat(call: GuestCall, entry: JournalEntry, variables: CallIo): Promise<FinalReply> {
    const reply = replyOf(entry);
    this.#scriptCalls += entry.kind === 'ask' ? (entry.spent?.toolCalls ?? 0) : Number(entry.kind === 'tool');
    this.#weigh(call);
    this.#weigh(reply);
    await putAgain(entry.asked ?? [], variables);
    if (!variables.over) this.#journal.repeat(call, entry);
    return reply;
  }

  /** The answer that ends the run when its journal would hold too much; else null. */
  #weigh(kept: GuestCall | FinalReply): FinalReply | null {
    const allowed = this.#init.limits.journalBytes;
    const used = this.#journal.weigh(kept);
    if (used <= allowed) return null;
    const message = `the calls of this run come to ${used} bytes of arguments and results, ${allowed} are allowed`;
    this.#halt ??= quotaError({ limit: 'journalBytes', allowed, used }, message);
    return { t: 'halt', error: this.#halt };
  }

  async #answer(call: GuestCall, variables: CallIo, known: Known | null): Promise<FinalReply> {
    if (known?.t === 'answer') return known.reply;
    const start = performance.now();
    try {
      const completed = known?.t === 'completed' ? known : null;
      await putAgain(completed?.asked ?? [], variables);
      if (call.t === 'ask') return await this.#ask(call, variables);
      const value = await this.#perform(call, variables, completed?.completion ?? null);
      return this.#halt === null ? { t: 'ok', value } : { t: 'halt', error: this.#halt };
    } catch (error) {
      if (this.#halt !== null) return { t: 'halt', error: this.#halt };
      if (error instanceof Suspended && call.t === 'tool') this.#wait(call, error.pending, variables, start);
      return replyFor(error);
    }
  }

  /** Puts the run aside at this call. */
  #wait(call: GuestCall & { readonly t: 'tool' }, pending: Pending, variables: CallIo, start: number): void {
    const { seq, args, at } = call;
    const { reason, expiresIn } = pending;
    const tool = canonicalName(call.name);
    this.#waiting = { seq, tool, args, at, asked: [...variables.asked], reason, expiresIn, ms: elapsed(start) };
  }

  /** Runs a nested loop, whose tool calls count as calls of this run: it has as many left as this host has not counted. */
  async #ask(call: AskCall, variables: CallIo): Promise<FinalReply> {
    const { ask = NO_AGENTS, limits } = this.#init;
    const toolCalls = Math.max(0, Math.min(call.left.toolCalls, limits.toolCalls - this.#scriptCalls - this.#nestedCalls));
    const bounded = { ...call, left: { ...call.left, toolCalls } };
    const reply = await unlessOver(variables, () => this.#asks.follow(call, () => ask(bounded, variables)));
    this.#scriptCalls += reply.spent?.toolCalls ?? 0;
    // What ends the run is paid where the run ends: its script does not go on.
    return reply.t === 'halt' ? { t: 'halt', error: reply.error } : reply;
  }

  async #perform(call: Exclude<GuestCall, AskCall>, variables: CallIo, completion: Completion | null): Promise<TaggedJson> {
    if (call.t === 'prompt') return unlessOver(variables, () => promptUser(this.#init.host, call.text));
    this.#scriptCalls++;
    const own = canonicalName(call.name);
    this.#callsOf.set(own, (this.#callsOf.get(own) ?? 0) + 1);
    return this.#invoke(call.name, call.args, call.at, variables, 0, completion);
  }

  /** Policy, arguments, call, result; for scripts and, with `depth` above 0, for tools that call tools. */
  async #invoke(
    name: string,
    args: readonly TaggedJson[],
    site: CallSite,
    variables: CallIo,
    depth: number,
    completion: Completion | null = null,
  ): Promise<TaggedJson> {
    const start = performance.now();
    try {
      const tool = this.#admit(name, site);
      const json = await this.#call(tool, args, site, variables, depth, completion);
      this.#audit(name, args, site, depth, { ok: true, value: json }, start);
      return json;
    } catch (error) {
      this.#audit(name, args, site, depth, outcomeOf(replyFor(error)), start);
      throw error;
    }
  }

  #admit(name: string, site: CallSite): ToolDefinition {
    const { view, guards, turn } = this.#init;
    if (turn.signal.aborted) throw new Halt(cancelledError('the turn has ended'));
    const tool = view.lookup(name);
    if (tool === undefined)
      throw new ToolError(NS_CODES.ToolNotFound, `tool '${canonicalName(name)}' not found`, view.advice(name));
    for (const guard of guards) {
      const denied = guard.admit(tool, view.isOwn(name));
      if (denied === null) continue;
      if (guard.policy?.onPolicyBreach === 'halt') this.#stop(languageError(NS_CODES.Policy, denied, site));
      throw new ToolError(NS_CODES.Policy, denied);
    }
    return tool;
  }

  async #call(
    tool: ToolDefinition,
    given: readonly TaggedJson[],
    site: CallSite,
    variables: CallIo,
    depth: number,
    completion: Completion | null,
  ): Promise<TaggedJson> {
    const { host, turn, limits, view, shared } = this.#init;
    checkArgBytes(tool, given);
    const args = await matchArgs(tool, decodeArgs(tool, given));
    if (!args.ok) throw new ToolError(NS_CODES.ArgMismatch, args.problem);
    const expired = tool.timeoutMs === null ? null : new AbortController();
    const call = new ToolCall(tool, {
      site,
      host,
      shared,
      turn,
      variables,
      expired: expired?.signal ?? null,
      tools: view.bind(site.fork),
      toolBytes: limits.toolBytes,
      callTool: (name, values) => this.#nested(name, values, site, variables, depth + 1),
    });
    const run = async () => {
      // What is completed has begun, with the approval that it needed.
      const result =
        completion === null
          ? await approvedCall(tool, given, turn, async () => tool.run(args.value, call))
          : await completed(tool, completion, args.value, call);
      return resultJson(tool, result, limits.toolBytes);
    };
    try {
      return await unlessOver(variables, () => timeboxed(tool, expired, run));
    } catch (error) {
      throw error instanceof Pending ? this.#suspended(tool, error, depth) : translate(tool, error);
    } finally {
      call.end();
    }
  }

  /** What a tool that will answer later ends with: the whole run, where somebody keeps it, else the call. */
  #suspended(tool: ToolDefinition, pending: Pending, depth: number): Error {
    const name = tool.canonicalName;
    if (depth > 0)
      return new ToolError(NS_CODES.PreconditionFailed, `tool '${name}' will answer later, and no tool can wait for another one`);
    if (this.#init.mayWait === true) return new Suspended(name, pending);
    return new ToolError(
      NS_CODES.PreconditionFailed,
      `tool '${name}' will answer later (${pending.reason}), and nobody keeps this run until then`,
      'only turns of the host loop can wait',
    );
  }

  async #nested(name: string, values: readonly unknown[], site: CallSite, variables: CallIo, depth: number): Promise<Value> {
    if (this.#halt !== null) throw new Halt(this.#halt);
    if (depth > MAX_NESTING)
      throw new ToolError(NS_CODES.ResourceExhaustion, `tools called each other more than ${MAX_NESTING} levels deep`);
    const { toolCalls, toolCallsPerTool, toolBytes } = this.#init.limits;
    const used = ++this.#nestedCalls + this.#scriptCalls;
    if (used > toolCalls) {
      const message = `the run made more than ${toolCalls} tool calls, those made by tools included`;
      this.#stop(quotaError({ limit: 'toolCalls', allowed: toolCalls, used }, message));
    }
    const own = canonicalName(name);
    const same = (this.#callsOf.get(own) ?? 0) + 1;
    this.#callsOf.set(own, same);
    if (same > toolCallsPerTool) {
      const message = `the run called ${own} more than ${toolCallsPerTool} times, calls made by tools included`;
      this.#stop(quotaError({ limit: 'toolCallsPerTool', allowed: toolCallsPerTool, used: same }, message));
    }
    const args = values.map((value) =>
      encodeAs(NS_CODES.ArgMismatch, `tool '${canonicalName(name)}' argument validation failed`, value, toolBytes),
    );
    const json = await turnStorage.run(this.#init.turn, () => this.#invoke(name, args, site, variables, depth));
    return decode(json);
  }

  /** From here on the run only ends, whatever a tool makes of the exception. */
  #stop(info: ErrorInfo): never {
    this.#halt ??= info;
    throw new Halt(info);
  }

  #audit(name: string, args: readonly TaggedJson[], site: CallSite, depth: number, outcome: JournalOutcome, start: number): void {
    const { audit, turn, host } = this.#init;
    if (audit === undefined) return;
    const { sessionId, turnIndex } = turn;
    const record: AuditRecord = {
      tool: canonicalName(name),
      sessionId,
      turnIndex,
      forkId: site.fork,
      actor: host.actor?.id ?? null,
      nested: depth > 0,
      args,
      argsDigest: digestOf(args),
      outcome,
      at: turn.now(),
      ms: performance.now() - start,
    };
    this.#guarded('audit', () => audit(record));
  }

  /** A callback of the application cannot break a run; what it throws goes to the log. */
  #guarded(name: string, callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#init.host.logger.error({ error }, `the callback ${name} threw`);
    }
  }
}

/** Puts questions to the fork that were put to it before: their answers are known, but cost what they cost. */
async function putAgain(asked: readonly Question[], variables: CallIo): Promise<void> {
  for (const question of asked) await variables.repeat(question);
}

/** What a tool makes of the answer that it waited for. */
async function completed(
  tool: ToolDefinition,
  completion: Completion,
  args: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<unknown> {
  if (!completion.ok) throw new ToolError(completion.code, completion.message);
  const answer = decode(completion.value);
  return tool.complete === null ? answer : tool.complete(answer, args, call);
}

function decodeArgs(tool: ToolDefinition, args: readonly TaggedJson[]): readonly Value[] {
  try {
    return args.map(decode);
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    const message = `tool '${tool.canonicalName}' argument validation failed: ${cause.message}`;
    throw new ToolError(NS_CODES.ArgMismatch, message, undefined, { cause });
  }
}

/**
 * The outcome of `work`, or, when the call is over first, an exception: a tool that never settles must not keep the
 * run's record alive. The sandbox has ended the call by then and ignores the answer.
 */
function unlessOver<T>(call: CallIo, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = call.whenOver(() => reject(new Halt(cancelledError('the call was given up'))));
    if (call.over) return;
    work().then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(error);
      },
    );
  });
}
