import { AsyncLocalStorage } from 'node:async_hooks';
import { type HostContext, type TurnContext, turnStorage } from '../context/index.ts';
import { cancelledError, quotaError, workerError } from '../wire/breach.ts';
import { decode } from '../wire/codec.ts';
import { NS_CODES } from '../wire/codes.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { languageError } from '../wire/info.ts';
import type { JournalEntry, JournalOutcome } from '../wire/journal.ts';
import type { CallSite, GuestCall, LimitValues, TaggedJson } from '../wire/protocol.ts';
import { type Value, ValueError } from '../wire/values.ts';
import { checkArgBytes, matchArgs } from './args.ts';
import { type Shared, ToolCall, type VariablePort } from './call.ts';
import { type ToolDefinition, ToolError } from './define.ts';
import { canonicalName } from './names.ts';
import { encodeAs, type FinalReply, Halt, outcomeOf, replyFor, translate } from './outcome.ts';
import type { PolicyGuard } from './policy.ts';
import { ask, promptUser } from './prompt.ts';
import type { ToolView } from './registry.ts';
import { resultJson } from './result.ts';
import { timeboxed } from './timebox.ts';

/** One tool call for the audit trail, those that tools make themselves included (A3-11.2-2). */
export interface AuditRecord {
  readonly tool: string;
  readonly sessionId: string | null;
  readonly turnIndex: number | null;
  readonly forkId: string;
  readonly actor: string | null;
  /** True when a tool made the call, not a script. */
  readonly nested: boolean;
  readonly args: readonly TaggedJson[];
  readonly outcome: JournalOutcome;
  /** Elapsed milliseconds. */
  readonly ms: number;
}

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
}

/** Set in everything that a tool does on behalf of a call. */
const openCall = new AsyncLocalStorage<{ open: boolean }>();

/** Whether the current code runs on behalf of a call that a script is waiting for. */
export function insideCall(): boolean {
  return openCall.getStore()?.open ?? false;
}

/** Deepest nesting of tools that call tools. */
const MAX_NESTING = 32;

/** One run's bridge from calls of scripts to tools: lookup, policy, arguments, the call itself, its result, the journal. */
export class Dispatcher {
  readonly #init: DispatchInit;
  readonly #journal: JournalEntry[] = [];
  readonly #open = new Map<GuestCall, number>();
  #nestedCalls = 0;
  #scriptCalls = 0;
  #journalBytes = 0;
  #halt: ErrorInfo | null = null;

  constructor(init: DispatchInit) {
    this.#init = init;
  }

