import { StoreError } from '../../sqlite/error.ts';
import type { LogEntry } from '../log/log.ts';
import type { HaltReason } from '../record/decision.ts';

/** How a session that cannot be read is ended. */
export interface ForcedEnd {
  /** Why it is halted. */
  readonly reason: HaltReason;
  /** Unix milliseconds. */
  readonly at: number;
  /** Whether the store writes the entry of the end into its own log, owes it to another log, or makes none. */
  readonly log: 'own' | 'owed' | 'none';
}

/** A session that has ended and cannot be read. */
export interface DamagedSession {
  /** Number of the claim, as in `ClaimedSession`. */
  readonly fence: number;
  /** Entries that are not known to be in the log, in order; none for a turn whose record cannot be read. */
  readonly unlogged: readonly LogEntry[];
}

/** Whether an error says that stored data cannot be read. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.detail === 'damaged';
}
