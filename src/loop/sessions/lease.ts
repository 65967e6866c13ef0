import { ConfigError } from '../../wire/errors.ts';
import { timerMs } from '../../wire/options.ts';
import type { Clock } from '../clock.ts';
import type { Point } from './point.ts';
import type { ClaimedSession, Held, Lease, SessionStore, StartedTurn } from './store.ts';

const DEFAULT_LEASE_MS = 15_000;

export interface LeasesInit {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Different for every process that lives at the same time. */
  readonly owner: string;
  /** From 100 to 2,147,483,647, the longest time of a timer. */
  readonly leaseMs?: number | undefined;
}

export interface Holding extends Held {
  /**
   * The time until which the lease certainly lasts, on this process's monotonic clock. The store counts the lease from a later moment, so
   * its lease ends later.
   */
  until: number;
  /** The attempt that this process has begun and not ended; null or absent without one. */
  begun?: StartedTurn | null;
}

/** A session that this process drives. A step puts the point at which it continues in the place of `next`. */
export interface DrivenSession extends Omit<ClaimedSession, 'next'> {
  readonly next: Point;
  readonly holding: Holding;
}

/** A turn under way, and the callback that ends it. */
interface HeldTurn {
  readonly session: Holding;
  readonly onLost: () => void;
  readonly over: PromiseWithResolvers<void>;
  /** Whether the turn was told that its lease is lost. */
  isTold: boolean;
}

/** End of a lease that this process has given up or lost. It stays lost, even if the store would renew it: the turn has ended. */
const LOST = Number.NEGATIVE_INFINITY;

/**
 * Renews the leases of the sessions that are in a turn. One timer serves all of them and runs only while there are any. A process that
 * cannot renew a lease in time gives the session up, because another process may have claimed it.
 */
export class Leases {
  /** The lease that this process requests. */
  readonly lease: Lease;
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #held = new Map<string, HeldTurn>();
  #timer: NodeJS.Timeout | null = null;
  /** Leases of turns under way that others have taken, or may have. */
  lost = 0;

  /** Throws {@link ConfigError} for a lease that is too short to renew or an owner without a name. */
  constructor({ store, clock, owner, leaseMs = DEFAULT_LEASE_MS }: LeasesInit) {
    timerMs(100)('leaseMs', leaseMs);
    if (owner === '') throw new ConfigError('the owner of leases needs a name');
    this.lease = { owner, ms: leaseMs };
    this.#store = store;
    this.#clock = clock;
  }

  /** The end of a lease that is requested now, on the monotonic clock. */
  end(): number {
    return this.#clock.monotonic() + this.lease.ms;
  }

  /**
   * Renews the lease of a session until {@link drop}. Calls `onLost` when the lease is or may be lost, or the end of the session is
   * requested. Renewing every third of a lease tolerates one renewal that fails.
   */
  hold(session: Holding, onLost: () => void): void {
    this.#held.set(session.sid, { session, onLost, over: Promise.withResolvers(), isTold: false });
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.renew(), Math.floor(this.lease.ms / 3));
    this.#timer.unref();
  }

  /** Ends the turn of a session whose end was requested. */
  cancel(sid: string): void {
    this.#held.get(sid)?.onLost();
  }

  /** Stops renewing. The lease itself stands until it is released or expires. */
  drop(sid: string): void {
    this.#held.get(sid)?.over.resolve();
    this.#held.delete(sid);
    if (this.#held.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /**
   * Gives up every held lease at once. This process stops acting for these sessions, and another one can take them over without waiting.
   */
  async abandon(): Promise<void> {
    const held = [...this.#held.values()];
    for (const turn of held) {
      turn.session.until = LOST;
      turn.isTold = true;
    }
    const released = await Promise.allSettled(held.map(({ session }) => this.giveUp(session)));
    for (const { onLost } of held) onLost();
    for (const each of released) if (each.status === 'rejected') throw each.reason;
  }

  /** Releases a session. An attempt under way has not ended this process, and the store learns that if it still can. */
  async giveUp({ sid, fence, begun }: Holding): Promise<void> {
    if (begun) await this.#store.start({ ...begun, runner: null }, fence).catch(() => {});
    await this.#store.release(sid, fence);
  }

  /** Waits `ms` milliseconds within a turn. Resolves with false as soon as the turn ends, and leaves no timer. */
  async pause(sid: string, ms: number): Promise<boolean> {
    const turn = this.#held.get(sid);
    if (turn === undefined) return false;
    const waited = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => waited.resolve(true), ms);
    void turn.over.promise.then(() => waited.resolve(false));
    return waited.promise.finally(() => clearTimeout(timer));
  }

  /** The time until which a turn of this process holds the session, in Unix milliseconds; null without one. */
  heldUntil(sid: string): number | null {
    const turn = this.#held.get(sid);
    if (turn === undefined) return null;
    return this.#clock.now() + Math.max(0, turn.session.until - this.#clock.monotonic());
  }

  /**
   * Whether the lease of a session lasts for certain. Once the answer is no, it stays no: the caller has stopped acting for the
   * session, and a renewal under way must not undo that.
   */
  lasts(session: Holding): boolean {
    if (this.#clock.monotonic() < session.until) return true;
    session.until = LOST;
    return false;
  }

  /** Whether so much of a lease is left that one renewal of it may fail: a turn can begin without another claim. */
  isFresh({ until }: Holding): boolean {
    return this.#clock.monotonic() < until - (this.lease.ms * 2) / 3;
  }

  /** Whether the timer runs. It runs exactly while sessions are held. */
  get isRenewing(): boolean {
    return this.#timer !== null;
  }

  /** The lease of a session is lost. A turn of it stays held until it has ended. */
  #lose(session: Holding): void {
    session.until = LOST;
    const turn = this.#held.get(session.sid);
    if (turn?.session !== session || turn.isTold) return;
    turn.isTold = true;
    this.lost += 1;
    turn.onLost();
  }

  /** Renews every held lease. */
  async renew(): Promise<void> {
    for (const { session } of this.#held.values()) if (!this.lasts(session)) this.#lose(session);
    const held = [...this.#held.values()].map(({ session }) => session).filter((session) => this.lasts(session));
    const until = this.end();
    try {
      const renewals = await this.#store.renew(held, this.lease.ms);
      for (const [index, session] of held.entries()) {
        // Meanwhile the turn may have ended, and the next one of the same lease may be under way.
        if (renewals[index] === 'lost') this.#lose(session);
        else if (session.until !== LOST) session.until = Math.max(session.until, until);
        if (renewals[index] === 'cancelled') this.cancel(session.sid);
      }
    } catch {
      // The store cannot be reached; the next renewal tries again, as long as the lease lasts.
    }
  }
}
