import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { DEFAULT_LIFETIMES } from '../../aeiou/index.ts';
import type { Clock } from '../clock.ts';
import { type DecisionLog, endEntry, type LogEntry, logEntry } from '../log/log.ts';
import type { HaltReason } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';
import { SharedLock } from '../sharedlock.ts';
import { spentAfter } from '../spent.ts';
import { Agreement } from './agreement.ts';
import { type Attendance, attending } from './attendance.ts';
import type { ForcedEnd } from './damaged.ts';
import { SessionLeasedError } from './errors.ts';
import { Heartbeat } from './heartbeat.ts';
import type { SessionCoordinatorInit } from './init.ts';
import { interruptedRecord } from './interrupted.ts';
import { type DrivenSession, type Holding, Leases } from './lease.ts';
import { patiently } from './patience.ts';
import { keptCalls } from './point.ts';
import { Resting } from './resting.ts';
import type { Admission, Runnable, SessionSetup } from './setup.ts';
import type { ClaimedSession, NextTurn, SessionState, SessionStore, StartedTurn, StoredStep } from './store.ts';
import { type OnDamage, Tending } from './tending.ts';
import { SessionWork } from './work.ts';

/** Shared by all coordinators, because a turn whose process died runs alone: no turn of any controller or store may run beside it. */
const TURNS = new SharedLock();

/**
 * Coordinates the store, the log and the lease of sessions in the only order that loses nothing: lease, start, commit, log,
 * mark as logged. If the process dies between commit and log, the next process that claims the session logs the decision.
 */
export class SessionCoordinator {
  /** Holds the sessions. */
  readonly store: SessionStore;
  /** The clock of this process. */
  readonly clock: Clock;
  /** Every claim of one session and what follows it is done within this, and so is what {@link next} logs. */
  readonly work: SessionWork;
  /** Held by every turn of this process: shared by turns that may run together, or by one turn alone. */
  readonly turns: SharedLock;
  readonly #log: DecisionLog | null;
  readonly #tending: Tending;
  readonly #leases: Leases;
  readonly #resting: Resting;
  readonly #replayTtl: number;
  readonly #agreement: Agreement;
  /** Different for every process: another one may have the same owner later. */
  readonly instance = randomUUID();
  /** What this process knows of sessions whose lease it holds between two turns, so that it need not claim them again. */
  readonly #known = new Map<string, DrivenSession>();
  #abandoned = new AbortController();

  constructor({
    store,
    log,
    clock,
    owner = `${hostname()}:${process.pid}:${randomUUID()}`,
    leaseMs,
    replayTtl = DEFAULT_LIFETIMES.replayTtl,
    turns = TURNS,
  }: SessionCoordinatorInit) {
    this.store = store;
    this.turns = turns;
    this.#log = log;
    this.#agreement = new Agreement(store, log);
    this.clock = clock;
    this.#leases = new Leases({ store, clock, owner, leaseMs });
    this.work = new SessionWork((sid) => this.#leases.heldUntil(sid) ?? clock.now());
    this.#tending = new Tending({
      store,
      clock,
      leases: this.#leases,
      sessions: this,
      logKind: this.#logKind,
      pay: (owed, holding) => this.#pay(owed, holding),
    });
    this.#resting = new Resting({ store, clock, leaseMs: this.leaseMs, end: (sid) => this.cancel(sid) });
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
    await this.store.create(state, this.clock.now(), setup, admission);
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

