import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { EventError, Usage, Whisper, WorkerUsage } from '../../wire/protocol.ts';
import { publicUsage } from '../../wire/result.ts';
import type { RunError } from '../../wire/text/runerror.ts';
import type { Control, ControlLint } from './control.ts';
import type { InvalidReason } from './diagnostics.ts';
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
