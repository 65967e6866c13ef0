import type { HostContext, TurnContext } from '../context/index.ts';
import type { PolicyGuard, PolicyOptions, ToolView } from '../tools/index.ts';
import { policyOptions } from '../tools/index.ts';
import type { LimitValues } from '../wire/limits.ts';
import { checkList, checkObject, checkOptions, type KeysOf } from '../wire/options.ts';
import type { RunResult } from '../wire/result.ts';
import { type PerformRequest, perform, type RunScope } from './perform.ts';
import { deniedTool } from './precheck.ts';
import { toTagged } from './values.ts';

/** How one execution differs from the fork's defaults. */
export type ExecuteOptions = Omit<
  PerformRequest,
  'sources' | 'call' | 'events' | 'variables' | 'redefine' | 'onInput' | 'again' | 'mayWait'
> & {
  /** Shown in positions; `src` when absent. */
  readonly name?: string;
};

/** How a run differs that has no source of its own to name. */
export type RunningOptions = Omit<ExecuteOptions, 'name'>;

/** How the delivery of an event differs. */
export interface EventOptions extends RunningOptions {
  /** What the sender calls the event: the same one has the same id however often it is sent. Handlers see it as `ID`. */
  readonly id?: string;
  /** When it happened, Unix nanoseconds; handlers see it as `TS`. */
  readonly ts?: number;
}

const EVENT_KEYS: KeysOf<EventOptions> = {
  id: true,
  ts: true,
  globals: true,
  limits: true,
  signal: true,
  turn: true,
  checkFirst: true,
  onOut: true,
  onCall: true,
};

/**
 * A sandbox for the runs of one operation (seed 004, section 3). It shares the host context and the loaded definitions
 * with its root, has copies of the root's globals as they were when it was made, its own view of the tools, its own id,
 * and the turn context of its parent. Every run of it is a fresh isolate.
 */
export class Fork {
  readonly id: string;
  readonly host: HostContext;
  /** The turn context that its runs derive theirs from. */
  readonly turn: TurnContext;
  readonly limits: LimitValues;
  /** Bound to this fork; the definitions are the runtime's. */
  readonly tools: ToolView;
  readonly #guards: readonly PolicyGuard[];
  readonly #scope: () => RunScope;
  #runs = 0;

  /** Forks are made by `Interpreter.fork`. `scope` is asked at each run: definitions loaded meanwhile are seen. */
  constructor(scope: () => RunScope) {
    const { forkId, host, turn, limits, view, guards } = scope();
    this.id = forkId;
    this.host = host;
    this.turn = turn;
    this.limits = limits;
    this.tools = view;
    this.#guards = guards;
    this.#scope = scope;
    Object.freeze(this);
  }

  /**
   * Runs in wire form. Resolves for everything that a script, a limit or a cancellation does; rejects with `ConfigError`
   * (`ERR_CONFIG`), `RuntimeClosedError` (`ERR_CLOSED`), `BusyError` (`ERR_BUSY`), and with `TurnClosedError`
   * (`ERR_TURN_CLOSED`) when the fork's turn has ended.
   */
  async perform(request: PerformRequest): Promise<RunResult> {
    const run = ++this.#runs;
    const scope = this.#scope();
    // Light forks are counted within a run, so a second run of this fork needs a name of its own.
    return perform(run === 1 ? scope : { ...scope, forkId: `${this.id}:${run}` }, request);
  }

  /** Runs a source: its definitions are known to this run alone. Resolves and rejects as {@link perform}. */
  async execute(source: string, options: ExecuteOptions = {}): Promise<RunResult> {
    checkObject('the options of an execution', options);
    const { name = 'src', ...rest } = options;
    return this.perform({ ...rest, sources: [{ name, text: source }] });
  }

  /** Calls a procedure; `result` of the result is what it returned. Resolves and rejects as {@link perform}. */
  async run(procedure: string, args: readonly unknown[] = [], options: RunningOptions = {}): Promise<RunResult> {
    checkObject('the options of a call', options);
    checkList(`the arguments of ${procedure}`, args);
    const tagged = args.map((arg, index) => toTagged(`argument ${index + 1} of ${procedure}`, arg));
    return this.perform({ ...options, call: { name: procedure, args: tagged } });
  }

  /**
   * Delivers an event to every handler of its name, each in a light fork. With an `id` it is delivered once, however often it is
   * sent: the same id in the same session and turn is the same event for all forks of the root (AL1-2.12-2). A repetition
   * gives a result in which nothing was run, once the first delivery has ended. Resolves and rejects as {@link perform};
   * what was rejected or refused before it began counts as not delivered.
   */
  async emitEvent(name: string, source: string, payload: unknown, options: EventOptions = {}): Promise<RunResult> {
    checkOptions('the options of an event', options, EVENT_KEYS);
    const { id, ts, ...rest } = options;
    const tagged = toTagged(`the payload of '${name}'`, payload);
    const event = { name, source, payload: tagged, ...(id === undefined ? {} : { id }), ...(ts === undefined ? {} : { ts }) };
    const deliver = (): Promise<RunResult> => this.perform({ ...rest, events: [event] });
    if (id === undefined) return deliver();
    const { deliveries, turn } = this.#scope();
    return deliveries.once(id, turn.sessionId, turn.turnIndex, deliver);
  }

  /** The policies that all must admit a call; null stands for none at all, which denies. */
  get policies(): readonly (PolicyOptions | null)[] {
    return this.#guards.map(({ policy }) => policyOptions(policy));
  }

  /** Why the policy would deny a call, or null; call limits are not looked at, and unknown tools are not denied. */
  denied(tool: string): string | null {
    return deniedTool(this.tools, this.#guards, tool);
  }
}
