import { NO_PROGRESS_YET, type ProgressState, type UsedId } from '../../aeiou/index.ts';
import { StoreError } from '../../sqlite/error.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { LogEntry, StoredLog } from '../log/log.ts';
import type { HaltReason } from '../record/decision.ts';
import type { AgentUse, FailedAttempt, TurnRecord } from '../record/record.ts';
import { openCalls, type SignedPlan, type Suspension, type Waiting } from '../record/suspension.ts';
import type { Spent } from '../spent.ts';
import type { DamagedSession, ForcedEnd } from './damaged.ts';
import type { CensusRow, Death, HostRegistry } from './fleet.ts';
import type { SessionOrigins } from './origins.ts';
import type { Admission, JsonObject, Runnable, SessionSetup } from './setup.ts';

/** State of a session between two turns. */
export type SessionStatus = 'open' | 'done' | 'aborted' | 'halted';

/** The turn whose `ask` opened a nested session. */
export interface SessionParent {
  /** Null outside of any session. */
  readonly sid: string | null;
  /** Number of the turn, from 1; null outside of a session. */
  readonly turn: number | null;
  /** Number of the `ask` among the calls of that turn, from 1. */
  readonly seq: number;
}

/** The state from which a session continues. Everything else is in the records of its turns. */
export interface SessionState {
  /** Id of the session. */
  readonly sid: string;
  /** Whether it is open, and how it ended otherwise. */
  readonly status: SessionStatus;
  /** Why the session was halted; null otherwise. */
  readonly reason: HaltReason | null;
  /** Why it was halted, in words as far as they are known. Of an open session: why its agent gave no reply to the turn that is next. */
  readonly message: string | null;
  /** The host's USERDATA, JSON text; the same bytes in every turn. */
  readonly userdata: string;
  /** Index of the next turn; turns count from 1. */
  readonly nextTurn: number;
  /** Body of the next envelope's OUTPUT; null omits the section. */
  readonly output: string | null;
  /** Body of the next envelope's SCRATCHPAD; null omits the section. */
  readonly scratchpad: string | null;
  /** State of the progress guard. */
  readonly progress: ProgressState;
  /** Canonical names of the tools that were called successfully; absent for none. */
  readonly called?: readonly string[] | undefined;
  /** Labels under rules about origin; absent for none. */
  readonly origins?: SessionOrigins | undefined;
  /** Its usage so far. */
  readonly spent: Spent;
  /** Name of the agent that wrote the last turn; null before the first turn and for an agent without a name. */
  readonly agent: string | null;
  /** Hash of the last turn's record, to which the next record is chained; null before the first turn. */
  readonly head: string | null;
  /** Null for a session of the host's own. */
  readonly parent: SessionParent | null;
}

/** A session before its first turn; `userdata` is the text for its envelopes. */
export function newSession(sid: string, userdata: string, parent: SessionParent | null = null): SessionState {
  return {
    sid,
    status: 'open',
    reason: null,
    message: null,
    userdata,
    nextTurn: 1,
    output: null,
    scratchpad: null,
    progress: NO_PROGRESS_YET,
    spent: { fuel: 0, tokens: 0 },
    agent: null,
    head: null,
    parent,
  };
}

/** A turn without a decision whose program may have run. */
export interface StartedTurn {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** 1 for the first attempt and one more for each further one; 0 for a turn that waits. */
  readonly attempt: number;
  /** A program that runs again because its process died gets a new nonce. */
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The agent's reply, so that an interrupted turn needs no second one; null when no prompt could be composed. */
  readonly reply: string | null;
  /** The agent's usage; null when it was not consulted. */
  readonly agent: AgentUse | null;
  /** The limits under which the program runs. */
  readonly limits: LimitValues;
  /** The process that makes this attempt: the instance of its coordinator. Null when that process has given the attempt up and lives. */
  readonly runner: string | null;
  /** Whether the attempt ended with an error of its process, which lives. It counts like one that ended its process. */
  readonly failed?: boolean | undefined;
  /** Earlier attempts that count: a turn is given up after some. Absent without any. */
  readonly deaths?: readonly Death[] | undefined;
  /** Set for a turn that a tool suspended; null for a turn that a process runs, or in which it died. */
  readonly suspended: Suspension | null;
  /** The earlier attempts, which did not decide the turn. With some and without a reply, the agent is about to be asked again. */
  readonly attempts: readonly FailedAttempt[];
  /** People's answers to the plans of its programs; absent without any. */
  readonly plans?: readonly SignedPlan[] | undefined;
}

