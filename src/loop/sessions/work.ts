import { KeyedMutex } from '../../context/index.ts';
import { SessionLeasedError } from './errors.ts';

/**
 * What this process does with its sessions: one thing at a time with each, from before the claim until the session is given up. A lease keeps
 * only other owners away. Within its own, the store gives a session to whoever claims it last, and two who log what it owes log it twice.
 */
export class SessionWork {
  readonly #inTurn = new Set<string>();
  readonly #busy = new KeyedMutex();
  /** When the lease of a turn ends, in Unix milliseconds. */
  readonly #heldUntil: (sid: string) => number;

  constructor(heldUntil: (sid: string) => number) {
    this.#heldUntil = heldUntil;
  }

  /** Takes a turn of a session, after what is done with it already. Throws {@link SessionLeasedError} while another turn has the session. */
  async turn<T>(sid: string, work: () => Promise<T>): Promise<T> {
    this.#mustBeFree(sid);
    this.#inTurn.add(sid);
    try {
      return await this.#busy.run(sid, work);
    } finally {
      this.#inTurn.delete(sid);
    }
  }

  /** Does something else with a session, after what is done with it already. Throws {@link SessionLeasedError} while a turn has the session. */
  async alone<T>(sid: string, work: () => Promise<T>): Promise<T> {
    this.#mustBeFree(sid);
    return this.#busy.run(sid, work);
  }

  /** Whether a turn has the session. */
  hasTurn(sid: string): boolean {
    return this.#inTurn.has(sid);
  }

  #mustBeFree(sid: string): void {
    if (this.hasTurn(sid)) throw new SessionLeasedError(sid, { owner: 'a turn of this process', until: this.#heldUntil(sid) });
  }
}
