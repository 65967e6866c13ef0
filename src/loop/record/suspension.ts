import type { Completion } from '../../tools/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { RunInput, TaggedJson } from '../../wire/protocol.ts';

/** What a turn takes over from an earlier execution of itself. */
export interface EarlierTurn {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly nonce: string;
  /** Token times that were recorded, in Unix milliseconds. */
  readonly clock: readonly number[];
  /** Token ids that were issued. */
  readonly jtis: readonly string[];
  /** Number of tokens that were minted. */
  readonly mints: number;
  readonly mintFailed: boolean;
  /** Milliseconds that the turn ran. */
  readonly ranMs: number;
}

/** A turn whose tool will answer later. */
export interface SuspendedTurn {
  readonly waiting: WaitingCall;
  readonly earlier: EarlierTurn & { readonly run: RunInput; readonly journal: readonly JournalEntry[] };
  /** Digest of the tool's definition; null when the executor does not report it. */
  readonly promise: string | null;
  /** Hash of the ACTIONS that a human approved when the turn began; null when none had to. */
  readonly approved: string | null;
}

/** A human's approval of the ACTIONS of a turn that waits, signed by the host. */
export interface SignedApproval {
  /** Hash of the ACTIONS. */
  readonly plan: string;
  /** The key of the host that signed. */
  readonly kid: string;
  /** In base64url. */
  readonly tag: string;
}

/** A suspended turn as it is stored. Any process can continue it. */
export interface Suspension extends Omit<SuspendedTurn, 'approved'> {
  /** Null when no human had to approve the ACTIONS. */
  readonly approved: SignedApproval | null;
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** What the call was completed with; null while the turn waits. */
  readonly completion: Completion | null;
  /** Whether the completion accepts that the tool's definition has changed. */
  readonly acceptChanged: boolean;
}

/** A call that a session waits for, in a form for the person or program that completes it. */
export interface Waiting {
  /** Id of the call, unique in its session. */
  readonly call: string;
  readonly turn: number;
  /** Canonical name of the tool. */
  readonly tool: string;
  readonly args: readonly TaggedJson[];
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** True once the call is completed and the session can be resumed. */
  readonly completed: boolean;
}

/** What happens when a call is not completed in time: its session ends, or the call fails with code 37. */
export type OnExpired = 'halt' | 'error';

/** Default for the longest time that a call may wait: seven days, in milliseconds. */
export const DEFAULT_MAX_WAIT_MS = 7 * 86_400_000;

/** The id of a call: its turn, and its number among the turn's calls to the host. */
export function callId(turn: number, { seq }: Pick<WaitingCall, 'seq'>): string {
  return `${turn}.${seq}`;
}

/** A suspension that begins at `now`. `maxWaitMs` limits the time that the tool requested. */
export function suspend(
  { waiting, earlier, promise }: SuspendedTurn,
  approved: SignedApproval | null,
  now: number,
  maxWaitMs: number,
): Suspension {
  const expiresAt = Math.floor(now) + Math.min(maxWaitMs, waiting.expiresIn ?? maxWaitMs);
  return { waiting, earlier, promise, approved, since: Math.floor(now), expiresAt, completion: null, acceptChanged: false };
}

/** The public form of a suspension. */
export function waitingOf(turn: number, { waiting, since, expiresAt, completion }: Suspension): Waiting {
  const { tool, args, reason } = waiting;
  return { call: callId(turn, waiting), turn, tool, args, reason, since, expiresAt, completed: completion !== null };
}

/** The session waits for a call. This is not a failure: complete the call, then resume the session. */
export class SuspendedError extends NeuroScriptError {
  static readonly code = 'ERR_SUSPENDED';
  readonly sid: string;
  readonly waiting: Waiting;
  constructor(sid: string, waiting: Waiting) {
    const { call, tool, reason } = waiting;
    super(SuspendedError.code, `session ${JSON.stringify(sid)} waits for call ${call} of ${tool}: ${reason}`);
    this.sid = sid;
    this.waiting = waiting;
  }
}
