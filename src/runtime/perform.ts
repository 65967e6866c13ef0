import { AsyncLocalStorage } from 'node:async_hooks';
import { DeadlineError, type HostContext, type StoreReaders, type Stores, type TurnContext } from '../context/index.ts';
import { checkLimits, type LimitOptions, type RunHandlers, tighten } from '../sandbox/index.ts';
import {
  type AskCall,
  type AuditRecord,
  type CallScript,
  callDepth,
  Dispatcher,
  type ForkTools,
  type PolicyGuard,
  type RootDefinitions,
  RunResources,
  type SessionResources,
} from '../tools/index.ts';
import type { CallIo } from '../wire/call.ts';
import { decode } from '../wire/codec.ts';
import { cancelledError, timeoutError } from '../wire/errorinfo.ts';
import { ConfigError, type ErrorInfo } from '../wire/errors.ts';
import type { JournalEntry } from '../wire/journal.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { EventInput, OutFrame, RunInput, Source, TaggedJson, Usage, Variable, Whisper } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { refusedResult } from '../wire/result.ts';
import { ValueError } from '../wire/values.ts';
import { type AskHandler, Asks } from './ask.ts';
import type { TextBuffers } from './buffers.ts';
import type { Deliveries } from './deliveries.ts';
import type { Fork } from './fork.ts';
import type { ForkOptions } from './interpreter.ts';
import type { SandboxPort } from './port.ts';
import { deniedCall } from './precheck.ts';
import { checkRequest } from './request.ts';
import { checkGlobalName } from './values.ts';

/** One run, in wire form: values are tagged JSON. */
export interface PerformRequest {
  /** After the root's libraries: definitions of all, then command blocks in order, then `call`, then `events`. */
  readonly sources?: readonly Source[];
  readonly call?: { readonly name: string; readonly args: readonly TaggedJson[] };
  readonly events?: readonly EventInput[];
  /** Next to the root's globals, and over them. */
  readonly globals?: Readonly<Record<string, TaggedJson>>;
  /** What the command blocks find set. Then `variables` of the result has what they leave set, for a run that goes on from there. */
  readonly variables?: readonly Variable[];
  /** A procedure of a later source takes the place of an earlier one of its name; otherwise that is code 42. */
  readonly redefine?: boolean;
  /** Only ever tighten what the fork allows. */
  readonly limits?: LimitOptions;
  /** Aborting it ends the run with `ERR_CANCELLED`. */
  readonly signal?: AbortSignal;
  /** A turn of the host loop: exactly one command block; what it says is captured and never reaches the host's callbacks. */
  readonly turn?: boolean;
  /**
   * Looks first whether the policy would deny any call that stands in the sources, whether the program comes to it or not;
   * then nothing is executed, and the error is that of the call. Otherwise a denied call fails when it is made.
   */
  readonly checkFirst?: boolean;
  /** Receives what the script says while it runs, in place of the host's callbacks. */
  readonly onOut?: (out: OutFrame) => void;
  /** Receives every call to the host once it has ended. */
  readonly onCall?: (entry: JournalEntry) => void;
  /** Receives what the worker is given, before it is: with the journal, all that it takes to execute the run again. */
  readonly onInput?: (input: RunInput) => void;
  /** Executes a recorded run: its input in place of everything above, and what is known of its calls. */
  readonly again?: Again;
  /** Whether a tool may put the run aside; then `waiting` of the result says at which call. */
  readonly mayWait?: boolean;
}

/** A recorded run that is executed again. */
export interface Again {
  readonly input: RunInput;
  readonly calls: CallScript;
}

/** What a fork brings to each of its runs. */
export interface RunScope {
  readonly sandbox: SandboxPort;
  readonly forkId: string;
  readonly host: HostContext;
  readonly turn: TurnContext;
  readonly view: ForkTools;
  readonly guards: readonly PolicyGuard[];
  readonly limits: LimitValues;
  readonly libraries: readonly Source[];
  readonly globals: ReadonlyMap<string, TaggedJson>;
  readonly constants: ReadonlyMap<string, TaggedJson>;
  readonly root: RootDefinitions;
  readonly deliveries: Deliveries;
  readonly buffers: TextBuffers;
  readonly now: () => number;
  readonly audit: ((record: AuditRecord) => void) | undefined;
  readonly stores: Stores;
  readonly readers: StoreReaders;
  readonly resources: SessionResources;
  readonly ask: AskHandler | undefined;
  /** A fork of the same root that obeys these policies too. */
  readonly nested: (guards: readonly PolicyGuard[], options: ForkOptions) => Fork;
}

