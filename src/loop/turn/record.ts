import type { Action, Lint, TokenCode, TokenDetail } from '../../aeiou/index.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { Usage, Whisper } from '../../wire/protocol.ts';
import type { AgentUse } from '../agents/consult.ts';
import type { Scene } from '../replay/facts.ts';
import type { Seal } from '../replay/seal.ts';
import type { Decision, HaltReason } from './decision.ts';

/** One line of OUTPUT that has the shape of a token, in emission order (AL3-5.1-1). */
export interface CandidateRecord {
  /** 1-based line of OUTPUT. */
  readonly line: number;
  readonly ok: boolean;
  /** Of the first check that failed; null when all passed. */
  readonly code: TokenCode | null;
  /** Which check of that code's family failed; null when none did. */
  readonly detail: TokenDetail | null;
  /** The failure in a sentence; null when none did. */
  readonly message: string | null;
  /** The fields below are read from the token only after it verified. */
  readonly action: Action | null;
  readonly kid: string | null;
  readonly jti: string | null;
}

/** Everything from outside that a turn depends on, apart from the tool calls, which are in the journal (A3-2-7, AMB-14). */
export interface TurnInputs {
  /** The envelope that was executed: the host's USERDATA and prior sections, the agent's ACTIONS. */
  readonly envelope: string;
  readonly limits: LimitValues;
  /** 16 bytes in base64url. */
  readonly nonce: string;
  /** Every reading of the clock of tokens, Unix milliseconds, in order. */
  readonly clock: readonly number[];
  /** Every token id given out, in order. */
  readonly jtis: readonly string[];
  /** Null in records of version 1, and for a turn whose process died. */
  readonly scene: Scene | null;
}

/** One turn, complete: what is needed to show it, to log it and to execute it again with the same result. */
export interface TurnRecord extends UnsealedRecord {
  /** Null in records of version 1. */
  readonly seal: Seal | null;
}

/** A record before it is sealed. */
export interface UnsealedRecord {
  /** 1 as older versions wrote it: such a turn can be shown, and not executed again. */
  readonly version: 1 | 2;
  readonly sid: string;
  readonly turn: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Milliseconds from the start of the turn to its decision, the agent's time not included. */
  readonly latencyMs: number;
  /** What the turn took of its agent; null when none was asked. */
  readonly agent: AgentUse | null;
  readonly inputs: TurnInputs;
  readonly decision: Decision;
  /** Set exactly when the decision is HALT (AMB-08). */
  readonly reason: HaltReason | null;
  /** What the token asked for, where the host decided otherwise (AMB-02, AMB-24); `kid` and `jti` are still its own. */
  readonly overridden: Exclude<Decision, 'HALT'> | null;
  /** Key and id of the token that was chosen; null when none verified. */
  readonly kid: string | null;
  readonly jti: string | null;
  readonly candidates: readonly CandidateRecord[];
  /** Code of the last candidate that failed, also when another one decided (AMB-08). */
  readonly verificationFailureReason: TokenCode | null;
  /** Remarks; none of them changes the decision (AL3-8-18 … 20). */
  readonly lints: readonly Lint[];
  /** What was emitted, exactly: every text with its line feed (A3-4-1). */
  readonly output: string;
  /** What was whispered, likewise (A3-4-3). */
  readonly scratchpad: string;
  /** UTF-8 bytes of the two streams. */
  readonly outputBytes: number;
  readonly scratchBytes: number;
  /** False when the worker was killed and the last emits may be missing. */
  readonly outputComplete: boolean;
  /** The whispers with their targets, which SCRATCHPAD does not have (AMB-52). */
  readonly whispers: readonly Whisper[];
  /** Digest of the progress guard, hex; null when the turn did not complete (AL3-6-1). */
  readonly digest: string | null;
  readonly journal: readonly JournalEntry[];
  readonly usage: Usage;
  /** Why the envelope or the program failed; null when the program ran to its end. */
  readonly error: ErrorInfo | null;
}

/** The public form of a turn: `turn --json` and the elements of `loop --json` (DESIGN 5, `schemas/turn.schema.json`). */
export interface TurnResult {
  readonly sid: string;
  readonly turn: number;
  readonly decision: Decision;
  readonly reason: HaltReason | null;
  readonly kid: string | null;
  readonly jti: string | null;
  readonly output: string;
  readonly scratchpad: string;
  readonly lints: readonly Lint[];
  readonly candidates: readonly { readonly line: number; readonly ok: boolean; readonly code: TokenCode | null }[];
  readonly agent: AgentUse | null;
  readonly usage: Usage;
  readonly error: ErrorInfo | null;
}

/** Takes from a record what the public form shows. */
export function toPublicTurn(record: TurnRecord): TurnResult {
  return {
    sid: record.sid,
    turn: record.turn,
    decision: record.decision,
    reason: record.reason,
    kid: record.kid,
    jti: record.jti,
    output: record.output,
    scratchpad: record.scratchpad,
    lints: record.lints.map(({ code, line }) => ({ code, line })),
    candidates: record.candidates.map(({ line, ok, code }) => ({ line, ok, code })),
    agent: record.agent,
    usage: record.usage,
    error: record.error,
  };
}
