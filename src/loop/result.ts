import { defined } from '../wire/defined.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { RunError } from '../wire/text/runerror.ts';
import { type Decision, type HaltReason, hostFailure } from './record/decision.ts';
import { type TurnRecord, type TurnResult, toPublicTurn } from './record/record.ts';
import type { Waiting } from './record/suspension.ts';

/**
 * The result of driving a session. The decision `SUSPENDED` means that it waits for a call, and `CONTINUE` that it is open: it was
 * handed over to other processes, or, with an `error`, its agent gave no reply and it can be resumed later.
 */
export interface LoopResult {
  /** Id of the session. */
  readonly sid: string;
  /** The last decision, or why there is none yet. */
  readonly decision: Decision | 'SUSPENDED';
  /** Set exactly when the decision is HALT, even for an end between two turns such as `ERR_MAX_TURNS`. */
  readonly reason: HaltReason | null;
  /** OUTPUT of the last turn without its token lines and its final line feed; null when nothing is left. */
  readonly output: string | null;
  /** Why a turn, the agent or the host's input failed; null when a token decided, and for a session that was handed over. */
  readonly error: RunError | null;
  /** The turns of this call; none where `keepTurns` is not set and the store is no `MemoryStore`. */
  readonly turns: readonly TurnRecord[];
  /** The call for which the session waits; present exactly when it is `SUSPENDED`. */
  readonly waiting?: Waiting;
}

/** The public form of a session: `loop --json`. Its schema is `docs/schemas/loop.schema.json`. */
export interface LoopSummary extends Omit<LoopResult, 'turns'> {
  /** The turns of this drive, in order. */
  readonly turns: readonly TurnResult[];
}

/** Selects the public part of a result. `turns` are those of the result when absent. */
export function toPublicLoop(result: LoopResult, turns: readonly TurnResult[] = result.turns.map(toPublicTurn)): LoopSummary {
  const { sid, decision, reason, output, error, waiting } = result;
  return defined({ sid, decision, reason, output, error, turns, waiting });
}

/** OUTPUT as a user sees it: without candidate lines, verified or not; null when nothing is left. */
export function visibleOutput(record: TurnRecord): string | null {
  const tokens = new Set(record.candidates.map(({ line }) => line));
  const lines = record.output.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const shown = lines.filter((_, index) => !tokens.has(index + 1));
  return shown.length === 0 ? null : shown.join('\n');
}

/** The result of a session that the host halted between two turns. */
export function halted(sid: string, reason: HaltReason, failure: string | ErrorInfo): Omit<LoopResult, 'output' | 'turns'> {
  const error = RunError.of(typeof failure === 'string' ? hostFailure(reason, failure) : failure);
  return { sid, decision: 'HALT', reason, error };
}

/** The result of a session that stays open, because its agent gave no reply for a reason outside of it. */
export function unanswered(sid: string, message: string): Omit<LoopResult, 'output' | 'turns'> {
  return { sid, decision: 'CONTINUE', reason: null, error: RunError.of(hostFailure('ERR_AGENT', message)) };
}

/** The result of a call whose session waits now. */
export function suspendedAt(sid: string, waiting: Waiting): Omit<LoopResult, 'output' | 'turns'> {
  return { sid, decision: 'SUSPENDED', reason: null, error: null, waiting };
}
