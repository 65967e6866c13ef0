import { NO_USAGE } from '../../wire/result.ts';
import { sealRecord } from '../replay/seal.ts';
import type { SessionState, StartedTurn } from '../sessions/store.ts';
import { callId, type Suspension } from '../suspend/suspension.ts';
import type { HaltReason } from './decision.ts';
import { hostFailure } from './failure.ts';
import { readReply } from './input.ts';
import type { TurnRecord, UnsealedRecord } from './record.ts';
import { unscanned } from './verdict.ts';

/** What becomes of a turn that was started by a process that died: it is run again, or it ends its session. */
export type OnInterrupted = 'rerun' | 'halt';

/** A turn that ends its process so often is not run again: it would do so for ever. */
export const DEFAULT_MAX_ATTEMPTS = 3;

/**
 * The record of a turn that was started and is not run again: every turn that ran has exactly one decision (AL3-1-1). What
 * it said and did is not known, so it counts for nothing.
 */
export function interruptedRecord(state: SessionState, started: StartedTurn, reason: HaltReason): TurnRecord {
  return sealRecord(unsealed(state, started, reason), state.head);
}

function unsealed(state: SessionState, started: StartedTurn, reason: HaltReason): UnsealedRecord {
  const { sid, turn, startedAt, nonce, limits, reply, agent, attempt, suspended } = started;
  const { clock = [], jtis = [], journal = [] } = suspended?.earlier ?? {};
  return {
    version: 2,
    sid,
    turn,
    startedAt,
    latencyMs: 0,
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
    usage: NO_USAGE,
    error: hostFailure(reason, `turn ${turn} was started and not decided: ${whyNot(turn, attempt, suspended)}`),
  };
}

function whyNot(turn: number, attempt: number, suspended: Suspension | null): string {
  if (suspended !== null && attempt === 0)
    return `it waited for call ${callId(turn, suspended.waiting)} of ${suspended.waiting.tool}`;
  return attempt === 1 ? 'its process died' : `its process died ${attempt} times`;
}
