import type { HostContext, TurnContext } from '../context/index.ts';
import type { PolicyGuard, PolicyOptions, ToolView } from '../tools/index.ts';
import { policyOptions } from '../tools/index.ts';
import type { LimitValues } from '../wire/protocol.ts';
import type { RunResult } from '../wire/result.ts';
import { type PerformRequest, perform, type RunScope } from './perform.ts';
import { deniedTool } from './precheck.ts';

/** How one execution differs from the fork's defaults. */
export type ExecuteOptions = Omit<PerformRequest, 'sources' | 'call' | 'events' | 'onInput' | 'again' | 'mayWait'> & {
  /** Shown in positions; `src` when absent. */
  readonly name?: string;
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
    return perform(this.#scope(), request);
  }

  /** Runs a source: its definitions are known to this run alone. Resolves and rejects as {@link perform}. */
  async execute(source: string, options: ExecuteOptions = {}): Promise<RunResult> {
    const { name = 'src', ...rest } = options;
    return this.perform({ ...rest, sources: [{ name, text: source }] });
  }

  /** The policies that all must admit a call; null stands for none at all, which denies. */
  get policies(): readonly (PolicyOptions | null)[] {
    return this.#guards.map(({ policy }) => policyOptions(policy));
  }

  /** Why the policy would deny a call, or null; call limits are not looked at, and unknown tools are not denied. */
  denied(tool: string): string | null {
    return deniedTool({ view: this.tools, guards: this.#guards }, tool);
  }
}