/** A part of a started turn that is stored while its program runs. The store does not look into `body`. */
export interface StoredStep {
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Its number among the steps of the turn. A store keeps one step of each number. */
  readonly seq: number;
  /** The data with which the driver continues after the step. */
  readonly body: JsonObject;
}

/** A process's right to drive a session for a time, which the store alone measures: the clocks of processes may differ. */
export interface Lease {
  /** Different for every process that lives at the same time. */
  readonly owner: string;
  /** Milliseconds from now on. */
  readonly ms: number;
}

/** One session that its driver holds. */
export interface Held {
  /** The session. */
  readonly sid: string;
  /** The fence of its claim. */
  readonly fence: number;
}

/** A turn to continue: its tool suspended it, and its call may be completed by now. */
export interface WaitingTurn {
  readonly kind: 'waiting';
  /** The turn as it was started. */
  readonly started: StartedTurn;
  /** The call for which it waits, and the execution up to it. */
  readonly suspended: Suspension;
}

/** The start of a session's next turn: new, again after its process died, or from the call at which it waited. */
export type NextTurn =
  | { readonly kind: 'fresh' }
  /** The attempt whose process died. */
  | { readonly kind: 'interrupted'; readonly started: StartedTurn }
  | WaitingTurn;

/** Tells the kinds of a next turn apart; `started` is what the store keeps of it. */
export function nextTurnOf(started: StartedTurn | null): NextTurn {
  if (started === null) return { kind: 'fresh' };
  const { suspended } = started;
  return suspended === null ? { kind: 'interrupted', started } : { kind: 'waiting', started, suspended };
}

/** The time at which the first open call of a started turn expires, in Unix milliseconds; null without an open call. */
export function waitsUntil({ suspended }: StartedTurn): number | null {
  const open = suspended === null ? [] : openCalls(suspended);
  return open.reduce<number | null>((first, { expiresAt }) => Math.min(first ?? expiresAt, expiresAt), null);
}

/** The error of an operation on a turn that was not started. */
export function notStarted(sid: string, turn: number): StoreError {
  return new StoreError('order', `turn ${turn} of session ${JSON.stringify(sid)} was not started`);
}

/** A session with the data that its new driver needs. */
export interface ClaimedSession {
  /**
   * Number of this claim. Every claim of a session has a higher one, and the store refuses what an earlier claim writes, even if the
   * process that made it believes that its lease lasts.
   */
  readonly fence: number;
  /** The state from which the session continues. */
  readonly state: SessionState;
  /** The requirements for a host to drive it. */
  readonly setup: SessionSetup;
  /** How its next turn begins. */
  readonly next: NextTurn;
  /** The kept steps of the next turn, in the order of their numbers; empty for a fresh turn. */
  readonly steps: readonly StoredStep[];
  /** Token ids that were used recently. */
  readonly used: readonly UsedId[];
  /** Decided turns that are not known to be in the decision log. */
  readonly unlogged: readonly TurnRecord[];
  /** Unix milliseconds of an end between two turns that is not known to be in the log; otherwise null. */
  readonly unloggedEnd: number | null;
  /** Whether the end of the session was requested. */
  readonly cancelled: boolean;
}

/** The data that is stored at the end of a turn, atomically. */
export interface TurnCommit {
  /** Must be the last claim. Otherwise another process has taken the turn over, and nothing is stored. */
  readonly fence: number;
  /** Null when the session changes between two turns: it ends, or what is known of it changes, also that of a turn that has started. */
  readonly record: TurnRecord | null;
  /** The session after the turn. */
  readonly next: SessionState;
  /** Token ids that the turn used. */
  readonly used: readonly UsedId[];
  /** Unix seconds. Older token ids may be forgotten. */
  readonly usedSince: number;
  /** Whether the decision, or the end between two turns, must still be written to the log. */
  readonly unlogged: boolean;
  /** The entry that the store writes into its {@link SessionStore.log} together with the turn; null when there is none. */
  readonly entry: LogEntry | null;
  /** Unix milliseconds. */
  readonly at: number;
  /** Whether the owner keeps the lease, for the next turn or until the decision is logged. */
  readonly keep: boolean;
}

/** Outcome of renewing a lease. */
export type Renewal = 'held' | 'lost' | 'cancelled';

