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

  /**
   * Resolves in a turn of a session, after what is done with it already; disposing of the result ends the turn. Throws
   * {@link SessionLeasedError} while another turn has the session.
   */
  async turn(sid: string): Promise<Disposable> {
    this.#mustBeFree(sid);
    this.#inTurn.add(sid);
    const busy = await this.#busy.hold(sid);
    return {
      [Symbol.dispose]: () => {
        this.#inTurn.delete(sid);
        busy[Symbol.dispose]();
      },
    };
  }

  /** Resolves alone with a session, for anything else, until the result is disposed of. Throws as {@link turn} does. */
  async alone(sid: string): Promise<Disposable> {
    this.#mustBeFree(sid);
    return await this.#busy.hold(sid);
  }

  /** Whether a turn has the session. */
  hasTurn(sid: string): boolean {
    return this.#inTurn.has(sid);
  }

  #mustBeFree(sid: string): void {
    if (this.hasTurn(sid)) throw new SessionLeasedError(sid, { owner: 'a turn of this process', until: this.#heldUntil(sid) });
  }
}
