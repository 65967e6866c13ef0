import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { UsedId } from '../../aeiou/index.ts';
import { type DecisionLog, endEntry, type LogEntry, logEntry } from '../log/log.ts';
import type { Clock } from '../ports.ts';
import type { HaltReason } from '../turn/decision.ts';
import { interruptedRecord } from '../turn/interrupted.ts';
import type { TurnRecord } from '../turn/record.ts';
import { type Gone, Leases } from './lease.ts';
import { type ClaimedSession, SessionLeasedError, type SessionState, type SessionStore, type StartedTurn } from './store.ts';

/** What a {@link Keeper} is made from. */
export interface KeeperInit {
  readonly store: SessionStore;
  readonly log: DecisionLog | null;
  readonly clock: Clock;
  /** Name of this process in leases; a random one when absent. A name may be used again only when its process is gone. */
  readonly owner?: string;
  readonly leaseMs?: number;
  /** Seconds that a used token id is remembered. */
  readonly replayTtl: number;
}

/**
 * Store, log and lease of sessions, used in the one order that loses nothing: lease, start, commit, log, mark as logged. A
 * decision that was committed and not logged, because the process died in between, is logged by whoever claims the session
 * next.
 */
export class Keeper {
  readonly store: SessionStore;
  readonly #log: DecisionLog | null;
  readonly #clock: Clock;
  readonly #leases: Leases;
  readonly #replayTtl: number;

  constructor({ store, log, clock, owner = `${hostname()}:${process.pid}:${randomUUID()}`, leaseMs, replayTtl }: KeeperInit) {
    this.store = store;
    this.#log = log;
    this.#clock = clock;
    this.#leases = new Leases({ store, clock, owner, ...(leaseMs === undefined ? {} : { leaseMs }) });
    this.#replayTtl = replayTtl;
  }

  /** Name of this process in leases. */
  get owner(): string {
    return this.#leases.owner;
  }

  /** Takes the session, and pays what is owed to the log. Throws as {@link SessionStore.claim} and the log do. */
  async claim(sid: string): Promise<ClaimedSession> {
    const claimed = await this.store.claim(sid, this.#leases.lease());
    if (this.#log === null) return claimed;
    const { state, owed, owedEnd } = claimed;
    const entries: readonly LogEntry[] = [...owed.map(logEntry), ...(owedEnd === null ? [] : [endEntry(state, owedEnd)])];
    for (const entry of entries) {
      const turn = entry.turn_index;
      if (!(await this.#log.has(sid, turn))) await this.#log.append(entry);
      await this.store.logged(sid, turn, this.owner, true);
    }
    return claimed;
  }

  /** Renews the lease as long as `work` takes. */
  async during<T>(sid: string, onGone: (why: Gone) => void, work: () => Promise<T>): Promise<T> {
    this.#leases.hold(sid, onGone);
    try {
      return await work();
    } finally {
      this.#leases.drop(sid);
    }
  }

  /** Keeps that a turn starts. */
  start(turn: StartedTurn): Promise<void> {
    return this.store.start(turn, this.owner);
  }

  /** Forgets a started turn whose program never ran. */
  withdraw(sid: string): Promise<void> {
    return this.store.withdraw(sid, this.owner);
  }

  /**
   * Keeps a decided turn, or the end of a session between two turns, then logs it. The lease is kept only for a session that
   * goes on, and only if asked.
   */
  async commit(record: TurnRecord | null, next: SessionState, keepLease = false): Promise<void> {
    const at = this.#clock.now();
    const entry = record !== null ? logEntry(record) : next.status === 'open' ? null : endEntry(next, at);
    const owed = entry !== null && this.#log !== null;
    const keep = keepLease && next.status === 'open';
    const second = Math.floor(at / 1000);
    await this.store.commit({
      owner: this.owner,
      record,
      next,
      used: record === null ? [] : usedBy(record, second),
      usedSince: second - this.#replayTtl,
      owed,
      at,
      keep: keep || owed,
    });
    if (entry === null || this.#log === null) return;
    await this.#log.append(entry);
    await this.store.logged(next.sid, entry.turn_index, this.owner, keep);
  }

  /**
   * Ends a session that is claimed and open. The turn that a dead process was in gets its decision: HALT.
   * Resolves with its record; null when the session was between two turns.
   */
  async halt({ state, started }: ClaimedSession, reason: HaltReason): Promise<TurnRecord | null> {
    const record = started === null ? null : interruptedRecord(state, started, reason);
    const nextTurn = record === null ? state.nextTurn : state.nextTurn + 1;
    const head = record?.seal?.hash ?? state.head;
    await this.commit(record, { ...state, status: 'halted', reason, nextTurn, head, output: null, scratchpad: null });
    return record;
  }

  /** Gives the session up, so that others can take it at once. */
  release(sid: string): Promise<void> {
    return this.store.release(sid, this.owner);
  }

  /**
   * Ends an open session with ERR_CANCELLED, or asks the process that drives it to do so within a third of a lease. False
   * when there is no such open session.
   */
  async cancel(sid: string): Promise<boolean> {
    if (!(await this.store.cancel(sid))) return false;
    try {
      const claimed = await this.claim(sid);
      if (claimed.state.status === 'open') await this.halt(claimed, 'ERR_CANCELLED');
      else await this.release(sid);
    } catch (error) {
      if (!(error instanceof SessionLeasedError)) throw error;
    }
    return true;
  }

  /**
   * Pays what dead processes owe to the log, and resolves with the ids of the open sessions that nobody drives. Those that wait
   * for a call are among them once it was completed, or cannot be any more. Nested sessions that nobody has driven for the length
   * of a lease are ended: HALT `ERR_INTERRUPTED`. Sessions that this process is in a turn of, or `drives` otherwise, are left alone.
   */
  async recover(drives: (sid: string) => boolean = () => false): Promise<readonly string[]> {
    const open: string[] = [];
    const now = this.#clock.now();
    for (const { sid, status, owed, lease, waits, parent, updatedAt } of await this.store.list()) {
      if (drives(sid) || this.#leases.holds(sid)) continue;
      // Between two of its turns a nested session has no lease, and whoever drives it is there.
      const orphaned = status === 'open' && parent !== null && now - updatedAt >= this.#leases.leaseMs;
      const idle = waits !== null && !waits.completed && now < waits.expiresAt;
      if (owed === 0) {
        const driven = lease !== null && lease.owner !== this.owner && now < lease.until;
        if (orphaned && !driven) await this.#orphaned(sid);
        else if (status === 'open' && parent === null && !driven && !idle) open.push(sid);
        continue;
      }
      try {
        await this.claim(sid);
      } catch (error) {
        if (error instanceof SessionLeasedError) continue;
        throw error;
      }
      await this.release(sid);
      if (orphaned) await this.#orphaned(sid);
      else if (status === 'open' && parent === null && !idle) open.push(sid);
    }
    return open;
  }

  /** A nested session does not outlive the run that waits for it: that is run again, and asks anew. */
  async #orphaned(sid: string): Promise<void> {
    try {
      const claimed = await this.claim(sid);
      if (claimed.state.status === 'open') await this.halt(claimed, 'ERR_INTERRUPTED');
      else await this.release(sid);
    } catch (error) {
      // Then somebody drives it after all.
      if (!(error instanceof SessionLeasedError)) throw error;
    }
  }
}

/** Ids of the tokens that verified: those are remembered, chosen or not (AMB-13). */
function usedBy(record: TurnRecord, second: number): readonly UsedId[] {
  return record.candidates.flatMap(({ ok, jti }) => (ok && jti !== null ? [{ jti, second }] : []));
}