  /** Claims the session and logs its unlogged decisions; one that this process holds is as it left it. Throws as the store and the log do. */
  async claim(sid: string): Promise<DrivenSession> {
    const until = this.#leases.end();
    const known = this.#known.get(sid);
    if (known === undefined || !this.#leases.isFresh(known.holding)) return this.#driven(await this.#taken(sid), until);
    this.#known.delete(sid);
    return known;
  }

  /** Claims a session from the store. Whatever this process knew of it may have changed. */
  #taken(sid: string): Promise<ClaimedSession> {
    this.#known.delete(sid);
    return this.store.claim(sid, this.#leases.lease);
  }

  /**
   * Claims sessions that are ready, as {@link claim} does. Gives back those that are lost meanwhile, and those whose unlogged decisions
   * cannot be logged: the error of the first of them is thrown when no session is left. Throws as {@link SessionStore.next} does.
   */
  async next(most: number, runnable: Runnable): Promise<readonly DrivenSession[]> {
    const until = this.#leases.end();
    const found = await this.store.next(this.#leases.lease, most, runnable);
    const all = await Promise.allSettled(found.map((each) => this.#drivenOfMany(each, until)));
    const driven = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = all.find((each) => each.status === 'rejected' && !(each.reason instanceof SessionLeasedError));
    if (driven.length === 0 && failed?.status === 'rejected') throw failed.reason;
    return driven;
  }

  async #drivenOfMany(found: ClaimedSession, until: number): Promise<DrivenSession> {
    const { state, unlogged, unloggedEnd } = found;
    try {
      using _alone = unlogged.length > 0 || unloggedEnd !== null ? await this.work.alone(state.sid) : null;
      return this.#know(await this.#driven(found, until));
    } catch (error) {
      // If releasing fails as well, the lease expires. The first error is the one to report.
      await this.release(found).catch(() => {});
      throw error;
    }
  }

  /** Remembers a session that this process holds, and forgets those that it could no longer go on with: the first ones. */
  #know(session: DrivenSession): DrivenSession {
    for (const [sid, { holding }] of this.#known) {
      if (this.#leases.isFresh(holding)) break;
      this.#known.delete(sid);
    }
    this.#known.delete(session.state.sid);
    this.#known.set(session.state.sid, session);
    return session;
  }

  async #driven(found: ClaimedSession, until: number): Promise<DrivenSession> {
    const { fence, state, unlogged, unloggedEnd } = found;
    const holding: Holding = { sid: state.sid, fence, until };
    const end: readonly LogEntry[] = unloggedEnd === null ? [] : [endEntry(state, unloggedEnd)];
    await this.#pay([...unlogged.map(logEntry), ...end], holding);
    return { ...found, holding };
  }

  /** Whether the store writes a decision into its own log with the turn, owes it to another log, or makes no entry. */
  get #logKind(): ForcedEnd['log'] {
    return this.#log === null ? 'none' : this.#log === this.store.log ? 'own' : 'owed';
  }

  /** Logs the entries that a claimed session owes to the log. */
  async #pay(owed: readonly LogEntry[], holding: Holding): Promise<void> {
    for (const entry of owed) await this.#add(entry, holding, false, true);
  }

