import type { SessionParent, SessionStore, SessionSummary } from './store.ts';

/** Units of a subject in a list. */
const SHORT = 200;
/** Most asks of one chain. A store may say that two sessions are each other's. */
const DEEPEST = 10;
/** Sessions that are remembered: who opened one, and its subject, do not change. */
const REMEMBERED = 20_000;

/** The call of an `ask` in its session: `TURN.SEQ`. */
export const callOf = (parent: SessionParent | null): string => (parent === null ? '' : `${parent.turn}.${parent.seq}`);

/** A session above another one, and its `ask` that leads down to it. */
export interface SessionAbove {
  readonly sid: string;
  /** `TURN.SEQ`. */
  readonly call: string;
}

type Head = Pick<SessionSummary, 'parent' | 'subject'>;

/** What a person knows a session by. */
export interface SessionHead {
  /** Cut to 200 characters; null for an unknown session. */
  readonly subject: string | null;
  readonly above: readonly SessionAbove[];
}

/** Which asks opened the sessions of a store: the id of such a session is random and tells a person nothing. */
export class Ancestry {
  readonly #store: SessionStore;
  readonly #known = new Map<string, Head | null>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** The subject of a session, and the sessions above it from the top down. */
  async head(sid: string): Promise<SessionHead> {
    const head = await this.#head(sid);
    return { subject: head?.subject?.slice(0, SHORT) ?? null, above: head === null ? [] : await this.above(head) };
  }

  /** The sessions above one, from the top down; none above a session of the host's own. */
  async above({ parent: own }: Pick<SessionSummary, 'parent'>): Promise<readonly SessionAbove[]> {
    const above: SessionAbove[] = [];
    for (let parent = own; parent?.sid && above.length < DEEPEST; parent = (await this.#head(parent.sid))?.parent ?? null)
      above.unshift({ sid: parent.sid, call: callOf(parent) });
    return above;
  }

  async #head(sid: string): Promise<Head | null> {
    const known = this.#known.get(sid);
    if (known !== undefined) return known;
    const summary = await this.#store.summary(sid);
    const head = summary && { parent: summary.parent, subject: summary.subject };
    // A session that is not there may come.
    if (head !== null) this.#known.set(sid, head);
    if (this.#known.size > REMEMBERED) for (const oldest of this.#known.keys()) return this.#known.delete(oldest) ? head : null;
    return head;
  }
}
