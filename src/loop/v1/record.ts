import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { EventError, Usage, Whisper } from '../../wire/protocol.ts';
import type { Control, ControlLint } from './control.ts';
import type { InvalidReason } from './diagnostics.ts';
import type { SecretLint } from './secrets.ts';

/** What one turn did, before the loop looks at it: the same whether there is a loop or not (AL1-0-1). */
export interface V1Execution {
  /** The agent's reply. */
  readonly reply: string;
  readonly limits: LimitValues;
  /** Why nothing was executed; null when ACTIONS was. */
  readonly invalid: InvalidReason | null;
  /** What ACTIONS emitted, joined with line feeds, screened; not cut. */
  readonly output: string;
  /** Lines of the host about this turn: `[[invalid:…]]`, `[[denied:…]]`. */
  readonly stubs: readonly string[];
  readonly lints: readonly SecretLint[];
  readonly whispers: readonly Whisper[];
  /** What the handlers of events emitted; it is not part of OUTPUT. */
  readonly eventEmits: readonly string[];
  /** Ids of the events that were delivered. */
  readonly delivered: readonly string[];
  /** What handlers failed with; it does not fail the turn. */
  readonly eventErrors: readonly EventError[];
  readonly journal: readonly JournalEntry[];
  /** Of events and ACTIONS together. */
  readonly usage: Usage;
  /** Why the turn failed; null when its program ran to its end. */
  readonly error: ErrorInfo | null;
}

/** One turn of a loop, complete. */
export interface V1TurnRecord extends Omit<V1Execution, 'lints'> {
  readonly loopId: string;
  /** From 1. */
  readonly turn: number;
  /** The envelope that the agent was shown. */
  readonly prompt: string;
  /** Tokens of the prompt and of the reply. */
  readonly tokens: number;
  readonly control: Control;
  /** What goes back to the agent, or to the caller: OUTPUT within its cap, and the host's lines under it. */
  readonly nextOutput: string;
  /** What the progress guard compared; null when it was not asked. */
  readonly digest: string | null;
  readonly lints: readonly (ControlLint | SecretLint)[];
}

/** The public form of a turn: an element of `loop --profile v1 --json`. */
export type V1TurnResult = Pick<V1TurnRecord, 'turn' | 'output' | 'nextOutput' | 'lints' | 'tokens' | 'usage' | 'error'> & {
  readonly signal: Control['signal'];
  readonly reason: string | null;
  readonly notes: string | null;
};

/** Takes from a record what the public form shows. */
export function toPublicV1Turn(record: V1TurnRecord): V1TurnResult {
  const { turn, output, nextOutput, lints, tokens, usage, error, control } = record;
  const { signal, reason, notes } = control;
  return { turn, signal, reason, notes, output, nextOutput, lints, tokens, usage, error };
}
