import type { UsedId } from '../../aeiou/index.ts';
import { StoreError } from '../../sqlite/error.ts';
import { type Clock, systemClock } from '../clock.ts';
import { eraseRecord, eraseState } from '../record/erase.ts';
import type { TurnRecord } from '../record/record.ts';
import { waitingOf } from '../record/suspension.ts';
import { SessionExistsError, SessionLeasedError, SessionStateError } from './errors.ts';
import { headOf } from './head.ts';
import { newestFirst } from './recent.ts';
import { checkSetup, mustKnow, PLAIN_SETUP, READER, type Runnable, type SessionSetup } from './setup.ts';
import {
  type ClaimedSession,
  type Condition,
  type ErasableStore,
  type Held,
  type Lease,
  type ListQuery,
  nextTurnOf,
  notStarted,
  type OnDamaged,
  type Pruning,
  type RecentQuery,
  type Renewal,
  type SessionState,
  type SessionSummary,
  type StartedTurn,
  type StoredStep,
  type TurnCommit,
  type TurnsQuery,
  waitsUntil,
} from './store.ts';
import { Wakes } from './wakes.ts';

/** One stored session. An idle session has neither lease nor started turn and needs memory for its state alone. */
interface StoredSession {
  state: SessionState;
  readonly setup: SessionSetup;
  readonly createdAt: number;
  updatedAt: number;
  /** Time at which the last process stopped driving it. */
  idleSince: number;
  lease: { readonly owner: string; readonly until: number } | null;
  /** Number of the last claim. */
  fence: number;
  started: StartedTurn | null;
  /** In the order of their numbers. */
  steps: readonly StoredStep[];
  cancelled: boolean;
  turns: readonly TurnRecord[];
  used: readonly UsedId[];
  /** Turns whose decision is not logged yet. */
  unlogged: readonly number[];
  /** Whether the session ended between two turns and the end is not logged yet. */
  endUnlogged: boolean;
}

const NONE: readonly never[] = Object.freeze([]);

/** Options of a {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** Measures leases. The default is the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Keeps sessions in memory, for the lifetime of the process. */
export class MemoryStore implements ErasableStore {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #wakes = new Wakes();
  readonly #heads = new WeakMap<SessionState, ReturnType<typeof headOf>>();
  /** The tenant of the last claim of `next`. */
  #served = '';

  constructor({ clock = systemClock }: MemoryStoreOptions = {}) {
    this.#clock = clock;
  }

