import { canonicalize, JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checkOptions, type KeysOf } from '../../wire/options.ts';
import { type Agent, agentBrief } from '../agents/index.ts';
import { type Clock, type Ids, randomIds, systemClock } from '../ports.ts';
import { SessionExistsError } from '../sessions/store.ts';
import type { TurnExecutor } from '../turn/executor.ts';
import { checkSid } from '../turn/turn.ts';
import { type CeilingOptions, type Ceilings, resolveCeilings, type TokenCounter } from './ceilings.ts';
import { EventGate, type LoopInputEvent } from './dedupe.ts';
import { hasSectionLine } from './envelope.ts';
import type { V1LoopEvent } from './events.ts';
import { DEFAULT_OUTPUT_BYTES } from './feed.ts';
import { v1SystemPrompt } from './prompt.ts';
import type { V1LoopResult } from './result.ts';
import type { OutputHook } from './secrets.ts';
import { V1Session } from './session.ts';

/** What an {@link AskLoop} is made from. */
export interface AskLoopOptions {
  readonly executor: TurnExecutor;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random loop ids when absent. */
  readonly ids?: Pick<Ids, 'session'>;
  /** What agents are told beside the envelopes; `agentBrief` with the rules of v1, without tools, when absent. */
  readonly system?: string;
  readonly ceilings?: CeilingOptions;
  /** Most bytes of OUTPUT that go back to the agent, from 1; 4096 when absent. */
  readonly outputBytes?: number;
  /** For agents that do not count themselves; `estimateTokens` when absent. */
  readonly countTokens?: TokenCounter;
  /** Looks at every OUTPUT first, see `secretHook`. */
  readonly screen?: OutputHook;
  /** Patterns of tools that may run only in the turn after a plan; none when absent (AL1-2.10-2). */
  readonly applyTools?: readonly string[];
  /** Shows the agent what was whispered and what failed in the turn before, as `[log]` lines; false when absent (AL1-2.2-2). */
  readonly feedLogs?: boolean;
  /** Puts a line with loop and turn id under every OUTPUT; false when absent (AL1-2.13-2). */
  readonly showIds?: boolean;
}

/** One loop to run. */
export interface AskLoopRun {
  readonly agent: Agent;
  /** Whether this agent may loop at all: `ToolLoopPermitted` (AL1-2.4-1). If not, it gets one turn. */
  readonly permitted: boolean;
  /** Any JSON value; programs find it as `userdata`. */
  readonly userdata: unknown;
  /** OUTPUT of the first envelope: what the agent is asked to do. */
  readonly prompt?: string;
  /** A new id when absent. Two loops of one id cannot run at once. */
  readonly loopId?: string;
  /** Asked once a turn for the events to deliver; each is delivered once per turn (AL1-2.12-2). */
  readonly events?: (turn: number) => readonly LoopInputEvent[];
  readonly signal?: AbortSignal;
  /** What it throws rejects the run, once the turn under way has ended. */
  readonly onEvent?: (event: V1LoopEvent) => void;
}

const OPTIONS: KeysOf<AskLoopOptions> = {
  executor: true,
  clock: true,
  ids: true,
  system: true,
  ceilings: true,
  outputBytes: true,
  countTokens: true,
  screen: true,
  applyTools: true,
  feedLogs: true,
  showIds: true,
};

const RUN_OPTIONS: KeysOf<AskLoopRun> = {
  agent: true,
  permitted: true,
  userdata: true,
  prompt: true,
  loopId: true,
  events: true,
  signal: true,
  onEvent: true,
};

/**
 * The Ask-Loop of the v1 profile (seed 001): asks an agent for an AEIOU v1 turn, executes it, reads control from what
 * ACTIONS emitted, and goes on only while it asks to continue and the host's ceilings allow it. Tokens of v3 mean nothing
 * here, as JSON control and markers mean nothing there (AMB-42). Keeps nothing beyond the process.
 */
export class AskLoop {
  readonly #options: AskLoopOptions;
  readonly #clock: Clock;
  readonly #ceilings: Ceilings;
  readonly #outputBytes: number;
  readonly #system: string;
  readonly #gate = new EventGate();
  readonly #running = new Set<string>();

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for a ceiling or a size that cannot be enforced. */
  constructor(options: AskLoopOptions) {
    checkOptions('the options of an AskLoop', options, OPTIONS);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ceilings = resolveCeilings(options.ceilings ?? {}, options.executor.limits.fuel);
    this.#system = options.system ?? agentBrief({ rules: v1SystemPrompt() });
    this.#outputBytes = options.outputBytes ?? DEFAULT_OUTPUT_BYTES;
    if (!Number.isSafeInteger(this.#outputBytes) || this.#outputBytes < 1)
      throw new ConfigError(`outputBytes must be a whole number from 1, got ${String(this.#outputBytes)}`);
  }

  /**
   * Runs a loop to its end, whatever the agent, its programs or the ceilings do. Rejects for misuse and state alone:
   * {@link ConfigError}, {@link SessionExistsError} for a loop id that is running, `RuntimeClosedError`, `BusyError`, and
   * with what `onEvent` throws.
   */
  async run(run: AskLoopRun): Promise<V1LoopResult> {
    checkOptions('the options of a loop', run, RUN_OPTIONS);
    const loopId = run.loopId ?? (this.#options.ids ?? randomIds).session();
    checkSid(loopId);
    const userdata = checkUserdata(run.userdata);
    const prompt = run.prompt ?? '';
    if (hasSectionLine(prompt)) throw new ConfigError('the prompt has a line that starts a section of an envelope');
    if (this.#running.has(loopId)) throw new SessionExistsError(loopId);
    this.#running.add(loopId);
    try {
      return await new V1Session(
        {
          ...this.#options,
          clock: this.#clock,
          ceilings: this.#ceilings,
          outputBytes: this.#outputBytes,
          system: this.#system,
          gate: this.#gate,
        },
        { ...run, loopId, userdata, prompt },
      ).run();
    } finally {
      this.#running.delete(loopId);
      this.#gate.dispose(loopId);
      await this.#options.executor.end?.(loopId);
    }
  }
}

/** A copy that is certainly JSON. */
function checkUserdata(userdata: unknown): JsonValue {
  try {
    return parseStrict(canonicalize(userdata, 'doubles'), { numbers: 'doubles', padding: false });
  } catch (error) {
    if (error instanceof JsonError) throw new ConfigError(`USERDATA must be JSON: ${error.message}`, { cause: error });
    throw error;
  }
}