  /** Answers one call. Never rejects: what a tool does wrong is an answer. */
  async handle(call: GuestCall, variables: VariablePort): Promise<FinalReply> {
    this.#open.set(call, performance.now());
    const state = { open: true };
    const answer = (): Promise<FinalReply> => turnStorage.run(this.#init.turn, () => this.#answer(call, variables));
    const refused = this.#weigh(call);
    const answered = refused ?? (await openCall.run(state, answer));
    const reply = refused ?? this.#weigh(answered) ?? answered;
    state.open = false;
    // An answer that comes too late never reaches the script: then `finish` says how the call really ended.
    if (!variables.signal.aborted) this.#close(call, outcomeOf(reply));
    return reply;
  }

  /**
   * The journal, once the run is over: calls that were never answered end in `error`, which stopped the run. A run
   * without such an error was given up by its worker.
   */
  finish(error: ErrorInfo | null): readonly JournalEntry[] {
    const halted = error ?? workerError('the run ended while the call was open');
    for (const call of [...this.#open.keys()]) this.#close(call, { ok: false, halted });
    return this.#journal;
  }

  /** Counts what the journal will keep of a call or an answer; the answer that ends the run when that is too much. */
  #weigh(kept: GuestCall | FinalReply): FinalReply | null {
    const allowed = this.#init.limits.journalBytes;
    this.#journalBytes += Buffer.byteLength(JSON.stringify(kept), 'utf8');
    if (this.#journalBytes <= allowed) return null;
    const message = `the calls of this run come to ${this.#journalBytes} bytes of arguments and results, ${allowed} are allowed`;
    this.#halt ??= quotaError({ limit: 'journalBytes', allowed, used: this.#journalBytes }, message);
    return { t: 'halt', error: this.#halt };
  }

  #close(call: GuestCall, outcome: JournalOutcome): void {
    const start = this.#open.get(call);
    if (start === undefined) return;
    this.#open.delete(call);
    const ms = Math.round((performance.now() - start) * 1000) / 1000;
    const entry = entryOf(call, outcome, ms);
    this.#journal.push(entry);
    this.#guarded('onCall', () => this.#init.onCall?.(entry));
  }

  async #answer(call: GuestCall, variables: VariablePort): Promise<FinalReply> {
    try {
      const value = await this.#perform(call, variables);
      return this.#halt === null ? { t: 'ok', value } : { t: 'halt', error: this.#halt };
    } catch (error) {
      if (this.#halt !== null) return { t: 'halt', error: this.#halt };
      return replyFor(error);
    }
  }

  async #perform(call: GuestCall, variables: VariablePort): Promise<TaggedJson> {
    if (call.t === 'prompt') return unlessAborted(variables.signal, () => promptUser(this.#init.host, call.text));
    if (call.t === 'ask') return ask(call.model);
    this.#scriptCalls++;
    return this.#invoke(call.name, call.args, call.at, variables, 0);
  }

  /** Policy, arguments, call, result; for scripts and, with `depth` above 0, for tools that call tools. */
  async #invoke(
    name: string,
    args: readonly TaggedJson[],
    site: CallSite,
    variables: VariablePort,
    depth: number,
  ): Promise<TaggedJson> {
    const start = performance.now();
    try {
      const tool = this.#admit(name, site);
      const json = await this.#call(tool, args, site, variables, depth);
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
    if (tool === undefined) {
      const meant = view.nearest(name);
      throw new ToolError(
        NS_CODES.ToolNotFound,
        `tool '${canonicalName(name)}' not found`,
        meant === null ? undefined : `did you mean ${meant}?`,
      );
    }
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
    variables: VariablePort,
    depth: number,
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
    const run = async () => resultJson(tool, await tool.run(args.value, call), limits.toolBytes);
    try {
      return await unlessAborted(variables.signal, () => timeboxed(tool, expired, run));
    } catch (error) {
      throw translate(tool, error);
    } finally {
      call.end();
    }
  }

  async #nested(
    name: string,
    values: readonly unknown[],
    site: CallSite,
    variables: VariablePort,
    depth: number,
  ): Promise<Value> {
    if (this.#halt !== null) throw new Halt(this.#halt);
    if (depth > MAX_NESTING)
      throw new ToolError(NS_CODES.ResourceExhaustion, `tools called each other more than ${MAX_NESTING} levels deep`);
    const { toolCalls, toolBytes } = this.#init.limits;
    const used = ++this.#nestedCalls + this.#scriptCalls;
    if (used > toolCalls) {
      const message = `the run made more than ${toolCalls} tool calls, those made by tools included`;
      this.#stop(quotaError({ limit: 'toolCalls', allowed: toolCalls, used }, message));
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
    const ms = performance.now() - start;
    const actor = host.actor?.id ?? null;
    const record = {
      tool: canonicalName(name),
      sessionId,
      turnIndex,
      forkId: site.fork,
      actor,
      nested: depth > 0,
      args,
      outcome,
      ms,
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

function entryOf(call: GuestCall, outcome: JournalOutcome, ms: number): JournalEntry {
  const { seq, at } = call;
  if (call.t === 'tool') return { kind: 'tool', seq, name: canonicalName(call.name), args: call.args, at, outcome, ms };
  if (call.t === 'prompt') return { kind: 'prompt', seq, text: call.text, at, outcome, ms };
  const { model, prompt, options } = call;
  return { kind: 'ask', seq, model, prompt, options, at, outcome, ms };
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
 * The outcome of `work`, or, when the signal is aborted first, an exception: a tool that never settles must not keep the
 * run's record alive. The sandbox has ended the call by then and ignores the answer.
 */
function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Halt(cancelledError('the call was given up')));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
