import { StoreError } from '../../sqlite/error.ts';
import type { DecisionLog } from '../log/log.ts';
import type { SessionState, SessionStore } from './store.ts';

/** Most sessions that are remembered to agree with the log. */
const MOST_AGREED = 10_000;

/** Finds out by the log that the store was set back to an earlier state. */
export class Agreement {
  readonly #store: Pick<SessionStore, 'read'>;
  readonly #log: DecisionLog | null;
  /** Sessions for which the log has no turn that the store lacks; the oldest first. */
  readonly #agreed = new Set<string>();

  constructor(store: Pick<SessionStore, 'read'>, log: DecisionLog | null) {
    this.#store = store;
    this.#log = log;
  }

  /**
   * Throws {@link StoreError} (`order`) when the session is open in the log and missing in the store: the store was set back to a time
   * before the session was opened.
   */
  async mustBeNew(sid: string): Promise<void> {
    const turn = (await this.#log?.goesOnAfter?.(sid)) ?? null;
    if (turn === null || (await this.#store.read(sid)) !== null) return;
    throw new StoreError(
      'order',
      `by the log, session ${JSON.stringify(sid)} goes on after turn ${turn}, and the store does not have it: the store was set back to an earlier state; bring the newer one back, or choose another id`,
    );
  }

  /**
   * Throws {@link StoreError} (`order`) when the log has the next turn of a claimed session: the store was set back to an earlier state,
   * and would decide the turn a second time.
   */
  async mustAgree({ sid, nextTurn }: SessionState): Promise<void> {
    if (this.#log === null || this.#agreed.has(sid)) return;
    if (await this.#log.has(sid, nextTurn))
      throw new StoreError(
        'order',
        `the log has the decision of turn ${nextTurn} of session ${JSON.stringify(sid)}, and the store does not: the store was set back to an earlier state; bring the newer one back, or cancel the session`,
      );
    this.add(sid);
  }

  /** Remembers that a session agrees with the log. */
  add(sid: string): void {
    this.#agreed.add(sid);
    const [oldest] = this.#agreed;
    if (this.#agreed.size > MOST_AGREED && oldest !== undefined) this.#agreed.delete(oldest);
  }

  /** Forgets a session that has ended. */
  delete(sid: string): void {
    this.#agreed.delete(sid);
  }
}
