import { canonicalize, JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import {
  anything,
  checker,
  checkFlag,
  checkFunction,
  checkSignal,
  checkText,
  listOf,
  required,
  wholeNumber,
} from '../../wire/options.ts';
import type { OutFrame } from '../../wire/protocol.ts';
import type { Agent } from '../agents/index.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { V1Executor } from '../turn/executor.ts';
import type { CeilingOptions, TokenCounter } from './ceilings.ts';
import type { LoopInputEvent } from './dedupe.ts';
import { hasSectionLine } from './envelope.ts';
import type { V1Stop, V1TurnRecord } from './record.ts';
import type { OutputHook } from './secrets.ts';
import type { V1Section } from './turn.ts';

/** Options of an `AskLoop`. */
export interface AskLoopOptions {
  /** Runs programs. */
  readonly executor: V1Executor;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
  /** Random loop ids when absent. */
  readonly ids?: Pick<Ids, 'session'>;
  /** The system text for agents, in addition to the envelopes; `agentBrief` with the rules of v1 and the tools of `executor` when absent. */
  readonly system?: string;
  /** Bounds of one loop; see {@link CeilingOptions} for the defaults. */
  readonly ceilings?: CeilingOptions;
  /** Most bytes of OUTPUT that return to the agent, from 1; 4096 when absent. */
  readonly outputBytes?: number;
  /** Counts tokens for agents that do not; `estimateTokens` when absent. */
  readonly countTokens?: TokenCounter;
  /** Screens every OUTPUT, see `secretHook`. */
  readonly screen?: OutputHook;
  /** Patterns of tools that may run only in the turn after a plan; none when absent. */
  readonly applyTools?: readonly string[];
  /** Shows the agent the whispers and failures of the previous turn as `[log]` lines; false when absent. */
  readonly feedLogs?: boolean;
  /** Adds a line with loop and turn id to every OUTPUT; false when absent. */
  readonly showIds?: boolean;
}

/** One loop to run. */
export interface AskLoopRun {
  /** Writes the program of each turn. */
  readonly agent: Agent;
  /** Whether this agent may loop: `ToolLoopPermitted`. If not, it gets one turn. */
  readonly permitted: boolean;
  /** Any JSON value, which programs find as `userdata`. */
  readonly userdata: unknown;
  /** OUTPUT of the first envelope: the agent's task. */
  readonly prompt?: string;
  /** A new id when absent. Two loops with the same id cannot run at once. */
  readonly loopId?: string | undefined;
  /** Called once per turn for the events to deliver. Each event is delivered once per turn. */
  readonly events?: (turn: number) => readonly LoopInputEvent[];
  /** Cancels the loop. */
  readonly signal?: AbortSignal;
  /** If it throws, the run rejects with the error after the turn under way has ended. */
  readonly onEvent?: (event: V1LoopEvent) => unknown;
}

/** Progress of a v1 loop. `decided` is the last event of a turn. */
export type V1LoopEvent = {
  /** Id of the loop. */
  readonly loopId: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
} & V1LoopEventBody;

/** An event without the loop and turn that it belongs to. */
export type V1LoopEventBody =
  /** The agent is consulted; `prompt` is the envelope. */
  | { readonly type: 'asked'; readonly prompt: string }
  /** A piece of a reply that is under way. A higher `retry` begins the reply anew. */
  | { readonly type: 'delta'; readonly retry: number; readonly text: string }
  /** The agent replied. */
  | { readonly type: 'replied'; readonly reply: string }
  /** A section of the reply was read. */
  | { readonly type: 'section'; readonly section: V1Section }
  /** Lines that the program emitted or whispered. */
  | { readonly type: 'output'; readonly out: OutFrame }
  /** A call to the host ended. */
  | { readonly type: 'called'; readonly entry: JournalEntry }
  /** The turn has ended. */
  | { readonly type: 'decided'; readonly decision: V1Stop['decision'] | 'CONTINUE'; readonly record: V1TurnRecord };

export const checkLoopOptions = checker<AskLoopOptions>({
  executor: required(anything),
  clock: anything,
  ids: anything,
  system: checkText,
  ceilings: anything,
  outputBytes: wholeNumber(1),
  countTokens: checkFunction,
  screen: checkFunction,
  applyTools: listOf(checkText),
  feedLogs: checkFlag,
  showIds: checkFlag,
});

const checkRunOptions = checker<AskLoopRun>({
  agent: required(anything),
  permitted: required(checkFlag),
  userdata: required(anything),
  prompt: checkText,
  loopId: checkText,
  events: checkFunction,
  signal: checkSignal,
  onEvent: checkFunction,
});

/** Checks the options of one loop and copies its USERDATA. Throws {@link ConfigError} (`ERR_CONFIG`). */
export function checkRun(run: AskLoopRun): AskLoopRun & { readonly userdata: JsonValue; readonly prompt: string } {
  checkRunOptions('the options of a loop', run);
  const { prompt = '' } = run;
  const userdata = jsonCopy(run.userdata);
  if (hasSectionLine(prompt)) throw new ConfigError('the prompt has a line that starts a section of an envelope');
  return { ...run, userdata, prompt };
}

function jsonCopy(userdata: unknown): JsonValue {
  try {
    return parseStrict(canonicalize(userdata, 'doubles'), { numbers: 'doubles', padding: false });
  } catch (error) {
    if (error instanceof JsonError) throw new ConfigError(`USERDATA must be JSON: ${error.message}`, { cause: error });
    throw error;
  }
}