  /**
   * Logs an entry of a claimed session. Looks first whether the log has it, unless it `isNew`. Gives up the lease unless `keep` is set. A
   * process whose lease may have ended does not log: the next process that claims the session does.
   */
  async #add(entry: LogEntry, holding: Holding, isNew: boolean, keep: boolean): Promise<void> {
    if (this.#log === null) return;
    const { SID: sid, turn_index: turn } = entry;
    if (isNew || !(await this.#log.has(sid, turn))) {
      if (!this.#leases.lasts(holding)) throw new SessionLeasedError(sid, null);
      await this.#log.append(entry);
    }
    await this.store.logged(sid, turn, holding.fence, keep);
  }

  /** Renews the lease until the result is disposed. Calls `onLost` once if the lease is lost or the end of the session is requested. */
  hold({ holding }: DrivenSession, onLost: () => void): Disposable {
    this.#leases.hold(holding, onLost);
    return { [Symbol.dispose]: () => this.#leases.drop(holding.sid) };
  }

  /** Gives up every turn under way, so that other processes run them again. */
  abandon(): Promise<void> {
    const before = this.#abandoned;
    this.#abandoned = new AbortController();
    this.#known.clear();
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
    using _alone = await this.work.alone(sid);
    const { next, fence } = await this.#taken(sid);
    if (before !== null && next.kind !== 'fresh') {
      const { attempt, deaths } = before;
      await this.store.start({ ...next.started, attempt, deaths, runner: null, failed: undefined }, fence);
    }
    await this.store.release(sid, fence);
    return next;
  }

  /** Gives a session back that this process has claimed but does not drive. */
  async leave(sid: string): Promise<void> {
    using _alone = await this.work.alone(sid);
    await this.release(await this.claim(sid));
  }

  /** Keeps a session from all processes for the length of a lease, unless its end is requested. */
  async setAside(sid: string): Promise<void> {
    using _alone = await this.work.alone(sid);
    const { fence } = await this.#taken(sid);
    this.#resting.add({ sid, fence });
  }

  /** Whether no other process can drive the session yet. */
  lasts({ holding }: DrivenSession): boolean {
    return this.#leases.lasts(holding);
  }

  /** Stores that a turn starts, or how far it is. A turn whose session is to end is told so, as by a renewal of its lease. */
  async start(turn: StartedTurn, { fence, holding }: DrivenSession): Promise<void> {
    // Before the store answers: who gives the session up meanwhile must not write what was before.
    holding.begun = turn.attempt > 0 && turn.runner === this.instance ? turn : null;
    if (await this.store.start(turn, fence)) this.#leases.cancel(turn.sid);
  }

  /** Gives up a session that this process has lost, or may have: its attempt has ended no process, and counts for nothing. */
  giveUp({ holding }: DrivenSession): Promise<void> {
    this.#known.delete(holding.sid);
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
  keep(session: DrivenSession, step: StoredStep): Promise<void> {
    const { fence, holding } = session;
    return patiently(
      () => this.store.keep(holding.sid, step, fence),
      async (ms) => this.lasts(session) && (await this.#leases.pause(holding.sid, ms)),
    );
  }

  /** Forgets a started turn whose program never ran. */
  async withdraw({ state, fence, holding }: DrivenSession): Promise<void> {
    holding.begun = null;
    await this.store.withdraw(state.sid, fence);
  }

  /**
   * Stores a decided turn, or the end of a session between two turns (`record` is null), then logs it. The lease is kept only if
   * `keepLease` is set and the session goes on. Throws {@link SessionLeasedError} if the decision is stored but the lease may have ended;
   * another process then logs it. Calls `stored` as soon as it is stored.
   */
  async commit(
    claimed: DrivenSession,
    record: TurnRecord | null,
    next: SessionState,
    keepLease = false,
    stored: () => void = () => {},
  ): Promise<void> {
    const { fence, holding } = claimed;
    const at = this.clock.now();
    const entry = record !== null ? logEntry(record) : next.status === 'open' ? null : endEntry(next, at);
    const unlogged = entry !== null && this.#logKind === 'owed';
    const keep = keepLease && next.status === 'open';
    const second = Math.floor(at / 1000);
    const usedSince = second - this.#replayTtl;
    // All tokens that verified, including those that the decision did not choose.
    const used = (record?.candidates ?? []).flatMap(({ ok, jti }) => (ok && jti !== null ? [{ jti, second }] : []));
    const isCancelled = await this.store.commit({
      fence,
      record,
      next,
      used,
      usedSince,
      unlogged,
      entry: this.#logKind === 'own' ? entry : null,
      at,
      keep: keep || unlogged,
    });
    holding.begun = null;
    stored();
    if (next.status !== 'open') this.#agreement.delete(next.sid);
    // If the store was set back, the log may have the end of a session already.
    if (unlogged) await this.#add(entry, holding, record !== null, keep);
    if (!keep || record === null || isCancelled) return;
    const recent = [...claimed.used.filter((each) => each.second >= usedSince), ...used];
    const fresh = { next: { kind: 'fresh' }, steps: [], used: recent, unlogged: [], unloggedEnd: null } as const;
    this.#know({ ...claimed, state: next, ...fresh });
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
    await this.#log?.append(endEntry({ sid, nextTurn: 0, reason, message }, this.clock.now()));
  }

  /** Releases the session, so that another process can claim it at once. */
  release({ state: { sid }, fence }: Pick<ClaimedSession, 'state' | 'fence'>): Promise<void> {
    this.#known.delete(sid);
    return this.store.release(sid, fence);
  }

  /**
   * Ends an open session with `ERR_CANCELLED`. A turn of this process ends it at once, that of another process within a third of a lease.
   * False when there is no such open session. A damaged session is ended without a record of its started turn, and `onDamaged` is told
   * of it; what is stored of it stays.
   */
  cancel(sid: string, onDamaged?: OnDamage): Promise<boolean> {
    return this.#tending.cancel(sid, onDamaged);
  }

  /**
   * Logs the decisions that dead processes did not log, and resolves with the ids of open sessions that no process drives, at most
   * 10,000. A session that waits for a call is among them once the call is completed or has expired. Halts nested sessions that no
   * process has driven for the length of a lease (`ERR_INTERRUPTED`). Skips sessions with a turn in this process and those that it
   * `drives` otherwise, and damaged ones, which the list of the store explains. Reads only sessions that need recovery.
   */
  recover(drives?: (sid: string) => boolean): Promise<readonly string[]> {
    return this.#tending.recover(drives);
  }

  /**
   * Finishes the work of dead processes, as {@link recover} does. Resolves with the ids of sessions that are not this process's to take:
   * other processes drive and log them, or they are damaged. `onDamaged` is told of each damaged one.
   */
  tend(drives?: (sid: string) => boolean, onDamaged?: OnDamage): Promise<ReadonlySet<string>> {
    return this.#tending.tend(drives, onDamaged);
  }

  /** What says to the store that this process lives. */
  heartbeat(kids: () => readonly string[] = () => []): Heartbeat {
    const { instance, owner, leaseMs } = this;
    return new Heartbeat({ hosts: this.store.hosts, instance, owner, leaseMs, kids });
  }

  /**
   * For a process that gets its sessions from another system than a {@link Host}: until the result is disposed, says to the store that it
   * lives and which keys it knows, and tends the store once in a lease.
   */
  attend(attendance: Attendance = {}): AsyncDisposable {
    return attending(this, attendance);
  }
}
