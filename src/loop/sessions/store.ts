import { NO_PROGRESS_YET, type ProgressState, type UsedId } from '../../aeiou/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { AgentUse } from '../agents/consult.ts';
import type { Suspension, Waiting } from '../suspend/suspension.ts';
import type { HaltReason } from '../turn/decision.ts';
import type { TurnRecord } from '../turn/record.ts';

/** Where a session stands between two turns. */
export type SessionStatus = 'open' | 'done' | 'aborted' | 'halted';

/** What a session has used up so far, over all its turns and all processes that drove it. */
export interface Spent {
  readonly fuel: number;
  /** As its agents counted them; 0 for agents that do not count. */
  readonly tokens: number;
}

/** What a session has used up before its first turn. */
export const NOTHING_SPENT: Spent = Object.freeze({ fuel: 0, tokens: 0 });

/** The turn whose program asked for a nested session (seed 004, 4). */
export interface SessionParent {
  /** Null outside of any session. */
  readonly sid: string | null;
  readonly turn: number | null;
  /** Which of the calls of that turn it is, from 1. */
  readonly seq: number;
}

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
  readonly spent: Spent;
  /** Hash of the last turn's record, which the next one is chained to; null before the first. */
  readonly head: string | null;
  /** Who asked for it; null for a session of the host's own. */
  readonly parent: SessionParent | null;
}

/** A session that has not started; `userdata` is the text that goes into its envelopes. */
export function newSession(sid: string, userdata: string, parent: SessionParent | null = null): SessionState {
  return {
    sid,
    status: 'open',
    reason: null,
    userdata,
    nextTurn: 1,
    output: null,
    scratchpad: null,
    progress: NO_PROGRESS_YET,
    spent: NOTHING_SPENT,
    head: null,
    parent,
  };
}

/** A turn whose program may have run already, and of which nothing is decided yet. */
export interface StartedTurn {
  readonly sid: string;
  readonly turn: number;
  /** 1 for the first try, one more whenever an interrupted turn is run again; 0 for a turn that waits. */
  readonly attempt: number;
  /** Of this attempt: each has its own. */
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** What the agent answered, so that it is not asked twice; null when the prompt could not be composed. */
  readonly reply: string | null;
  /** What the agent took; null when it was not asked. */
  readonly agent: AgentUse | null;
  readonly limits: LimitValues;
  /** The call that it waits for; null for a turn that a process is in, or died in. */
  readonly suspended: Suspension | null;
}

/** The right to drive a session, until it ends by itself. */
export interface Lease {
  /** Different for every process that lives at the same time. */
  readonly owner: string;
  /** Unix milliseconds by the owner's clock: leases that ended before are anybody's. */
  readonly now: number;
  /** Unix milliseconds. */
  readonly until: number;
}

/** A session, as whoever drives it finds it. */
export interface ClaimedSession {
  readonly state: SessionState;
  /** The turn that a process was in when it died. */
  readonly started: StartedTurn | null;
  /** Token ids that were used lately (A3-11.3). */
  readonly used: readonly UsedId[];
  /** Turns that were decided, but are not known to be in the decision log. */
  readonly owed: readonly TurnRecord[];
  /** When the session ended between two turns and that is not known to be in the log: Unix milliseconds; else null. */
  readonly owedEnd: number | null;
  /** Somebody else asked for the end of the session. */
  readonly cancelled: boolean;
}

/** What is kept at the end of a turn, all of it or nothing. */
export interface TurnCommit {
  /** Must hold the lease; else the turn was taken away, and is not kept. */
  readonly owner: string;
  /** Null: the session changes between two turns, which is most often its end. */
  readonly record: TurnRecord | null;
  readonly next: SessionState;
  /** Token ids that this turn used. */
  readonly used: readonly UsedId[];
  /** Older ids, in Unix seconds, need not be kept any longer. */
  readonly usedSince: number;
  /** The decision, or the end between two turns, has yet to be written to a log. */
  readonly owed: boolean;
  /** Unix milliseconds. */
  readonly at: number;
  /** Whether the lease is kept: for the next turn, or until the decision is in the log. */
  readonly keep: boolean;
}

/** What became of a lease that was to be renewed. */
export type Renewal = 'held' | 'lost' | 'cancelled';

