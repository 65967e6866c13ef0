import {
  carryForward,
  EnvelopeError,
  type KeyLookup,
  type ProgressGuard,
  type ProgressState,
  progressDigest,
  type ReplayCache,
  type Selection,
  selectDecision,
  type TokenClock,
} from '../../aeiou/index.ts';
import type { ProgressCheck } from '../guard.ts';
import type { HaltReason } from './decision.ts';
import { composePrompt } from './input.ts';
import type { CandidateRecord, UnsealedRecord } from './record.ts';

/** What the turn said, and whether its execution already decided. */
export interface Said {
  /** Why the turn ended before its program did; then nothing it emitted counts (threat 22). */
  readonly halt: HaltReason | null;
  readonly output: string;
  readonly scratchpad: string;
}

/** What a turn is held against. */
export interface VerdictInit {
  readonly sid: string;
  readonly turn: number;
  readonly nonce: string;
  readonly keys: KeyLookup;
  readonly clock: TokenClock;
  readonly replay: ReplayCache;
  /** Seconds a token may seem to come from the future. */
  readonly clockSkew: number;
  readonly guard: ProgressGuard;
  readonly progress: ProgressState;
  /** The application's own guards. */
  readonly checks: readonly ProgressCheck[];
  /** The host's USERDATA, which goes into the next envelope too. */
  readonly userdata: string;
}

/** The part of a turn's record that the decision fills. */
export type Verdict = Pick<
  UnsealedRecord,
  'decision' | 'reason' | 'overridden' | 'kid' | 'jti' | 'candidates' | 'verificationFailureReason' | 'lints' | 'digest'
>;

/**
 * Decides a turn: candidates, selection, progress guards, carry-forward check, in this order. The clock is read here and
 * not at the start of the turn (AL3-11-2). A turn that was halted while it executed is not scanned, does not feed the
 * guard and is not overruled by it (AMB-02).
 */
export function decide(said: Said, init: VerdictInit): { readonly verdict: Verdict; readonly progress: ProgressState } {
  if (said.halt !== null) return { verdict: unscanned(said.halt), progress: init.progress };
  const selection = selectDecision(said.output, {
    keys: init.keys,
    sessionId: init.sid,
    turnIndex: init.turn,
    turnNonce: init.nonce,
    now: init.clock.now() / 1000,
    clockSkew: init.clockSkew,
    replay: init.replay,
  });
  const digest = progressDigest(said.output, said.scratchpad);
  const { state, halt } = init.guard.observe(init.progress, digest);
  const { sid, turn } = init;
  const view = { sid, turn, decision: selection.decision, output: said.output, scratchpad: said.scratchpad, digest };
  const stopped = halt || init.checks.some((check) => check(view));
  const reason = stopped ? 'ERR_NO_PROGRESS' : selection.decision === 'CONTINUE' ? carryProblem(said, init.userdata) : null;
  return { verdict: { ...fromSelection(selection, reason), digest }, progress: state };
}

/** The HALT of a turn whose OUTPUT nobody looks at. */
export function unscanned(reason: HaltReason): Verdict {
  return {
    decision: 'HALT',
    reason,
    overridden: null,
    kid: null,
    jti: null,
    candidates: [],
    verificationFailureReason: null,
    lints: [],
    digest: null,
  };
}

/** The selection, or the HALT that the host puts in its place for a reason of its own. */
function fromSelection(selection: Selection, reason: HaltReason | null): Omit<Verdict, 'digest'> {
  const common = {
    kid: selection.chosen?.payload.kid ?? null,
    jti: selection.chosen?.payload.jti ?? null,
    candidates: selection.candidates.map(
      ({ line, ok, code, detail, message, payload }): CandidateRecord => ({
        line,
        ok,
        code,
        detail,
        message,
        action: payload?.payload.action ?? null,
        kid: payload?.kid ?? null,
        jti: payload?.jti ?? null,
      }),
    ),
    verificationFailureReason: selection.verificationFailureReason,
    lints: selection.lints,
  };
  if (reason === null) return { ...common, decision: selection.decision, reason: selection.reason, overridden: null };
  return { ...common, decision: 'HALT', reason, overridden: selection.decision === 'HALT' ? null : selection.decision };
}

/**
 * Why the two streams cannot stand in the next envelope: too large together (AMB-23), or a line of theirs would be read as
 * a marker (AMB-24). Checked before the session goes on, so that nothing is ever cut or escaped silently.
 */
function carryProblem(said: Said, userdata: string): HaltReason | null {
  try {
    composePrompt({ userdata, output: carryForward(said.output), scratchpad: carryForward(said.scratchpad) });
    return null;
  } catch (error) {
    if (error instanceof EnvelopeError) return error.code;
    throw error;
  }
}
