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
import type { Decision, HaltReason } from '../record/decision.ts';
import type { CandidateRecord, UnsealedRecord } from '../record/record.ts';
import { composePrompt } from './input.ts';

/** A turn whose program ran to its end, as a guard of the application sees it. */
export interface GuardView {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** What the turn's tokens request; `HALT` when no token verified. */
  readonly decision: Decision;
  /** What the turn emitted. */
  readonly output: string;
  /** What the turn whispered. */
  readonly scratchpad: string;
  /** Digest of the mandatory guard, in hexadecimal. */
  readonly digest: string;
}

/**
 * A guard of the application, for instance over digests of plans. `true` halts the session with `ERR_NO_PROGRESS`; `false`
 * has no effect. The mandatory guard applies in addition and cannot be overruled. If a guard throws, the turn is rejected and
 * not stored, because a broken guard must not look like progress.
 */
export type ProgressCheck = (turn: GuardView) => boolean;

/** The output of a turn's program, and whether its execution already decided the turn. */
export interface Said {
  /** Why the turn ended before its program did; its output then has no effect. */
  readonly halt: HaltReason | null;
  readonly output: string;
  readonly scratchpad: string;
}

/** The inputs of a decision. */
export interface VerdictInit {
  readonly sid: string;
  readonly turn: number;
  readonly nonce: string;
  readonly keys: KeyLookup;
  readonly clock: TokenClock;
  readonly replay: ReplayCache;
  /** Seconds by which a token may appear to come from the future. */
  readonly clockSkew: number;
  readonly guard: ProgressGuard;
  readonly progress: ProgressState;
  /** Guards of the application. */
  readonly checks: readonly ProgressCheck[];
  /** The host's USERDATA, which the next envelope repeats. */
  readonly userdata: string;
}

/** The part of a turn's record that the decision fills in. */
export type Verdict = Pick<
  UnsealedRecord,
  'decision' | 'reason' | 'overridden' | 'kid' | 'jti' | 'candidates' | 'verificationFailureReason' | 'lints' | 'digest'
>;

/**
 * Decides a turn: candidates, selection, progress guards, carry-forward check, in this order. Token lifetimes are measured at
 * the decision and not at the start of the turn. A turn that was halted during its execution is not scanned,
 * does not update the guard, and cannot be overruled by it.
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

/** The HALT of a turn whose OUTPUT is not scanned. */
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

/** The selection, or the HALT with which the host overrides it. */
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
 * Why the two streams cannot be part of the next envelope: they are too large together, or one of their lines would be read
 * as a marker. The check runs before the session goes on, so the host never cuts or escapes a stream silently.
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
