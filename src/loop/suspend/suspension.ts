import type { Completion } from '../../tools/index.ts';
import type { WaitingCall } from '../../wire/journal.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { TurnWaits } from '../turn/turn.ts';

/** A turn that was put aside at a call, with all that it takes to go on with it in any process. */
export interface Suspension extends TurnWaits {
  /** Unix milliseconds. */
  readonly since: number;
  readonly expiresAt: number;
  /** What the call was completed with; null while it waits. */
  readonly completion: Completion | null;
  /** Whether it was completed knowing that the tool now promises something else. */
  readonly acceptChanged: boolean;
}

/** A call that a session waits for, as it may be shown to whoever is to complete it. */
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
  readonly expiresAt: number;
  /** True once it has been completed: the session can be resumed. */
  readonly completed: boolean;
}

/** What happens to a turn whose call is not completed in time: its session ends, or the call fails with code 37. */
export type OnExpired = 'halt' | 'error';

/** How long a call may wait at most, unless the host says otherwise: seven days, in milliseconds. */
export const DEFAULT_MAX_WAIT_MS = 7 * 86_400_000;

/** The id of a call: its turn, and its number among the turn's calls to the host. */
export function callId(turn: number, { seq }: Pick<WaitingCall, 'seq'>): string {
  return `${turn}.${seq}`;
}

/** A turn that was put aside now. `maxWaitMs` bounds what its tool asked for. */
export function suspend(waits: TurnWaits, now: number, maxWaitMs: number): Suspension {
  const wait = Math.min(maxWaitMs, waits.waiting.expiresIn ?? maxWaitMs);
  return { ...waits, since: Math.floor(now), expiresAt: Math.floor(now) + wait, completion: null, acceptChanged: false };
}

/** What may be shown of a suspension. */
export function waitingOf(turn: number, { waiting, since, expiresAt, completion }: Suspension): Waiting {
  const { tool, args, reason } = waiting;
  return { call: callId(turn, waiting), turn, tool, args, reason, since, expiresAt, completed: completion !== null };
}