/** A session in a list. */
export interface SessionSummary extends Pick<SessionSetup, 'tenant' | 'profile' | 'engine' | 'reader'> {
  /** Id of the session. */
  readonly sid: string;
  /** Whether it is open, and how it ended otherwise. */
  readonly status: SessionStatus;
  /** Why it was halted; null for every other status. */
  readonly reason: HaltReason | null;
  /** As in {@link SessionState}; null for a damaged session. */
  readonly message: string | null;
  /** The subject of the session's USERDATA; null when the USERDATA or the session cannot be read. */
  readonly subject: string | null;
  /** As in {@link SessionState}. */
  readonly agent: string | null;
  /** Decided turns. */
  readonly turns: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** Index of a turn that was started and not decided; null when there is none. */
  readonly started: number | null;
  /** The call that this turn waits for; null when it does not wait. */
  readonly waits: Waiting | null;
  /** The owner and the end of the lease (Unix milliseconds of the store); null without a valid lease. */
  readonly lease: { readonly owner: string; readonly until: number } | null;
  /** Number of decisions and ends that are not known to be in the log. */
  readonly owed: number;
  /** Null for a session of the host's own, and for a damaged session. */
  readonly parent: SessionParent | null;
  /** As in {@link SessionState}; null for a damaged session. */
  readonly spent: Spent | null;
  /** Why the stored session cannot be read or continued; null for an intact session. */
  readonly damaged: string | null;
}

/** Selects the sessions of a list. */
export interface ListQuery {
  /** Only sessions whose ids come after this one. */
  readonly after?: string | undefined;
  /** Most sessions of the list; all of them when absent. */
  readonly limit?: number;
  /** Only sessions that an `ask` of this session opened. */
  readonly parent?: string;
}

/** Selects sessions of {@link SessionStore.recent}. All conditions hold. */
export interface RecentQuery {
  /** Most sessions. */
  readonly limit: number;
  /** Only sessions that come after this one in the order of the list. */
  readonly after?: Pick<SessionSummary, 'updatedAt' | 'sid'> | undefined;
  /** Only sessions with this status. */
  readonly status?: SessionStatus | undefined;
  /** Only open sessions with a turn that waits, or with a lease, also one that has ended. */
  readonly open?: 'waiting' | 'leased' | undefined;
  /** Only sessions that ended for this reason. */
  readonly reason?: HaltReason | undefined;
  /** The whole name. */
  readonly tenant?: string | undefined;
  /** Unix milliseconds: only sessions whose last change was then or later. */
  readonly since?: number | undefined;
  /** Unix milliseconds: only sessions whose last change was earlier. */
  readonly until?: number | undefined;
}

/** Called with the turn of a record that cannot be read, and the reason. */
export type OnDamaged = (turn: number, problem: string) => void;

/** Selects turns of a session. */
export interface TurnsQuery {
  /** Only turns after this one. */
  readonly after?: number;
  /** Most turns; all of them when absent. */
  readonly limit?: number;
}

/** Sessions that need an operator or a host. */
export type SessionCondition =
  /** Sessions after this id with decisions that are not known to be in the log. */
  | { readonly kind: 'owing'; readonly after: string }
  /** Open nested sessions after this id that have no valid lease and did not change for `idleMs`. */
  | { readonly kind: 'orphaned'; readonly after: string; readonly idleMs: number }
  /** Sessions that {@link SessionStore.next} may claim, of any profile, and those that this owner has leased. */
  | { readonly kind: 'ready'; readonly owner: string };

/** Selects the ended sessions to remove from a store. */
export interface Pruning {
  /** Unix milliseconds. Removes sessions whose last change was earlier. */
  readonly before: number;
  /** Lists the sessions without removing them. */
  readonly dryRun?: boolean;
}

/**
 * Stores sessions. Each method is atomic, even if the process dies during it. A completed method survives the death of the
 * process; the store defines what survives a loss of power. Methods that store something read it as they will read it later, and throw
 * `StoreError` (`refused`) when they could not.
 */
