import { AsyncResource } from 'node:async_hooks';
import type { HostContext, TurnContext } from '../context/index.ts';
import type { LimitOptions, SandboxResult } from '../sandbox/index.ts';
import {
  Bound,
  CallHistory,
  CostMeter,
  callDepth,
  Dispatcher,
  EarlierCalls,
  flowOf,
  type Grant,
  type LibraryEntry,
  type PastCalls,
  type Policy,
  type PolicyGuard,
  type PolicyOptions,
  policyOptions,
  RunResources,
  type ToolDefinition,
  type ToolView,
} from '../tools/index.ts';
import { type ErrorInfo, RuntimeClosedError } from '../wire/errors.ts';
import { labelNames } from '../wire/labels.ts';
import type { LimitValues } from '../wire/limits.ts';
import { checkList } from '../wire/options.ts';
import type { RunInput } from '../wire/protocol.ts';
import { type RunFailure, type RunResult, refusedResult } from '../wire/result.ts';
import type { Admission, LintFinding } from '../wire/sourcereports.ts';
import { payerOf, spentBudget, TenantAccount } from './account.ts';
import { causesIn, Judge } from './admission.ts';
import { foreseenOf, LookAhead } from './ahead.ts';
import { Callbacks } from './callbacks.ts';
import { denialOf } from './check.ts';
import type { RunContext } from './context.ts';
import { endingError, NOTHING_RUN, ranNothing, resultOf, turnEnd } from './end.ts';
import type { ForeseeResult } from './foresee.ts';
import { inputOf } from './input.ts';
import { RunOutput } from './output.ts';
import { count, type RunPlan } from './plan.ts';
import {
  checkEventOptions,
  checkExecuteOptions,
  checkRequest,
  checkRunSettings,
  type EarlierAttempts,
  type EventOptions,
  type ExecuteOptions,
  type RunRequest,
  type RunSettings,
} from './request.ts';
import { measureRun, runSpan } from './runspan.ts';
import { toTagged } from './values.ts';

/** Options of a fork. */
export interface ForkOptions {
  /** A context derived for this operation; the context of the current code when absent. */
  readonly turn?: TurnContext | undefined;
  /** Limits can only tighten what the runtime allows. */
  readonly limits?: LimitOptions;
  /** Tools of this fork alone. They need no entry in an allow list; every other rule of a policy holds for them. */
  readonly tools?: readonly ToolDefinition[] | undefined;
  /** Must admit a call in addition to the runtime's policy. It is the only policy if the runtime has none. */
  readonly policy?: Policy | PolicyOptions | undefined;
  /** Replaces the next id of the runtime, to repeat a recorded run. */
  readonly id?: string;
}

/**
 * A sandbox for the runs of one operation. It shares the host context and the loaded definitions with its root. It has copies of
 * the root's globals as they were when it was made, its own view of the tools, its own id, and the turn context of its parent.
 * Every run is a fresh isolate.
 */
export class Fork {
  /** Different for every fork of the runtime, such as `fork-7`. */
  readonly id: string;
  /** The connections that all forks of the root share. */
  readonly host: HostContext;
  /** The operation of the fork. */
  readonly turn: TurnContext;
  /** Upper bounds for the limits of every run. */
  readonly limits: LimitValues;
  /** The tools that its programs can see. */
  readonly tools: ToolView;
  readonly #guards: readonly PolicyGuard[];
  readonly #context: RunContext;
  #runs = 0;

  /** Made by `Interpreter.fork`. */
  constructor(context: RunContext) {
    const { root, forkId, turn, limits, tools, guards } = context;
    this.id = forkId;
    this.host = root.host;
    this.turn = turn;
    this.limits = limits;
    this.tools = tools;
    this.#guards = guards;
    this.#context = context;
    Object.freeze(this);
  }

  /**
   * Runs a request once, in a fresh isolate. Resolves for everything that a script, a limit or a cancellation does. Rejects with
   * `ConfigError` (`ERR_CONFIG`), `RuntimeClosedError` (`ERR_CLOSED`), `BusyError` (`ERR_BUSY`), with `TurnClosedError`
   * (`ERR_TURN_CLOSED`) when the fork's turn has ended, and with an exception of `onOut` or `onCall`, which ends the run.
   */
  async runRequest(asked: RunRequest): Promise<RunResult> {
    this.#mustBeOpen();
    checkRequest('the request of a run', asked);
    const number = ++this.#runs;
    // Light forks are numbered within a run, so a second run of this fork needs another id.
    const context = number === 1 ? this.#context : { ...this.#context, forkId: `${this.id}:${number}` };
    const { telemetry } = context.runtime;
    const begun = performance.now();
    return telemetry.span(runSpan(context), async (span) => {
      const result = await this.#run(context, asked);
      measureRun(telemetry, span, result, performance.now() - begun);
      return result;
    });
  }