/** One line of a list of sessions. */
export interface SessionSummary {
  readonly sid: string;
  readonly status: SessionStatus;
  readonly reason: HaltReason | null;
  /** Turns that were decided. */
  readonly turns: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Index of the turn that was started and not decided; null when there is none. */
  readonly started: number | null;
  /** The call that this turn waits for; null when it does not wait. */
  readonly waits: Waiting | null;
  /** Who drives it, and until when (Unix milliseconds) unless renewed; null when nobody does. */
  readonly lease: { readonly owner: string; readonly until: number } | null;
  /** Decisions and ends that are not known to be in the log. */
  readonly owed: number;
  /** Who asked for it; null for a session of the host's own, and where `damaged` is not. */
  readonly parent: SessionParent | null;
  /** Why it cannot be gone on with: what is kept of it cannot be read. Null when all is well. */
  readonly damaged: string | null;
}

/** Which ended sessions are removed from a store. */
export interface Pruning {
  /** Unix milliseconds: those whose last change was before. */
  readonly before: number;
  /** Unix milliseconds: leases that ended before protect nothing. */
  readonly now: number;
  /** Removes nothing, and tells what would be removed. */
  readonly dryRun?: boolean;
}

/** A session with this id exists already: of those that are kept, no two have one id. */
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

/** Another process drives the session, or took it over because this one was silent for too long. */
export class SessionLeasedError extends NeuroScriptError {
  static readonly code = 'ERR_SESSION_LEASED';
  constructor(sid: string, holder: { readonly owner: string; readonly until: number } | null) {
    const whose = holder === null ? 'nobody any more' : `${holder.owner} until ${new Date(holder.until).toISOString()}`;
    super(SessionLeasedError.code, `session ${JSON.stringify(sid)} is not held by this process: it is held by ${whose}`);
  }
}

/**
 * Keeps sessions. Each method is atomic: a reader sees all of it or nothing, also when the process dies in the middle.
 * Whatever a method resolves to is on its way to survive the process; what survives the machine is the store's to say.
 */
export interface SessionStore {
  /** Throws {@link SessionExistsError}. `at` is Unix milliseconds. */
  create(state: SessionState, at: number): Promise<void>;
  read(sid: string): Promise<SessionState | null>;
  /**
   * Takes or prolongs the lease and reads the session. Throws {@link SessionStateError} when it is unknown, and
   * {@link SessionLeasedError} while somebody else's lease lasts.
   */
  claim(sid: string, lease: Lease): Promise<ClaimedSession>;
  /** Prolongs leases that are held, in the order of `sids`. */
  renew(sids: readonly string[], lease: Lease): Promise<readonly Renewal[]>;
  /** Gives a lease up; that of another owner is left alone. */
  release(sid: string, owner: string): Promise<void>;
  /** Keeps that a turn starts, before its program runs, or that it waits. Throws {@link SessionLeasedError}, {@link StoreError} (`order`). */
  start(turn: StartedTurn, owner: string): Promise<void>;
  /** Forgets a started turn whose program never ran. */
  withdraw(sid: string, owner: string): Promise<void>;
  /** Keeps the end of a turn. Throws {@link SessionLeasedError}, {@link StoreError} (`order`) for a turn that is not the next. */
  commit(commit: TurnCommit): Promise<void>;
  /**
   * The decision of a turn is in the log, or the end before this turn; the lease is given up unless it is to be kept.
   */
  logged(sid: string, turn: number, owner: string, keep: boolean): Promise<void>;
  /** Asks whoever drives an open session, now or next, to end it; false when there is no such open session. */
  cancel(sid: string): Promise<boolean>;
  /**
   * The records of a session, in turn order. One that cannot be read is told to `onDamaged` and left out; without that, throws
   * {@link StoreError} (`damaged`).
   */
  turns(sid: string, onDamaged?: (turn: number, problem: string) => void): Promise<readonly TurnRecord[]>;
  /** All sessions, in the order of their ids. */
  list(): Promise<readonly SessionSummary[]>;
  /**
   * Removes ended sessions with all that is kept of them, and resolves with what they were. One that is open, whether it runs,
   * waits or was left, stays however old it is; so does one that somebody holds, or that still owes a line to the decision log.
   */
  prune(pruning: Pruning): Promise<readonly SessionSummary[]>;
}
