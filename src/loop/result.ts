import type { ErrorInfo } from '../wire/errors.ts';
import type { Waiting } from './suspend/suspension.ts';
import type { Decision, HaltReason } from './turn/decision.ts';
import { hostFailure } from './turn/failure.ts';
import { type TurnRecord, type TurnResult, toPublicTurn } from './turn/record.ts';

/** How a session ended, or that it waits: decision `SUSPENDED`. */
export interface LoopResult {
  readonly sid: string;
  readonly decision: Exclude<Decision, 'CONTINUE'> | 'SUSPENDED';
  /** Set exactly when the decision is HALT; also for what ended the session between two turns (`ERR_MAX_TURNS` …). */
  readonly reason: HaltReason | null;
  /** OUTPUT of the last turn without its token lines and without its final line feed; null when there is none (P34). */
  readonly output: string | null;
  /** Why a turn, the agent or the host's input failed; null for everything that a token decided. */
  readonly error: ErrorInfo | null;
  readonly turns: readonly TurnRecord[];
  /** The call that a session waits for; present exactly when it is `SUSPENDED`. */
  readonly waiting?: Waiting;
}

/** The public form of a session: `loop --json` (`schemas/loop.schema.json`). */
export interface LoopSummary extends Omit<LoopResult, 'turns'> {
  readonly turns: readonly TurnResult[];
}

/** Takes from a result what the public form shows. */
export function toPublicLoop(result: LoopResult): LoopSummary {
  const { sid, decision, reason, output, error, turns, waiting } = result;
  const waits = waiting === undefined ? {} : { waiting };
  return { sid, decision, reason, output, error, turns: turns.map(toPublicTurn), ...waits };
}

/** OUTPUT as a user sees it: without the lines that are tokens, whatever became of them; null when nothing is left. */
export function visibleOutput(record: TurnRecord): string | null {
  const tokens = new Set(record.candidates.map(({ line }) => line));
  const lines = record.output.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const shown = lines.filter((_, index) => !tokens.has(index + 1));
  return shown.length === 0 ? null : shown.join('\n');
}

/** The end of a session that the host ended between two turns. */
export function halted(sid: string, reason: HaltReason, message: string): Omit<LoopResult, 'output' | 'turns'> {
  return { sid, decision: 'HALT', reason, error: hostFailure(reason, message) };
}

/** The end of a call whose session waits now. */
export function suspendedAt(sid: string, waiting: Waiting): Omit<LoopResult, 'output' | 'turns'> {
  return { sid, decision: 'SUSPENDED', reason: null, error: null, waiting };
}

/** What a user sees of the last turn; null when there is none, or nothing of it. */
export function shownOf(turns: readonly TurnRecord[]): string | null {
  const last = turns.at(-1);
  return last === undefined ? null : visibleOutput(last);
}
