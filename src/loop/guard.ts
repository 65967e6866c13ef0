import type { Decision } from './turn/decision.ts';

/** What an application's guard is shown of a turn whose program ran to its end. */
export interface GuardView {
  readonly sid: string;
  readonly turn: number;
  /** What the turn's tokens ask for; `HALT` when none verified. */
  readonly decision: Decision;
  readonly output: string;
  readonly scratchpad: string;
  /** The digest of the mandatory guard, hex. */
  readonly digest: string;
}

/**
 * A guard of the application, for instance over digests of plans (A3-9-8): true halts the session with ERR_NO_PROGRESS, false
 * says nothing. It stands beside the mandatory guard and cannot overrule it. What it throws rejects the turn, which is then
 * not kept: a broken guard must not look like progress.
 */
export type ProgressCheck = (turn: GuardView) => boolean;