  /** Runs a source. Its definitions exist only in this run. Resolves and rejects as {@link runRequest}. */
  async execute(source: string, options: ExecuteOptions = {}): Promise<RunResult> {
    checkExecuteOptions('the options of an execution', options);
    const { name = 'src', ...settings } = options;
    return this.runRequest({ ...settings, sources: [{ name, text: source }] });
  }

  /**
   * Foresees the effects of {@link runRequest} for the same request, without running it: every call that the program can make, and its
   * maximum usage. Rejects as the check of a runtime.
   */
  async foresee(asked: RunRequest): Promise<ForeseeResult> {
    this.#mustBeOpen();
    checkRequest('the request of a run', asked);
    return foreseenOf(this.#context, asked, inputOf(this.#context, asked));
  }

  /**
   * The result of {@link runRequest} with `checkFirst` for a program that would be rejected, without running it; null for one that would
   * run. Rejects as the check of a runtime.
   */
  async rejection(asked: RunRequest): Promise<RunFailure | null> {
    this.#mustBeOpen();
    checkRequest('the request of a run', asked);
    const { runtime, tools, guards } = this.#context;
    const input = asked.recorded?.input ?? inputOf(this.#context, asked);
    const broken = await new LookAhead(this.#context, asked, input).broken();
    return new Judge(asked, input, tools, guards, broken).rejected(runtime.sandbox);
  }

  /** What may have caused the error with which a run of this input ended, as `causes` of its result has it. Never rejects. */
  async causes(input: RunInput, error: ErrorInfo): Promise<readonly LintFinding[]> {
    return causesIn(this.#context.runtime.sandbox, input, error);
  }

  /** Calls a procedure; `result` of the result is what it returned. Resolves and rejects as {@link runRequest}. */
  async run(procedure: string, args: readonly unknown[] = [], settings: RunSettings = {}): Promise<RunResult> {
    checkRunSettings('the options of a call', settings);
    checkList(`the arguments of ${procedure}`, args);
    const tagged = args.map((arg, index) => toTagged(`argument ${index + 1} of ${procedure}`, arg));
    return this.runRequest({ ...settings, call: { name: procedure, args: tagged } });
  }

  /**
   * Delivers an event to every handler of its name, each in a light fork. An event with an `id` is delivered once, even if it is sent
   * repeatedly: for all forks of the root, the same id in the same session and turn is the same event. A repetition waits for the first
   * delivery, runs nothing, and gives an empty result. Resolves and rejects as {@link runRequest}. An event counts as not delivered when
   * the delivery was rejected, or refused before it began.
   */
  async emitEvent(name: string, source: string, payload: unknown, options: EventOptions = {}): Promise<RunResult> {
    checkEventOptions('the options of an event', options);
    const { id, ts, ...settings } = options;
    const tagged = toTagged(`the payload of '${name}'`, payload);
    const event = { name, source, payload: tagged, id, ts };
    const deliver = (): Promise<RunResult> => this.runRequest({ ...settings, events: [event] });
    if (id === undefined) return deliver();
    this.#mustBeOpen();
    const { sessionId, turnIndex } = this.turn;
    return this.#context.root.deliveries.once(id, sessionId, turnIndex, deliver);
  }

  /** The policies. Each must admit a call; null stands for a missing policy, which denies. */
  get policies(): readonly (PolicyOptions | null)[] {
    return this.#guards.map(({ policy }) => policyOptions(policy));
  }

  /** Why the policies would deny a call, or null. Call limits do not count, and an unknown tool is not denied. */
  denied(tool: string): string | null {
    return denialOf(this.tools, this.#guards, tool)?.reason ?? null;
  }

  /** The tools that its programs may call: all that it sees and the policies do not deny. */
  get callable(): readonly ToolDefinition[] {
    return this.tools.names().flatMap((name) => {
      const tool = this.tools.lookup(name);
      return tool === undefined || this.denied(name) !== null ? [] : [tool];
    });
  }

  /** The procedures of its root that its programs can call, as `Interpreter.library`. */
  get library(): readonly LibraryEntry[] {
    return this.#context.root.definitions.entries;
  }

  async #run(context: RunContext, asked: RunRequest): Promise<RunResult> {
    const { runtime, root, tools, guards } = context;
    using turn = this.turn.derive({ signal: asked.signal });
    await using resources = new RunResources(runtime.resources, turn.sessionId, root.host.logger);
    const said = flowOf(guards).length === 0 || turn.sessionId === null ? null : resources.get().said;
    const input = asked.recorded?.input ?? inputOf(context, asked, said ?? NOTHING_SAID);
    const { limits } = input;
    const callbacks = new Callbacks(turn, root.host.logger);
    const request = callbacks.guard(asked);
    const refusal = turnEnd(turn, runtime.now, limits) ?? spentBudget(runtime.tenants, turn, asked);
    if (refusal !== null) return refusedResult(refusal);
    const output = new RunOutput(root, request);
    using account = new TenantAccount(runtime.tenants, turn.tenant);
    const costs = new CostMeter(limits.cost, payerOf(turn) ?? account);
    const ahead = new LookAhead(context, request, input);
    const dear = ahead.mayBeDear(costs) ? await ahead.tooDear(costs) : null;
    if (dear !== null) return refusedResult(dear);
    const judge = request.checkFirst === true ? new Judge(request, input, tools, guards, await ahead.broken()) : null;
    const broken = judge?.isBroken === true ? await judge.rejected(runtime.sandbox) : null;
    if (broken !== null) return broken;
    const plan = request.plan === undefined ? null : await ahead.plan(request.plan);
    if (plan !== null && 'error' in plan) return refusedResult(plan.error);
    const dispatcher = dispatcherOf(context, input, turn, request, resources, costs, plan);
    request.onInput?.(input);
    const depth = callDepth();
    // Frames arrive in the asynchronous context of the worker. Callbacks and tools must run in the context of their caller.
    const caller = new AsyncResource('NeuroScriptRun');
    const handlers = {
      onOut: caller.bind(output.add.bind(output)),
      onCall: caller.bind(dispatcher.handle.bind(dispatcher)),
      onStarted: () => request.time?.start(),
      nested: depth > 0,
      depth,
      session: turn.sessionId,
      tenant: account.share,
      // Other runs of the tenant may have used up its budget while this one waited.
      refusal: () => spentBudget(runtime.tenants, turn, asked),
      markedKeys: request.markedKeys ?? false,
    };
    const { probe } = request;
    const run = (admission: Admission | undefined): Promise<SandboxResult> =>
      runtime.sandbox.run({ ...input, probe, admission }, handlers, turn).catch((error: unknown) => account.refuse(error));
    const ran = await run(judge?.admission);
    const outcome = judge === null ? ran : ((await judge.explained(runtime.sandbox, ran)) ?? (await run(judge.lenient)));
    const error = endingError(outcome, turn, limits);
    await dispatcher.settled();
    const journal = dispatcher.finish(error);
    const ended = resultOf(outcome, error, output, journal, input, dispatcher, costs);
    account.charge(ended);
    for (const label of labelNames([...(ended.labels?.output ?? []), ...(ended.labels?.scratchpad ?? [])])) said?.add(label);
    callbacks.rethrow();
    output.reportEventErrors(outcome.result.eventErrors);
    if (!ended.ok && asked.explain === true && ended.findings === undefined) {
      const causes = await this.causes(input, ended.error);
      return causes.length === 0 ? ended : { ...ended, causes };
    }
    return ranNothing(ended, asked) ? { ...ended, warnings: [NOTHING_RUN] } : ended;
  }

  #mustBeOpen(): void {
    if (this.#context.runtime.turn.closed) throw new RuntimeClosedError();
  }
}

/** The calls before a run: as the caller knows them, else those of earlier runs of the session in this process. */
function historyOf(
  past: PastCalls | undefined,
  { sessionId }: TurnContext,
  guards: readonly PolicyGuard[],
  resources: RunResources,
): CallHistory {
  const isAsked = past === undefined && sessionId !== null && guards.some(({ policy }) => (policy?.order.length ?? 0) > 0);
  if (!isAsked) return new CallHistory(past);
  const { called } = resources.get();
  return new CallHistory({ session: called }, (tool) => called.add(tool));
}

/** Outside of a session, nothing was said before. */
const NOTHING_SAID: ReadonlySet<string> = new Set();

/** The bound of a run. The calls of earlier attempts at the turn count. */
function boundOf(grant: Grant | undefined, earlier: EarlierAttempts | undefined, tools: ToolView): Bound | undefined {
  const bound = grant === undefined ? undefined : new Bound(grant);
  if (bound !== undefined) for (const journal of earlier?.journals ?? []) count(bound, journal, tools);
  return bound;
}

function dispatcherOf(
  context: RunContext,
  { sources, limits, globals, turn: asTurn }: RunInput,
  turn: TurnContext,
  { recorded, earlier, onCall, bound, keeper, past, time, mayWait = false }: RunRequest,
  resources: RunResources,
  costs: CostMeter,
  plan: RunPlan | null,
): Dispatcher {
  const { runtime, root, tools, guards, asks } = context;
  const history = context.history ?? historyOf(past, turn, guards, resources);
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
    retries: runtime.retries,
    ask: asks?.({ context, turn, limits, sources: own(), globals, history, costs }),
    costs,
    recorded: recorded?.calls,
    earlier: earlier === undefined ? undefined : new EarlierCalls(earlier.journals, tools, earlier.onChanged),
    asTurn,
    bound: plan === null ? boundOf(bound, earlier, tools) : plan.bound,
    approvals: plan?.approvals,
    keeper,
    history,
    mayWait,
    before: time && (() => time.elapsed),
    depth: callDepth(),
  });
}
