import type { ProgressState } from '../aeiou/index.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import type { HaltReason } from './decision.ts';
import type { TurnRecord } from './record.ts';

/** Where a session stands between two turns. */
export type SessionStatus = 'open' | 'done' | 'aborted' | 'halted';

/** What a session needs to go on; everything else is in the records of its turns. */
export interface SessionState {
  readonly sid: string;
  readonly status: SessionStatus;
  /** Why it was halted. */
  readonly reason: HaltReason | null;
  /** The host's USERDATA, JSON text; the same bytes in every turn. */
  readonly userdata: string;
  /** Index of the turn to come; turns count from 1 (AMB-36). */
  readonly nextTurn: number;
  /** Bodies of the next envelope's optional sections; null leaves the section out (A3-4-5). */
  readonly output: string | null;
  readonly scratchpad: string | null;
  /** What the progress guard knows. */
  readonly progress: ProgressState;
}

/** A session with this id exists already: ids are never used twice. */
export class SessionExistsError extends NeuroScriptError {
  static readonly code = 'ERR_SESSION_EXISTS';
  constructor(sid: string) {
    super(SessionExistsError.code, `session ${JSON.stringify(sid)} exists already`);
  }
}

/** There is no session with this id, or it has ended. */
export class SessionStateError extends NeuroScriptError {
  static readonly code = 'ERR_SESSION_STATE';
  constructor(sid: string, state: 'unknown' | Exclude<SessionStatus, 'open'>) {
    super(SessionStateError.code, `session ${JSON.stringify(sid)} is ${state}`);
  }
}

/** Keeps sessions. Each method is atomic: a reader sees all of it or nothing. */
export interface SessionStore {
  /** Throws {@link SessionExistsError}. */
  create(state: SessionState): Promise<void>;
  read(sid: string): Promise<SessionState | null>;
  /** Keeps the record of a turn (null: the session ended between turns) and the state it led to, both or neither. */
  commit(record: TurnRecord | null, next: SessionState): Promise<void>;
  /** The records of a session, in turn order. */
  turns(sid: string): Promise<readonly TurnRecord[]>;
}

/** Keeps sessions as long as the process lives. */
export class MemoryStore implements SessionStore {
  readonly #sessions = new Map<string, { state: SessionState; readonly turns: TurnRecord[] }>();

  async create(state: SessionState): Promise<void> {
    if (this.#sessions.has(state.sid)) throw new SessionExistsError(state.sid);
    this.#sessions.set(state.sid, { state, turns: [] });
  }

  async read(sid: string): Promise<SessionState | null> {
    return this.#sessions.get(sid)?.state ?? null;
  }

  async commit(record: TurnRecord | null, next: SessionState): Promise<void> {
    const session = this.#sessions.get(next.sid);
    if (session === undefined) throw new SessionStateError(next.sid, 'unknown');
    session.state = next;
    if (record !== null) session.turns.push(record);
  }

  async turns(sid: string): Promise<readonly TurnRecord[]> {
    return [...(this.#sessions.get(sid)?.turns ?? [])];
  }
}
