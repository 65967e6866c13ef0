import type { UsedId } from '../../aeiou/index.ts';
import { StoreError } from '../../sqlite/error.ts';
import { type Clock, systemClock } from '../clock.ts';
import { eraseRecord, eraseState } from '../record/erase.ts';
import type { TurnRecord } from '../record/record.ts';
import { waitingOf } from '../record/suspension.ts';
import {
  type ClaimedSession,
  type ErasableStore,
  type Held,
  headOf,
  type Lease,
  nextTurnOf,
  type Pruning,
  type Renewal,
  SessionExistsError,
  SessionLeasedError,
  type SessionState,
  SessionStateError,
  type SessionSummary,
  type StartedTurn,
  type TurnCommit,
} from './store.ts';

/** One stored session. An idle session has neither lease nor started turn and needs memory for its state alone. */
interface StoredSession {
  state: SessionState;
  readonly createdAt: number;
  updatedAt: number;
  lease: { readonly owner: string; readonly until: number } | null;
  /** Number of the last claim. */
  fence: number;
  started: StartedTurn | null;
  cancelled: boolean;
  turns: readonly TurnRecord[];
  used: readonly UsedId[];
  /** Turns whose decision is not logged yet. */
  unlogged: readonly number[];
  /** Whether the session ended between two turns and the end is not logged yet. */
  endUnlogged: boolean;
}

const NONE: readonly never[] = Object.freeze([]);

/** How a {@link MemoryStore} is made. */
export interface MemoryStoreOptions {
  /** Measures leases. The default is the system's clock. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Keeps sessions in memory, for the lifetime of the process. */
export class MemoryStore implements ErasableStore {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ clock = systemClock }: MemoryStoreOptions = {}) {
    this.#clock = clock;
  }

  async create(state: SessionState, at: number): Promise<void> {
    if (this.#sessions.has(state.sid)) throw new SessionExistsError(state.sid);
    this.#sessions.set(state.sid, {
      state,
      createdAt: at,
      updatedAt: at,
      lease: null,
      fence: 0,
      started: null,
      cancelled: false,
      turns: NONE,
      used: NONE,
      unlogged: NONE,
      endUnlogged: false,
    });
  }

  async read(sid: string): Promise<SessionState | null> {
    return this.#sessions.get(sid)?.state ?? null;
  }

  async claim(sid: string, { owner, ms }: Lease): Promise<ClaimedSession> {
    const kept = this.#kept(sid);
    const lease = this.#leaseOf(kept);
    if (lease !== null && lease.owner !== owner) throw new SessionLeasedError(sid, lease);
    kept.lease = { owner, until: this.#clock.now() + ms };
    const fence = ++kept.fence;
    const { state, used, cancelled } = kept;
    const unlogged = kept.turns.filter(({ turn }) => kept.unlogged.includes(turn));
    const unloggedEnd = kept.endUnlogged ? kept.updatedAt : null;
    return { fence, state, next: nextTurnOf(kept.started), used, unlogged, unloggedEnd, cancelled };
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
    if (kept?.fence === fence) kept.lease = null;
  }

  async start(turn: StartedTurn, fence: number): Promise<void> {
    const kept = this.#held(turn.sid, fence);
    if (kept.state.status !== 'open' || turn.turn !== kept.state.nextTurn)
      throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(turn.sid)} is not the next`);
    kept.started = turn;
  }

  async withdraw(sid: string, fence: number): Promise<void> {
    this.#held(sid, fence).started = null;
  }

  async commit({ fence, record, next, used, usedSince, unlogged, at, keep }: TurnCommit): Promise<void> {
    const kept = this.#held(next.sid, fence);
    if (record !== null && (record.turn !== kept.state.nextTurn || kept.started?.turn !== record.turn))
      throw new StoreError('order', `turn ${record.turn} of session ${JSON.stringify(next.sid)} was not started`);
    const ended = next.status !== 'open';
    kept.state = next;
    kept.updatedAt = at;
    kept.started = null;
    if (record !== null) kept.turns = [...kept.turns, record];
    if (record !== null && unlogged) kept.unlogged = [...kept.unlogged, record.turn];
    if (record === null && unlogged) kept.endUnlogged = true;
    kept.used = ended ? NONE : [...kept.used, ...used].filter(({ second }) => second >= usedSince);
    if (!keep) kept.lease = null;
  }

  async logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    const kept = this.#held(sid, fence);
    kept.unlogged = kept.unlogged.filter((each) => each !== turn);
    if (turn === kept.state.nextTurn) kept.endUnlogged = false;
    if (!keep) kept.lease = null;
  }

  async cancel(sid: string): Promise<boolean> {
    const kept = this.#sessions.get(sid);
    if (kept?.state.status !== 'open') return false;
    kept.cancelled = true;
    return true;
  }

  async turns(sid: string): Promise<readonly TurnRecord[]> {
    return this.#sessions.get(sid)?.turns ?? NONE;
  }

  async list(): Promise<readonly SessionSummary[]> {
    return [...this.#sessions.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([sid, kept]) => [sid, kept, this.#leaseOf(kept)] as const)
      .map(([sid, { state, createdAt, updatedAt, started, unlogged, endUnlogged, turns }, lease]) => ({
        sid,
        status: state.status,
        reason: state.reason,
        turns: turns.length,
        createdAt,
        updatedAt,
        started: started?.turn ?? null,
        waits: started === null || started.suspended === null ? null : waitingOf(started.turn, started.suspended),
        lease,
        owed: unlogged.length + (endUnlogged ? 1 : 0),
        ...headOf(state),
        damaged: null,
      }));
  }

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
    }
  }

  #kept(sid: string): StoredSession {
    const kept = this.#sessions.get(sid);
    if (kept === undefined) throw new SessionStateError(sid, 'unknown');
    return kept;
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
