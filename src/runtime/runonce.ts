import { AsyncResource } from 'node:async_hooks';
import { DeadlineError, type TurnContext } from '../context/index.ts';
import type { SandboxResult } from '../sandbox/index.ts';
import { callDepth, Dispatcher, RunResources } from '../tools/index.ts';
import { cancelledError, timeoutError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { JournalEntry, WaitingCall } from '../wire/journal.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { RunInput, Usage } from '../wire/protocol.ts';
import { type RunResult, refusedResult } from '../wire/result.ts';
import { spentBudget, TenantAccount } from './account.ts';
import { firstDeniedCall } from './check.ts';
import type { RunContext } from './context.ts';
import { inputOf } from './input.ts';
import { RunOutput } from './output.ts';
import { checkRequest, type RunRequest } from './request.ts';
import { withRunSpan } from './runspan.ts';

/**
 * Runs a request once, in a fresh isolate. Resolves for everything that a script, a limit or a cancellation does. Rejects with
 * `ConfigError` for a request of the wrong form, with what the sandbox rejects with (`RuntimeClosedError`, `BusyError`), and with an
 * exception of `onOut` or `onCall`, which ends the run.
 */
export async function runOnce(context: RunContext, asked: RunRequest): Promise<RunResult> {
  checkRequest('the request of a run', asked);
  return withRunSpan(context, () => run(context, asked));
}

async function run(context: RunContext, asked: RunRequest): Promise<RunResult> {
  const input = asked.recorded?.input ?? inputOf(context, asked);
  using turn = context.turn.derive(asked.signal === undefined ? {} : { signal: asked.signal });
  const callbacks = new Callbacks(turn);
  const request = callbacks.guard(asked);
  const { runtime, root, tools, guards } = context;
  const { sources, limits } = input;
  const denied = async () => firstDeniedCall(runtime.sandbox, tools, guards, sources, limits.sourceBytes);
  const refusal =
    turnEnd(turn, runtime.now, limits) ??
    spentBudget(runtime.tenants, turn, asked) ??
    (request.checkFirst === true ? await denied() : null);
  if (refusal !== null) return refusedResult(refusal);
  await using resources = new RunResources(runtime.resources, turn.sessionId, root.host.logger);
  const output = new RunOutput(root, request);
  const dispatcher = dispatcherOf(context, input, turn, request, resources);
  request.onInput?.(input);
  const depth = callDepth();
  // Frames of a worker arrive in the worker's asynchronous context: callbacks and tools belong into that of their caller.
  const caller = new AsyncResource('NeuroScriptRun');
  using account = new TenantAccount(runtime.tenants, turn.tenant);
  const outcome = await account.run((tenant) =>
    runtime.sandbox.run(
      input,
      {
        onOut: (out) => caller.runInAsyncScope(() => output.add(out)),
        onCall: (call, io) => caller.runInAsyncScope(() => dispatcher.handle(call, io)),
        nested: depth > 0,
        depth,
        session: turn.sessionId,
        tenant,
      },
      turn,
    ),
  );
  const { error: reported, eventErrors } = outcome.result;
  const error = turn.aborted && reported?.kind === 'cancelled' ? abortError(turn, limits) : reported;
  await dispatcher.settled();
  const journal = dispatcher.finish(error);
  const ended = resultOf(outcome, error, output, journal, limits, dispatcher.waiting);
  account.charge(ended);
  callbacks.rethrow();
  output.reportEventErrors(eventErrors);
  return ended;
}

/** The callbacks of a request. The first exception of one ends the run, which then rejects with it. */
class Callbacks {
  readonly #turn: TurnContext;
  #failure: { readonly error: unknown } | null = null;

  constructor(turn: TurnContext) {
    this.#turn = turn;
  }

  guard(request: RunRequest): RunRequest {
    const { onOut, onCall } = request;
    if (onOut === undefined && onCall === undefined) return request;
    const out = onOut === undefined ? {} : { onOut: this.#guarded(onOut) };
    return { ...request, ...out, ...(onCall === undefined ? {} : { onCall: this.#guarded(onCall) }) };
  }

  rethrow(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  #guarded<A>(callback: (value: A) => void): (value: A) => void {
    return (value) => {
      if (this.#failure !== null) return;
      try {
        callback(value);
      } catch (error) {
        this.#failure = { error };
        this.#turn.close();
      }
    };
  }
}

/** Why a run of this turn must not start: the turn has ended; null when the run may start. */
function turnEnd(turn: TurnContext, now: () => number, limits: LimitValues): ErrorInfo | null {
  // The clock decides: the timer of a deadline may be late.
  if (turn.deadline !== null && now() >= turn.deadline) return deadlineError(limits);
  return turn.aborted ? abortError(turn, limits) : null;
}

function dispatcherOf(
  context: RunContext,
  { sources, limits, globals }: RunInput,
  turn: TurnContext,
  { recorded, onCall, mayWait = false }: RunRequest,
  resources: RunResources,
): Dispatcher {
  const { runtime, root, tools, guards, asks } = context;
  const own = () => sources.filter((source) => !root.definitions.sources.includes(source));
  return new Dispatcher({
    ...root,
    definitions: root.toolDefinitions,
    tools,
    guards,
    turn,
    limits,
    resources: () => resources.get(),
    onCall,
    audit: runtime.audit,
    telemetry: runtime.telemetry,
    ask: asks?.({ context, turn, limits, sources: own(), globals }),
    recorded: recorded?.calls,
    mayWait,
    depth: callDepth(),
  });
}

function resultOf(
  { result: ended, errors, usage, outputComplete }: SandboxResult,
  error: ErrorInfo | null,
  { emits, values, whispers }: RunOutput,
  journal: ReturnType<Dispatcher['finish']>,
  limits: LimitValues,
  waiting: WaitingCall | null,
): RunResult {
  const { phase, result, eventErrors, variables } = ended;
  const facts = {
    phase,
    emits,
    values,
    whispers,
    result,
    eventErrors,
    ...(variables === undefined ? {} : { variables }),
    usage: withEndingAsk(usage, journal.last, limits),
    ...(outputComplete ? {} : { outputComplete: false as const }),
  };
  if (error === null) return withJournal({ ok: true, ...facts, error }, journal);
  const failure = {
    ok: false as const,
    ...facts,
    ...(errors.length === 0 ? {} : { errors }),
    error,
    ...(waiting === null || error.code !== 'ERR_SUSPENDED' ? {} : { waiting }),
  };
  return withJournal(failure, journal);
}

/** Makes the entries of a journal when they are read for the first time: few callers of a tool look at them. */
function withJournal<T extends object>(result: T, journal: ReturnType<Dispatcher['finish']>): T & Pick<RunResult, 'journal'> {
  let entries: RunResult['journal'] | undefined;
  Object.defineProperty(result, 'journal', { enumerable: true, get: () => (entries ??= journal.entries) });
  // The property was just defined.
  return result as T & Pick<RunResult, 'journal'>;
}

/** The usage of a run, with that of an `ask` that ended it: the interpreter was gone and could not be charged. */
function withEndingAsk(usage: Usage, last: JournalEntry | undefined, limits: LimitValues): Usage {
  if (last?.kind !== 'ask' || last.spent === undefined || !('halted' in last.outcome)) return usage;
  const { fuel, toolCalls, cpuMs } = last.spent;
  // Reporting the end costs fuel too, beyond what the run had left.
  const total = Math.max(usage.fuel, Math.min(limits.fuel, usage.fuel + fuel));
  return { ...usage, fuel: total, toolCalls: usage.toolCalls + toolCalls, cpuMs: usage.cpuMs + cpuMs };
}

/** The error of a run whose turn was aborted: a time limit for the deadline, a cancellation for everything else. */
function abortError(turn: TurnContext, limits: LimitValues): ErrorInfo {
  const reason: unknown = turn.signal.reason;
  return reason instanceof DeadlineError ? deadlineError(limits) : cancelledError('the run was cancelled');
}

function deadlineError({ wallMs }: LimitValues): ErrorInfo {
  return timeoutError({ limit: 'wallMs', allowed: wallMs }, "the turn's deadline has passed");
}