/**
 * Runs once, in a fresh isolate. Resolves for everything that a script, a limit or a cancellation does. Rejects with
 * `ConfigError` for a request of the wrong form, and with what the sandbox rejects with (`RuntimeClosedError`, `BusyError`).
 */
export async function perform(scope: RunScope, request: PerformRequest): Promise<RunResult> {
  checkRequest(request);
  const input = request.again?.input ?? inputOf(scope, request);
  using turn = scope.turn.derive(request.signal === undefined ? {} : { signal: request.signal });
  // The timer of a deadline may be late; the clock is not.
  if (turn.deadline !== null && scope.now() >= turn.deadline) return refusedResult(deadlinePassed(input.limits));
  if (turn.signal.aborted) return refusedResult(endOf(turn, input.limits));
  const denied = request.checkFirst === true ? await deniedCall(scope, input.sources, input.limits.sourceBytes) : null;
  if (denied !== null) return refusedResult(denied);
  const said = new Said(scope, request);
  const { host, view, guards, audit, stores, readers, root } = scope;
  const { limits } = input;
  await using resources = new RunResources(scope.resources, turn.sessionId, host.logger);
  const { onCall, again, mayWait = false } = request;
  const { sources, globals } = input;
  const asks = scope.ask === undefined ? null : new Asks({ scope, turn, limits, sources, globals }, scope.ask);
  const ask = asks === null ? undefined : (call: AskCall, io: CallIo) => asks.answer(call, io);
  const depth = callDepth();
  const dispatcher = new Dispatcher({
    ...{ tools: view, guards, host, turn, limits, stores, readers, definitions: root },
    ...{ onCall, audit, ask, recorded: again?.calls, mayWait, depth },
    resources: () => resources.get(),
  });
  request.onInput?.(input);
  // What comes from a worker's pipe comes in the worker's asynchronous context: callbacks and tools belong into their caller's.
  const inCaller: <T>(action: () => T) => T = AsyncLocalStorage.snapshot();
  const handlers: RunHandlers = {
    onOut: (out) => inCaller(() => said.take(out)),
    onCall: (call, io) => inCaller(() => dispatcher.handle(call, io)),
    nested: depth > 0,
    depth,
    session: turn.sessionId,
  };
  const outcome = await scope.sandbox.run(input, handlers, turn.signal);
  const { ok, phase, result, eventErrors, variables } = outcome.result;
  const error =
    turn.signal.aborted && outcome.result.error?.kind === 'cancelled' ? endOf(turn, input.limits) : outcome.result.error;
  await dispatcher.settled();
  const journal = dispatcher.finish(error);
  for (const each of eventErrors) said.eventError(each.event, each.error);
  const { emits, values, whispers } = said;
  return {
    ok,
    phase,
    emits,
    values,
    whispers,
    result,
    eventErrors,
    ...(outcome.errors.length === 0 ? {} : { errors: outcome.errors }),
    error,
    ...(variables === undefined ? {} : { variables }),
    usage: withUnpaid(outcome.usage, journal, limits),
    ...(outcome.outputComplete ? {} : { outputComplete: false }),
    journal,
    ...(dispatcher.waiting === null || error?.code !== 'ERR_SUSPENDED' ? {} : { waiting: dispatcher.waiting }),
  };
}

/** What a source needs to call a tool: the keyword, or a character that cleaning the source may take out of one. */
const MAY_CALL = /tool|[^\t\n\r -~]/;