  async create(state: SessionState, at: number, setup: SessionSetup = PLAIN_SETUP): Promise<void> {
    checkSetup(setup);
    if (this.#sessions.has(state.sid)) throw new SessionExistsError(state.sid);
    this.#sessions.set(state.sid, {
      state,
      setup,
      createdAt: at,
      updatedAt: at,
      idleSince: this.#clock.now(),
      lease: null,
      fence: 0,
      started: null,
      steps: NONE,
      cancelled: false,
      turns: NONE,
      used: NONE,
      unlogged: NONE,
      endUnlogged: false,
    });
    this.#wakes.wake();
  }

  async read(sid: string): Promise<SessionState | null> {
    return this.#sessions.get(sid)?.state ?? null;
  }

  async claim(sid: string, lease: Lease): Promise<ClaimedSession> {
    return this.#claim(sid, lease);
  }

  async next(
    lease: Lease,
    most: number,
    { profiles, reader = READER, without = NONE }: Runnable,
  ): Promise<readonly ClaimedSession[]> {
    const tenants = new Map<string, string[]>();
    for (const [sid, { setup }] of this.#ready())
      if (profiles.includes(setup.profile) && setup.reader <= reader && !without.includes(setup.tenant))
        tenants.set(setup.tenant, [...(tenants.get(setup.tenant) ?? []), sid]);
    const claimed: ClaimedSession[] = [];
    while (claimed.length < most && tenants.size > 0) {
      const names = [...tenants.keys()].sort();
      const tenant = names.find((name) => name > this.#served) ?? names[0] ?? '';
      this.#served = tenant;
      const sid = tenants.get(tenant)?.shift();
      if (sid === undefined) tenants.delete(tenant);
      else claimed.push(this.#claim(sid, lease));
    }
    return claimed;
  }

  onReady(wake: () => void): () => void {
    return this.#wakes.on(wake);
  }

  #claim(sid: string, { owner, ms }: Lease): ClaimedSession {
    const kept = this.#kept(sid);
    const lease = this.#leaseOf(kept);
    if (lease !== null && lease.owner !== owner) throw new SessionLeasedError(sid, lease);
    mustKnow(sid, kept.setup);
    kept.lease = { owner, until: this.#clock.now() + ms };
    const fence = ++kept.fence;
    const { state, setup, steps, used, cancelled } = kept;
    const unlogged = kept.turns.filter(({ turn }) => kept.unlogged.includes(turn));
    const unloggedEnd = kept.endUnlogged ? kept.updatedAt : null;
    return { fence, state, setup, steps, next: nextTurnOf(kept.started), used, unlogged, unloggedEnd, cancelled };
  }

  async renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]> {
    return held.map(({ sid, fence }) => {
      const kept = this.#sessions.get(sid);
      if (kept?.fence !== fence || kept.lease === null) return 'lost';
      kept.lease = { ...kept.lease, until: this.#clock.now() + ms };
      return kept.cancelled ? 'cancelled' : 'held';
    });
  }

  async release(sid: string, fence: number): Promise<void> {
    const kept = this.#sessions.get(sid);
    if (kept?.fence === fence) this.#free(kept);
  }

  async start(turn: StartedTurn, fence: number): Promise<void> {
    const kept = this.#held(turn.sid, fence);
    if (kept.state.status !== 'open' || turn.turn !== kept.state.nextTurn)
      throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(turn.sid)} is not the next`);
    if (kept.started?.nonce !== turn.nonce) kept.steps = NONE;
    kept.started = turn;
  }

  async keep(sid: string, step: StoredStep, fence: number): Promise<void> {
    const kept = this.#held(sid, fence);
    if (kept.started?.turn !== step.turn) throw notStarted(sid, step.turn);
    kept.steps = [...kept.steps.filter(({ seq }) => seq !== step.seq), step].sort((a, b) => a.seq - b.seq);
  }

  async withdraw(sid: string, fence: number): Promise<void> {
    Object.assign(this.#held(sid, fence), { started: null, steps: NONE });
  }

  async commit({ fence, record, next, used, usedSince, unlogged, at, keep }: TurnCommit): Promise<void> {
    const kept = this.#held(next.sid, fence);
    if (record !== null && (record.turn !== kept.state.nextTurn || kept.started?.turn !== record.turn))
      throw notStarted(next.sid, record.turn);
    const ended = next.status !== 'open';
    kept.state = next;
    kept.updatedAt = at;
    kept.started = null;
    kept.steps = NONE;
    if (record !== null) kept.turns = [...kept.turns, record];
    if (record !== null && unlogged) kept.unlogged = [...kept.unlogged, record.turn];
    if (record === null && unlogged) kept.endUnlogged = true;
    kept.used = ended ? NONE : [...kept.used, ...used].filter(({ second }) => second >= usedSince);
    if (!keep) this.#free(kept);
  }

  async logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    const kept = this.#held(sid, fence);
    kept.unlogged = kept.unlogged.filter((each) => each !== turn);
    if (turn === kept.state.nextTurn) kept.endUnlogged = false;
    if (!keep) this.#free(kept);
  }

  async cancel(sid: string): Promise<boolean> {
    const kept = this.#sessions.get(sid);
    if (kept?.state.status !== 'open') return false;
    kept.cancelled = true;
    this.#wakes.wake();
    return true;
  }

  async turns(sid: string, _onDamaged?: OnDamaged, { after = 0, limit }: TurnsQuery = {}): Promise<readonly TurnRecord[]> {
    return (this.#sessions.get(sid)?.turns ?? NONE).filter(({ turn }) => turn > after).slice(0, limit);
  }

  async list({ after, limit, parent }: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return this.#sorted()
      .filter(
        ([sid, { state }]) => (after === undefined || sid > after) && (parent === undefined || state.parent?.sid === parent),
      )
      .slice(0, limit)
      .map(([, kept]) => this.#summaryOf(kept));
  }

  async recent({ limit, after, status, reason, since, until }: RecentQuery): Promise<readonly SessionSummary[]> {
    return [...this.#sessions.values()]
      .map((kept) => ({ kept, sid: kept.state.sid, updatedAt: kept.updatedAt }))
      .filter(
        (each) =>
          (after === undefined || newestFirst(after, each) < 0) &&
          (status === undefined || each.kept.state.status === status) &&
          (reason === undefined || each.kept.state.reason === reason) &&
          (since === undefined || each.updatedAt >= since) &&
          (until === undefined || each.updatedAt < until),
      )
      .sort(newestFirst)
      .slice(0, limit)
      .map(({ kept }) => this.#summaryOf(kept));
  }

  async summary(sid: string): Promise<SessionSummary | null> {
    const kept = this.#sessions.get(sid);
    return kept === undefined ? null : this.#summaryOf(kept);
  }

  async find(condition: Condition, limit: number): Promise<readonly string[]> {
    const isLeased = ([, kept]: readonly [string, StoredSession]): boolean =>
      condition.kind === 'ready' && isClaimable(kept.state) && this.#leaseOf(kept)?.owner === condition.owner;
    const found =
      condition.kind === 'ready' ? [...this.#ready(), ...[...this.#sessions].filter(isLeased)] : this.#cared(condition);
    return found.map(([sid]) => sid).slice(0, limit);
  }

  async ping(): Promise<void> {}

  async prune({ before, dryRun = false }: Pruning): Promise<readonly SessionSummary[]> {
    const old = (await this.list()).filter(
      ({ status, updatedAt, lease, owed }) => status !== 'open' && updatedAt < before && owed === 0 && lease === null,
    );
    if (!dryRun) for (const { sid } of old) this.#sessions.delete(sid);
    return old;
  }

  async erase(sids: readonly string[]): Promise<void> {
    const sessions = sids.map((sid) => {
      const kept = this.#kept(sid);
      const lease = this.#leaseOf(kept);
      if (lease !== null) throw new SessionLeasedError(sid, lease);
      if (kept.state.status === 'open') throw new SessionStateError(sid, 'open');
      return kept;
    });
    for (const kept of sessions) {
      kept.turns = kept.turns.map(eraseRecord);
      kept.state = eraseState(kept.state);
      kept.started = null;
      kept.steps = NONE;
    }
  }

  #summaryOf(kept: StoredSession): SessionSummary {
    const { state, setup, createdAt, updatedAt, started, unlogged, endUnlogged, turns } = kept;
    return {
      sid: state.sid,
      tenant: setup.tenant,
      profile: setup.profile,
      engine: setup.engine,
      reader: setup.reader,
      status: state.status,
      reason: state.reason,
      turns: turns.length,
      createdAt,
      updatedAt,
      started: started?.turn ?? null,
      waits: started === null || started.suspended === null ? null : waitingOf(started.turn, started.suspended),
      lease: this.#leaseOf(kept),
      owed: unlogged.length + (endUnlogged ? 1 : 0),
      ...this.#headOf(state),
      damaged: null,
    };
  }

  /** Reads the USERDATA of a state once. */
  #headOf(state: SessionState): ReturnType<typeof headOf> {
    const head = this.#heads.get(state) ?? headOf(state);
    this.#heads.set(state, head);
    return head;
  }

  #kept(sid: string): StoredSession {
    const kept = this.#sessions.get(sid);
    if (kept === undefined) throw new SessionStateError(sid, 'unknown');
    return kept;
  }

  /** Sessions that `next` may claim; the one that has been ready longest comes first. */
  #ready(): (readonly [string, StoredSession])[] {
    const now = this.#clock.now();
    const waits = ({ started, cancelled }: StoredSession): boolean =>
      started !== null && !cancelled && now < (waitsUntil(started) ?? 0);
    return [...this.#sessions]
      .filter(([, kept]) => isClaimable(kept.state) && this.#leaseOf(kept) === null && !waits(kept))
      .sort(([, a], [, b]) => readySince(a) - readySince(b));
  }

  #cared(condition: Exclude<Condition, { kind: 'ready' }>): (readonly [string, StoredSession])[] {
    const { kind, after } = condition;
    const before = kind === 'orphaned' ? this.#clock.now() - condition.idleMs : 0;
    return this.#sorted().filter(([sid, kept]) => {
      const { state, unlogged, endUnlogged, idleSince } = kept;
      if (sid <= after) return false;
      if (kind === 'owing') return unlogged.length > 0 || endUnlogged;
      return state.status === 'open' && state.parent !== null && this.#leaseOf(kept) === null && idleSince <= before;
    });
  }

  #sorted(): [string, StoredSession][] {
    return [...this.#sessions].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #free(kept: StoredSession): void {
    kept.lease = null;
    kept.idleSince = this.#clock.now();
    this.#wakes.wake();
  }

  /** The lease, if it lasts. */
  #leaseOf({ lease }: StoredSession): StoredSession['lease'] {
    return lease !== null && this.#clock.now() < lease.until ? lease : null;
  }

  #held(sid: string, fence: number): StoredSession {
    const kept = this.#kept(sid);
    if (kept.fence !== fence || kept.lease === null) throw new SessionLeasedError(sid, kept.lease);
    return kept;
  }
}

/** The time at which a session became ready: its lease, wait or turn ended then. */
function readySince({ lease, started, idleSince }: StoredSession): number {
  return lease?.until ?? (started === null ? null : waitsUntil(started)) ?? idleSince;
}

/** Whether `next` may ever give the session to a host: nested sessions are driven by the host of their parent. */
function isClaimable({ status, parent }: SessionState): boolean {
  return status === 'open' && parent === null;
}
