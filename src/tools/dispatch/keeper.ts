import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';

/**
 * Keeps the calls of a run while the run goes on, so that another process can continue it after the last one. Both methods reject
 * when this process may not act any more; the run then ends.
 */
export interface CallKeeper {
  /** Called before a call that must not be repeated without a person's decision. The call is made when this has resolved. */
  began(call: WaitingCall): Promise<void>;
  /** Called when a call has ended with an answer. The program goes on when this has resolved. */
  ended(entry: JournalEntry): Promise<void>;
}