function inputOf(scope: RunScope, request: PerformRequest): RunInput {
  const {
    forkId,
    host,
    now,
    turn: { deadline },
  } = scope;
  const limits = request.limits === undefined ? scope.limits : tighten(scope.limits, checkLimits(request.limits));
  const turn = request.turn ?? false;
  const globals: Record<string, TaggedJson> = Object.create(null);
  for (const [name, value] of scope.globals) globals[name] = value;
  for (const [name, value] of Object.entries(request.globals ?? {}))
    globals[checkGlobalName(name)] = checked(`global ${name}`, value);
  const call = request.call ?? null;
  for (const [index, arg] of (call?.args ?? []).entries()) checked(`argument ${index + 1} of ${call?.name}`, arg);
  for (const { name, value } of request.variables ?? []) checked(`variable ${checkGlobalName(name)}`, value);
  const events = (request.events ?? []).map((event, index) => stamped(event, `${forkId}.event.${index + 1}`, scope.turn));
  for (const event of events) checked(`payload of event ${event.name}`, event.payload);
  const sources = [...scope.libraries, ...(request.sources ?? [])];
  // A hundred names take about a twentieth of the time of a small turn, and most programs call no tool.
  const pure = sources.some(({ text }) => MAY_CALL.test(text)) ? scope.view.pureNames(scope.guards) : [];
  return {
    sources,
    globals,
    ...(pure.length === 0 ? {} : { pure }),
    ...(scope.constants.size === 0 ? {} : { constants: Object.fromEntries(scope.constants) }),
    call,
    events,
    ...(request.variables === undefined ? {} : { variables: request.variables }),
    ...(request.redefine === true ? { redefine: true } : {}),
    limits: deadline === null ? limits : { ...limits, wallMs: Math.min(limits.wallMs, Math.max(1, Math.ceil(deadline - now()))) },
    forkId,
    turn,
    stdin: host.stdin !== null && !turn,
  };
}

/** An event with the `ID` and `TS` that its handlers find: those of the request, else the next of the fork and the turn's time. */
function stamped(event: EventInput, id: string, turn: TurnContext): EventInput {
  return { ...event, id: event.id ?? id, ts: event.ts ?? turn.now() * 1e6 };
}

/** What a run used, with what an `ask` used that ended it: its interpreter was not there any more to be charged. */
function withUnpaid(usage: Usage, journal: readonly JournalEntry[], limits: LimitValues): Usage {
  const last = journal.at(-1);
  if (last?.kind !== 'ask' || last.spent === undefined || !('halted' in last.outcome)) return usage;
  const { fuel, toolCalls, cpuMs } = last.spent;
  // The news of its end has cost fuel too, which was not there any more.
  const all = Math.max(usage.fuel, Math.min(limits.fuel, usage.fuel + fuel));
  return { ...usage, fuel: all, toolCalls: usage.toolCalls + toolCalls, cpuMs: usage.cpuMs + cpuMs };
}

function checked(what: string, value: TaggedJson): TaggedJson {
  try {
    decode(value);
    return value;
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new ConfigError(`${what}: ${cause.message}`, { cause });
  }
}

/** What a run whose turn was aborted ends with: the deadline is a time limit, everything else somebody's wish. */
function endOf(turn: TurnContext, limits: LimitValues): ErrorInfo {
  const reason: unknown = turn.signal.reason;
  return reason instanceof DeadlineError ? deadlinePassed(limits) : cancelledError('the run was cancelled');
}

function deadlinePassed({ wallMs }: LimitValues): ErrorInfo {
  return timeoutError({ limit: 'wallMs', allowed: wallMs }, "the turn's deadline has passed");
}

/** Collects what a run says, and passes it on while it does. */
class Said {
  readonly emits: string[] = [];
  readonly values: TaggedJson[] = [];
  readonly whispers: Whisper[] = [];
  readonly #host: HostContext;
  readonly #buffers: TextBuffers;
  readonly #request: PerformRequest;

  constructor({ host, buffers }: RunScope, request: PerformRequest) {
    this.#host = host;
    this.#buffers = buffers;
    this.#request = request;
  }

  take(out: OutFrame): void {
    for (const text of out.emits) this.emits.push(text);
    for (const value of out.values) this.values.push(value);
    for (const whisper of out.whispers) this.whispers.push(whisper);
    const { onOut, turn } = this.#request;
    if (onOut !== undefined) this.#guarded('onOut', () => onOut(out));
    else if (turn !== true) this.#toHost(out);
  }

  eventError(name: string, error: ErrorInfo): void {
    const source = this.#request.events?.find((event) => event.name === name)?.source ?? '';
    this.#guarded('onEventError', () => this.#host.onEventError?.(name, source, error));
  }

  #toHost({ emits, values, whispers }: OutFrame): void {
    const { emit, whisper } = this.#host;
    for (const [index, text] of emits.entries()) this.#guarded('emit', () => emit?.(values[index] ?? null, text));
    for (const { to, text } of whispers) {
      this.#buffers.append(to, text);
      this.#guarded('whisper', () => whisper?.(to, text));
    }
  }

  /** A callback of the application cannot break a run; what it throws goes to the log. */
  #guarded(name: string, callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#host.logger.error({ error }, `the callback ${name} threw`);
    }
  }
}