export interface SessionStore {
  /**
   * Throws {@link SessionExistsError}, and `BusyError` when as many sessions are open as `admission` allows. `at` is Unix milliseconds. Every
   * host can drive a session without a setup.
   */
  create(state: SessionState, at: number, setup?: SessionSetup, admission?: Admission): Promise<void>;
  /** Null for an unknown session. Throws `StoreError` (`damaged`). */
  read(sid: string): Promise<SessionState | null>;
  /**
   * Takes the lease and reads the session. The owner's own earlier claim ends. Throws {@link SessionStateError} for an unknown session, and
   * {@link SessionLeasedError} while another owner's lease lasts, and `StoreError` (`newer`) for a session that needs a newer driver.
   */
  claim(sid: string, lease: Lease): Promise<ClaimedSession>;
  /**
   * Claims up to `most` ready sessions. A session is ready if it is open, not nested and runnable by this host, has no valid lease, and
   * waits for no call that can still be completed, unless its end was requested. Serves tenants in turn, and within a tenant the session
   * that has been ready longest. May claim fewer than are ready; an empty list means that none is. Skips damaged sessions.
   */
  next(lease: Lease, most: number, runnable: Runnable): Promise<readonly ClaimedSession[]>;
  /**
   * Calls `wake` when sessions may have become ready, in this process or another one, until the returned function is called. The end of a
   * lease or a wait by time calls nothing, so a host also polls from time to time.
   */
  onReady(wake: () => void): () => void;
  /** Makes leases last for `ms` milliseconds from now on. The results are in the order of `held`. */
  renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]>;
  /** Gives up a lease; has no effect on that of a later claim. */
  release(sid: string, fence: number): Promise<void>;
  /**
   * Stores that a turn starts, before its program runs, or that it waits. Forgets the steps of an attempt with another nonce. Resolves with
   * whether the end of the session was requested. Throws {@link SessionLeasedError}, `StoreError` (`order`).
   */
  start(turn: StartedTurn, fence: number): Promise<boolean>;
  /** Stores a step of the turn that is started, until its commit. Throws {@link SessionLeasedError}, `StoreError` (`order`). */
  keep(sid: string, step: StoredStep, fence: number): Promise<void>;
  /** Forgets a started turn whose program never ran. */
  withdraw(sid: string, fence: number): Promise<void>;
  /** Stores the end of a turn. Resolves as {@link start} does. Throws {@link SessionLeasedError}, `StoreError` (`order`). */
  commit(commit: TurnCommit): Promise<boolean>;
  /** Marks the decision of a turn, or an end before this turn, as logged. Gives up the lease unless `keep` is set. */
  logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void>;
  /** Requests the end of an open session from its current or next driver, and makes it ready. False when there is no such open session. */
  cancel(sid: string): Promise<boolean>;
  /**
   * Takes the lease of a session that cannot be read, and ends the session if it is open. Its stored texts stay as they are. Null for a
   * session that can be read, which it does not change. Throws {@link SessionStateError} and {@link SessionLeasedError} as {@link claim} does.
   * Absent in a store whose sessions can always be read.
   */
  endDamaged?(sid: string, lease: Lease, end: ForcedEnd): Promise<DamagedSession | null>;
  /**
   * The records of a session, in the order of turns. Reports an unreadable record to `onDamaged` and omits it; without
   * `onDamaged`, throws `StoreError` (`damaged`).
   */
  turns(sid: string, onDamaged?: OnDamaged, query?: TurnsQuery): Promise<readonly TurnRecord[]>;
  /** Sessions in the order of their ids; see {@link allSessions} for stores of any size. */
  list(query?: ListQuery): Promise<readonly SessionSummary[]>;
  /** Sessions by their last change, the latest first; equal times by descending id. Reads no more than it returns. */
  recent(query: RecentQuery): Promise<readonly SessionSummary[]>;
  /** One session as {@link list} shows it; null for an unknown id. */
  summary(sid: string): Promise<SessionSummary | null>;
  /** Ids of at most `limit` sessions that meet a condition, in the order of ids; ready sessions come in no order. */
  find(condition: SessionCondition, limit: number): Promise<readonly string[]>;
  /** Removes ended sessions, but none under a lease or with a decision that is not logged yet. Resolves with their summaries. */
  prune(pruning: Pruning): Promise<readonly SessionSummary[]>;
  /** The decision log in the same database; a controller with this log writes a decision and its turn in one transaction. */
  readonly log?: StoredLog;
  /** The hosts that serve this store; absent where nobody needs to know them. */
  readonly hosts?: HostRegistry;
  /** Counts the open sessions by what they do, up to 10,000 of each kind. Absent in a store that cannot without reading them. */
  census?(): Promise<readonly CensusRow[]>;
}

/** A store that can erase the content of sessions and keep their chain. */
export interface ErasableStore extends SessionStore {
  /**
   * Erases the content of ended sessions, all of them or none, and remains of earlier content in the store. Throws {@link
   * SessionStateError} for a session that is unknown or open, and {@link SessionLeasedError}.
   */
  erase(sids: readonly string[]): Promise<void>;
}
