import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { StoreError } from '../../sqlite/error.ts';
import type { Clock } from '../clock.ts';
import { type DecisionLog, endEntry, type LogEntry, logEntry } from '../log/log.ts';
import type { HaltReason } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';
import { SharedLock } from '../sharedlock.ts';
import { spentAfter } from '../spent.ts';
import { Agreement } from './agreement.ts';
import { isDamage } from './damaged.ts';
import { SessionLeasedError } from './errors.ts';
import type { SessionCoordinatorInit } from './init.ts';
import { interruptedRecord } from './interrupted.ts';
import { type Holding, Leases } from './lease.ts';
import { keptCalls } from './point.ts';
import type { Admission, Runnable, SessionSetup } from './setup.ts';
import type { ClaimedSession, Condition, NextTurn, SessionState, SessionStore, StartedTurn, StoredStep } from './store.ts';

/** Shared by all coordinators, because a turn whose process died runs alone: no turn of any controller or store may run beside it. */
const TURNS = new SharedLock();

/** Sessions that a search for owed or orphaned ones reads at a time. */
const PAGE = 500;

/** Most sessions that {@link SessionCoordinator.recover} resolves with. */
const MOST_OPEN = 10_000;

/** Called with the problem of a damaged session. */
type OnDamage = (error: StoreError, sid: string) => void;

/** A session that this process drives. */
export interface DrivenSession extends ClaimedSession {
  readonly holding: Holding;
}

/**
 * Coordinates the store, the log and the lease of sessions in the only order that loses nothing: lease, start, commit, log,
 * mark as logged. If the process dies between commit and log, the next process that claims the session logs the decision.
 */
export class SessionCoordinator {
  /** Holds the sessions. */
  readonly store: SessionStore;
  /** Held by every turn of this process: shared by turns that may run together, or by one turn alone. */
  readonly turns: SharedLock;
  readonly #log: DecisionLog | null;
  readonly #clock: Clock;
  readonly #leases: Leases;
  readonly #replayTtl: number;
  readonly #agreement: Agreement;
  /** Different for every process: another one may have the same owner later. */
  readonly instance = randomUUID();
  #abandoned = new AbortController();

  constructor({
    store,
    log,
    clock,
    owner = `${hostname()}:${process.pid}:${randomUUID()}`,
    leaseMs,
    replayTtl,
    turns = TURNS,
  }: SessionCoordinatorInit) {
    this.store = store;
    this.turns = turns;
    this.#log = log;
    this.#agreement = new Agreement(store, log);
    this.#clock = clock;
    this.#leases = new Leases({ store, clock, owner, leaseMs });
    this.#replayTtl = replayTtl;
  }

  /** Name of this process in leases. */
  get owner(): string {
    return this.#leases.lease.owner;
  }

  /** Leases that this process has lost since it began: a turn under way was given up. */
  get leasesLost(): number {
    return this.#leases.lost;
  }

  /** Milliseconds that a lease lasts. */
  get leaseMs(): number {
    return this.#leases.lease.ms;
  }

