import { untakenCalls } from '../../tools/index.ts';
import { STORED_VERSION } from '../../wire/forms.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { NO_USAGE } from '../../wire/result.ts';
import { journalsOf } from '../record/attempt.ts';
import { type HaltReason, hostFailure } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';
import { sealRecord } from '../record/seal.ts';
import { callId, openCalls, type Suspension } from '../record/suspension.ts';
import { readReply } from '../turn/input.ts';
import { unscanned } from '../turn/verdict.ts';
import type { SessionState, StartedTurn } from './store.ts';

/** What happens to a turn whose process died: it runs again, or it ends its session. */
export type OnInterrupted = 'rerun' | 'halt';

/** Default for the number of attempts at a turn alone. It is bounded, because a turn that kills its process would do so forever. */
export const DEFAULT_MAX_ATTEMPTS = 3;

/**
 * The record of a turn that was started and will not run again. Every turn that ran has exactly one decision. The output and
 * the effects of this one are unknown, so the record contains only the calls that were `kept`.
 */
export function interruptedRecord(
  state: SessionState,
  started: StartedTurn,
  reason: HaltReason,
  kept: readonly JournalEntry[] = [],
  message: string | null = null,
): TurnRecord {
  const { sid, turn, startedAt, nonce, limits, reply, agent, attempt, suspended, attempts } = started;
  const { clock = [], jtis = [], journal: waited = [] } = suspended?.earlier ?? {};
  const journal = kept.length > 0 ? kept : waited;
  return sealRecord(
    {
      version: STORED_VERSION,
      sid,
      turn,
      startedAt,
      latencyMs: 0,
      phases: [],
      agent,
      inputs: { envelope: reply === null ? '' : readReply(state, reply).text, limits, nonce, clock, jtis, scene: null },
      ...unscanned(reason),
      output: '',
      scratchpad: '',
      outputBytes: 0,
      scratchBytes: 0,
      outputComplete: false,
      whispers: [],
      journal,
      // The tools are not at hand, and a call whose tool does not say that it only reads counts as one that writes.
      ...(attempts.length === 0 ? {} : { attempts, leftOver: untakenCalls(journalsOf(attempts), journal) }),
      usage: NO_USAGE,
      error: hostFailure(reason, message ?? `turn ${turn} was started and not decided: ${cause(turn, attempt, suspended)}`),
    },
    state.head,
  );
}

function cause(turn: number, attempt: number, suspended: Suspension | null): string {
  if (suspended !== null && attempt === 0)
    return openCalls(suspended)
      .map(({ waiting }) => `it waited for call ${callId(turn, waiting)} of ${waiting.tool}`)
      .join(', ');
  if (attempt === 0) return 'its program did not run';
  // A process that was cut off from the store may live, and nobody can tell it from one that died.
  return attempt === 1 ? 'it was interrupted' : `it was interrupted ${attempt} times`;
}
