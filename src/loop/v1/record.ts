import { timeoutError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { EventError, Usage, Whisper, WorkerUsage } from '../../wire/protocol.ts';
import { publicUsage } from '../../wire/result.ts';
import type { RunError } from '../../wire/text/runerror.ts';
import type { AgentReason } from '../agents/agent.ts';
import { hostFailure } from '../record/decision.ts';
import type { CeilingBreach } from './ceilings.ts';
import type { Control, ControlLint } from './control.ts';
import type { InvalidReason, V1HaltReason } from './diagnostics.ts';
import type { SecretLint } from './secrets.ts';

/** The effects of one turn, independent of any loop. */
export interface V1Execution {
  /** The agent's reply. */
  readonly reply: string;
  /** The limits under which the turn ran. */
  readonly limits: LimitValues;
  /** Why nothing was executed; null when ACTIONS was. */
  readonly invalid: InvalidReason | null;
  /** What ACTIONS emitted, joined with line feeds and screened, but not cut. */
  readonly output: string;
  /** The host's lines about this turn: `[[invalid:…]]`, `[[denied:…]]`. */
  readonly stubs: readonly string[];
  /** The secrets in OUTPUT, by name. */
  readonly lints: readonly SecretLint[];
  /** What the turn whispered, in order. */
  readonly whispers: readonly Whisper[];
  /** What event handlers emitted. It is not part of OUTPUT. */
  readonly eventEmits: readonly string[];
  /** Ids of the delivered events. */
  readonly delivered: readonly string[];
  /** Failures of event handlers. They do not fail the turn. */
  readonly eventErrors: readonly EventError[];
  /** Every call of the turn with its answer, in order. */
  readonly journal: readonly JournalEntry[];
  /** Usage of events and ACTIONS together. */
  readonly usage: Usage;
  /** Why the turn failed; null when its program ran to its end. */
  readonly error: RunError | null;
}

/** One turn of a loop, complete. */
export interface V1TurnRecord extends Omit<V1Execution, 'lints'> {
  /** Id of the loop. */
  readonly loopId: string;
  /** From 1. */
  readonly turn: number;
  /** The envelope that the agent received. */
  readonly prompt: string;
  /** Tokens of the prompt and of the reply. */
  readonly tokens: number;
  /** What OUTPUT requests. */
  readonly control: Control;
  /** The text for the agent or the caller: OUTPUT, cut to its limit, and the host's lines. */
  readonly nextOutput: string;
  /** The value that the progress guard compared; null when it did not run. */
  readonly digest: string | null;
  /** Remarks on the control line and on OUTPUT. */
  readonly lints: readonly (ControlLint | SecretLint)[];
}

/** The public form of a turn: an element of `loop --profile v1 --json`. */
export type V1TurnResult = Pick<V1TurnRecord, 'turn' | 'output' | 'nextOutput' | 'lints' | 'tokens' | 'error'> & {
  /** The use of the program. */
  readonly usage: WorkerUsage;
  /** What OUTPUT requests; null when it requests nothing. */
  readonly signal: Control['signal'];
  /** Why, in the words of the program; null without a reason. */
  readonly reason: string | null;
  /** Notes of the control line; null without any. */
  readonly notes: string | null;
};

/** Selects the public part of a record. */
export function toPublicV1Turn(record: V1TurnRecord): V1TurnResult {
  const { turn, output, nextOutput, lints, tokens, usage, error, control } = record;
  const { signal, reason, notes } = control;
  return { turn, signal, reason, notes, output, nextOutput, lints, tokens, usage: publicUsage(usage), error };
}

/** Why a loop ended. */
export type V1Stop =
  /** The program requested it. */
  | { readonly decision: 'DONE'; readonly cause: 'done'; readonly reason: null }
  /** The program did not request to continue. */
  | { readonly decision: 'DONE'; readonly cause: 'no-signal'; readonly reason: null }
  /** The agent may not loop, so it got one turn. */
  | { readonly decision: 'DONE'; readonly cause: 'not-permitted'; readonly reason: null }
  /** The program gave up. */
  | { readonly decision: 'ABORT'; readonly cause: 'abort'; readonly reason: string | null }
  /** The program emitted a halt marker. */
  | { readonly decision: 'HALT'; readonly cause: 'marker'; readonly reason: string | null }
  /** The host stopped the loop. */
  | { readonly decision: 'HALT'; readonly cause: 'host'; readonly reason: V1HaltReason };

/** The result of a loop. */
export type V1LoopResult = V1Stop & {
  /** Id of the loop. */
  readonly loopId: string;
  /** OUTPUT of the last turn with the host's lines. If the host stopped the loop, the last line is its halt marker. */
  readonly output: string;
  /** Why the host stopped the loop, or why the one permitted turn failed. */
  readonly error: RunError | null;
  /** Fuel of all turns together. */
  readonly fuel: number;
  /** Model tokens of all turns together. */
  readonly tokens: number;
  /** The turns, in order. */
  readonly turns: readonly V1TurnRecord[];
};

/** The public form of a loop: `loop --profile v1 --json`. */
export type V1LoopSummary = Omit<V1LoopResult, 'turns'> & {
  readonly profile: 'v1';
  /** The turns, in order. */
  readonly turns: readonly V1TurnResult[];
};

/** Selects the public part of a result. */
export function toPublicV1Loop(result: V1LoopResult): V1LoopSummary {
  const { loopId, decision, cause, reason, output, error, fuel, tokens, turns } = result;
  return { profile: 'v1', loopId, decision, cause, reason, output, error, fuel, tokens, turns: turns.map(toPublicV1Turn) };
}

/** The reason for the halt after a failed turn. */
export function reasonOfError({ kind }: ErrorInfo): V1HaltReason {
  switch (kind) {
    case 'timeout':
      return 'timeout';
    case 'quota':
    case 'policy':
    case 'cancelled':
      return 'policy';
    case 'syntax':
    case 'runtime':
    case 'usage':
    case 'internal':
      return 'execute-error';
  }
}

/** The reason for the halt when the agent gave no reply. */
export function reasonOfAgent(reason: AgentReason): V1HaltReason {
  if (reason === 'ERR_TIMEOUT') return 'timeout';
  return reason === 'ERR_AGENT' ? 'execute-error' : 'policy';
}

/** Describes a reached ceiling as a failure. */
export function breachError({ reason, ceiling, allowed, used }: CeilingBreach): ErrorInfo {
  const message = `the loop's ${ceiling} allows ${allowed}, and ${Math.ceil(used)} was used`;
  if (reason === 'timeout') return timeoutError({ limit: 'wallMs', allowed, used }, message);
  if (reason === 'max-turns') return hostFailure('ERR_MAX_TURNS', message);
  return { ...hostFailure('ERR_QUOTA', message), kind: 'quota', limit: ceiling, allowed, used };
}