  /** Stores a new session. Throws as {@link SessionStore.create} does. */
  async create(state: SessionState, setup?: SessionSetup, admission?: Admission): Promise<void> {
    await this.store.create(state, this.#clock.now(), setup, admission);
    this.#agreement.add(state.sid);
  }

  /** Throws as {@link Agreement.mustBeNew} does. */
  mustBeNew(sid: string): Promise<void> {
    return this.#agreement.mustBeNew(sid);
  }

  /** Throws as {@link Agreement.mustAgree} does. */
  mustAgree(state: SessionState): Promise<void> {
    return this.#agreement.mustAgree(state);
  }

  /** Claims the session and logs its unlogged decisions. Throws as {@link SessionStore.claim} and the log do. */
  async claim(sid: string): Promise<DrivenSession> {
    const until = this.#leases.end();
    return this.#driven(await this.store.claim(sid, this.#leases.lease), until);
  }

  /** Claims sessions that are ready, as {@link claim} does. Throws as {@link SessionStore.next} and the log do. */
  async next(most: number, runnable: Runnable): Promise<readonly DrivenSession[]> {
    const until = this.#leases.end();
    const found = await this.store.next(this.#leases.lease, most, runnable);
    return Promise.all(found.map((each) => this.#driven(each, until)));
  }

  async #driven(found: ClaimedSession, until: number): Promise<DrivenSession> {
    const { fence, state, unlogged, unloggedEnd } = found;
    const holding: Holding = { sid: state.sid, fence, until };
    const end: readonly LogEntry[] = unloggedEnd === null ? [] : [endEntry(state, unloggedEnd)];
    await this.#pay([...unlogged.map(logEntry), ...end], holding);
    return { ...found, holding };
  }

  /** Logs the entries that a claimed session owes to the log. */
  async #pay(owed: readonly LogEntry[], holding: Holding): Promise<void> {
    const { sid, fence } = holding;
    if (this.#log !== null)
      for (const entry of owed) {
        const turn = entry.turn_index;
        if (!(await this.#log.has(sid, turn))) await this.#append(this.#log, entry, holding);
        await this.store.logged(sid, turn, fence, true);
      }
  }

  /** Logs an entry. A process whose lease may have ended does not: the next process that claims the session logs it. */
  #append(log: DecisionLog, entry: LogEntry, holding: Holding): Promise<void> {
    if (!this.#leases.lasts(holding)) throw new SessionLeasedError(holding.sid, null);
    return log.append(entry);
  }

  /** Renews the lease while `work` runs. Calls `onLost` once if the lease is lost or the end of the session is requested. */
  async during<T>({ holding }: DrivenSession, onLost: () => void, work: () => Promise<T>): Promise<T> {
    this.#leases.hold(holding, onLost);
    try {
      return await work();
    } finally {
      this.#leases.drop(holding.sid);
    }
  }

  /** Gives up every turn under way, so that other processes run them again. */
  abandon(): Promise<void> {
    const before = this.#abandoned;
    this.#abandoned = new AbortController();
    before.abort();
    return this.#leases.abandon();
  }

  /** Aborts at the next {@link abandon}. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  /**
   * Gives up the lease of an ended process that had the same name, and resolves with the next turn as that process left it. `before`, unless
   * null, is the turn whose attempts count: the process was told to end or lost the session. Throws as {@link SessionStore.claim} does.
   */
  async free(sid: string, before: StartedTurn | null): Promise<NextTurn> {
    const { next, fence } = await this.store.claim(sid, this.#leases.lease);
    if (before !== null && next.kind !== 'fresh') {
      const { attempt, deaths } = before;
      await this.store.start({ ...next.started, attempt, deaths, runner: null, failed: undefined }, fence);
    }
    await this.store.release(sid, fence);
    return next;
  }

  /** Gives a session back that this process has claimed but does not drive. */
  async leave(sid: string): Promise<void> {
    await this.release(await this.claim(sid));
  }

  /** Keeps a session from all processes for the length of a lease. */
  async setAside(sid: string): Promise<void> {
    await this.store.claim(sid, this.#leases.lease);
  }

  /** Whether no other process can drive the session yet. */
  lasts({ holding }: DrivenSession): boolean {
    return this.#leases.lasts(holding);
  }

  /** Stores that a turn starts, or how far it is. */
  async start(turn: StartedTurn, { fence, holding }: DrivenSession): Promise<void> {
    await this.store.start(turn, fence);
    holding.begun = turn.attempt > 0 && turn.runner === this.instance ? turn : null;
  }

  /** Gives up a session that this process has lost, or may have: its attempt has ended no process, and counts for nothing. */
  giveUp({ holding }: DrivenSession): Promise<void> {
    return this.#leases.giveUp(holding);
  }

  /** Stores that an attempt, if one has begun, ended with an error of this process. */
  async fail({ fence, holding: { begun } }: DrivenSession): Promise<void> {
    if (begun) await this.store.start({ ...begun, failed: true }, fence);
  }

  /**
   * Stores a call of the turn that is started. A store that cannot be reached for a moment is tried again while the turn and its lease
   * last. Throws as {@link SessionStore.keep} does.
   */
  async keep(session: DrivenSession, step: StoredStep): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.store.keep(session.state.sid, step, session.fence);
      } catch (error) {
        // A busy store, or one whose disk failed, may succeed at the next attempt.
        const isPassing = error instanceof StoreError && (error.detail === 'busy' || error.detail === 'io');
        if (!isPassing || !this.lasts(session) || !(await this.#leases.pause(session.state.sid, pause))) throw error;
      }
    }
  }

  /** Forgets a started turn whose program never ran. */
  async withdraw({ state, fence, holding }: DrivenSession): Promise<void> {
    await this.store.withdraw(state.sid, fence);
    holding.begun = null;
  }

  /**
   * Stores a decided turn, or the end of a session between two turns (`record` is null), then logs it. The lease is kept only if
   * `keepLease` is set and the session goes on. Throws {@link SessionLeasedError} if the decision is stored but the lease may have ended;
   * another process then logs it. Calls `stored` as soon as it is stored.
   */
  async commit(
    { fence, holding }: DrivenSession,
    record: TurnRecord | null,
    next: SessionState,
    keepLease = false,
    stored: () => void = () => {},
  ): Promise<void> {
    const at = this.#clock.now();
    const entry = record !== null ? logEntry(record) : next.status === 'open' ? null : endEntry(next, at);
    const together = this.#log !== null && this.#log === this.store.log;
    const unlogged = entry !== null && this.#log !== null && !together;
    const keep = keepLease && next.status === 'open';
    const second = Math.floor(at / 1000);
    await this.store.commit({
      fence,
      record,
      next,
      // All tokens that verified, including those that the decision did not choose.
      used: (record?.candidates ?? []).flatMap(({ ok, jti }) => (ok && jti !== null ? [{ jti, second }] : [])),
      usedSince: second - this.#replayTtl,
      unlogged,
      entry: together ? entry : null,
      at,
      keep: keep || unlogged,
    });
    holding.begun = null;
    stored();
    if (next.status !== 'open') this.#agreement.delete(next.sid);
    if (entry === null || this.#log === null || together) return;
    // If the store was set back, the log may have this turn already.
    if (record !== null || !(await this.#log.has(next.sid, entry.turn_index))) await this.#append(this.#log, entry, holding);
    await this.store.logged(next.sid, entry.turn_index, fence, keep);
  }

  /**
   * Ends a session that is claimed and open. A turn that was started gets the decision HALT; resolves with its record, or
   * with null for a session between two turns. `message` says why, in words that are stored and logged.
   */
  async halt(
    claimed: DrivenSession,
    reason: HaltReason,
    message: string | null = null,
    stored: (record: TurnRecord | null) => void = () => {},
  ): Promise<TurnRecord | null> {
    const { state, next } = claimed;
    const record = next.kind === 'fresh' ? null : interruptedRecord(state, next.started, reason, keptCalls(claimed), message);
    const nextTurn = record === null ? state.nextTurn : state.nextTurn + 1;
    const head = record?.seal?.hash ?? state.head;
    const spent = record === null ? state.spent : spentAfter(state.spent, record);
    const ended = { status: 'halted', reason, message: record?.error?.message ?? message, nextTurn, head, spent } as const;
    await this.commit(claimed, record, { ...state, ...ended, output: null, scratchpad: null }, false, () => stored(record));
    return record;
  }

  /** Logs the HALT of a session that could not be opened. Its entry has turn 0, which no turn of a stored session has. */
  async refused(sid: string, reason: HaltReason, message: string): Promise<void> {
    await this.#log?.append(endEntry({ sid, nextTurn: 0, reason, message }, this.#clock.now()));
  }

  /** Releases the session, so that another process can claim it at once. */
  release({ state, fence }: ClaimedSession): Promise<void> {
    return this.store.release(state.sid, fence);
  }

  /**
   * Ends an open session with `ERR_CANCELLED`. If another process drives it, that process ends it within a third of a lease.
   * False when there is no such open session. A damaged session is ended without a record of its started turn, and `onDamaged` is told
   * of it; what is stored of it stays.
   */
  async cancel(sid: string, onDamaged: OnDamage = () => {}): Promise<boolean> {
    if (!(await this.store.cancel(sid))) return false;
    try {
      await this.#end(sid, 'ERR_CANCELLED');
    } catch (error) {
      if (!isDamage(error) || !(await this.#endDamaged(sid))) throw error;
      onDamaged(error, sid);
    }
    return true;
  }

  /** Ends a session that cannot be read, and logs what it owes to the log. False for a session that can be read. */
  async #endDamaged(sid: string): Promise<boolean> {
    const log = this.#log === null ? 'none' : this.#log === this.store.log ? 'own' : 'owed';
    const until = this.#leases.end();
    const end = { reason: 'ERR_CANCELLED', at: this.#clock.now(), log } as const;
    const damaged = (await this.store.endDamaged?.(sid, this.#leases.lease, end)) ?? null;
    if (damaged === null) return false;
    const { fence, unlogged } = damaged;
    await this.#pay(unlogged, { sid, fence, until });
    await this.store.release(sid, fence);
    return true;
  }

  /**
   * Logs the decisions that dead processes did not log, and resolves with the ids of open sessions that no process drives, at most
   * 10,000. A session that waits for a call is among them once the call is completed or has expired. Halts nested sessions that no
   * process has driven for the length of a lease (`ERR_INTERRUPTED`). Skips sessions with a turn in this process and those that it
   * `drives` otherwise, and damaged ones, which the list of the store explains. Reads only sessions that need recovery.
   */
  async recover(drives: (sid: string) => boolean = () => false): Promise<readonly string[]> {
    const taken = await this.tend(drives);
    const open = await this.store.find({ kind: 'ready', owner: this.owner }, MOST_OPEN);
    return open.filter((sid) => !drives(sid) && !this.#leases.holds(sid) && !taken.has(sid)).sort();
  }

  /**
   * Finishes the work of dead processes, as {@link recover} does. Resolves with the ids of sessions that are not this process's to take:
   * other processes drive and log them, or they are damaged. `onDamaged` is told of each damaged one.
   */
  async tend(drives: (sid: string) => boolean = () => false, onDamaged: OnDamage = () => {}): Promise<ReadonlySet<string>> {
    const free = (sid: string): boolean => !drives(sid) && !this.#leases.holds(sid);
    const taken = new Set<string>();
    /** A damaged session must not keep the others from being logged. */
    const passBy = (error: unknown, sid: string): void => {
      if (!isDamage(error)) throw error;
      taken.add(sid);
      onDamaged(error, sid);
    };
    for await (const sid of this.#each((after) => ({ kind: 'owing', after })))
      if (free(sid) && !(await this.#logUnlogged(sid).catch((error) => passBy(error, sid)))) taken.add(sid);
    // A nested session has no lease between two of its turns, although its driver is alive.
    const idleMs = this.#leases.lease.ms;
    for await (const sid of this.#each((after) => ({ kind: 'orphaned', after, idleMs })))
      if (free(sid)) await this.#end(sid, 'ERR_INTERRUPTED').catch((error) => passBy(error, sid));
    return taken;
  }

  /** The ids of all sessions in a condition, page by page. */
  async *#each(condition: (after: string) => Condition): AsyncGenerator<string> {
    for (let after = ''; ; ) {
      const page = await this.store.find(condition(after), PAGE);
      yield* page;
      after = page.at(-1) ?? after;
      if (page.length < PAGE) return;
    }
  }

  /** Claims and releases a session, which logs its unlogged decisions. False while another process drives the session. */
  async #logUnlogged(sid: string): Promise<boolean> {
    try {
      await this.release(await this.claim(sid));
      return true;
    } catch (error) {
      if (error instanceof SessionLeasedError) return false;
      // A process died after it had ended the session and before it logged the end.
      if (isDamage(error) && (await this.store.summary(sid))?.status !== 'open') await this.#endDamaged(sid);
      throw error;
    }
  }

  /** Halts a session if it is open and no other process drives it. */
  async #end(sid: string, reason: HaltReason): Promise<void> {
    try {
      const claimed = await this.claim(sid);
      if (claimed.state.status === 'open') await this.halt(claimed, reason);
      else await this.release(claimed);
    } catch (error) {
      if (!(error instanceof SessionLeasedError)) throw error;
    }
  }
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;
