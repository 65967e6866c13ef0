import { NO_USAGE } from '../wire/public.ts';
import type { HaltReason } from './decision.ts';
import { hostFailure } from './failure.ts';
import { readReply } from './input.ts';
import type { TurnRecord } from './record.ts';
import type { SessionState, StartedTurn } from './store.ts';

/** What becomes of a turn that was started by a process that died: it is run again, or it ends its session. */
export type OnInterrupted = 'rerun' | 'halt';

/** A turn that ends its process so often is not run again: it would do so for ever. */
export const DEFAULT_MAX_ATTEMPTS = 3;

/**
 * The record of a turn that was started and is not run again: every turn that ran has exactly one decision (AL3-1-1). What
 * it said and did is not known, so it counts for nothing.
 */
export function interruptedRecord(state: SessionState, started: StartedTurn, reason: HaltReason): TurnRecord {
  const { sid, turn, startedAt, nonce, limits, reply, attempt } = started;
  const times = attempt === 1 ? 'its process died' : `its process died ${attempt} times`;
  return {
    version: 1,
    sid,
    turn,
    startedAt,
    latencyMs: 0,
    inputs: { envelope: reply === null ? '' : readReply(state, reply).text, limits, nonce, clock: [], jtis: [] },
    decision: 'HALT',
    reason,
    overridden: null,
    kid: null,
    jti: null,
    candidates: [],
    verificationFailureReason: null,
    lints: [],
    output: '',
    scratchpad: '',
    outputBytes: 0,
    scratchBytes: 0,
    outputComplete: false,
    whispers: [],
    digest: null,
    journal: [],
    usage: NO_USAGE,
    error: hostFailure(reason, `turn ${turn} was started and not decided: ${times}`),
  };
}
