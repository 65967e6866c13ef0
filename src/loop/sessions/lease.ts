import { ConfigError } from '../../wire/errors.ts';
import type { Clock } from '../ports.ts';
import type { Lease, SessionStore } from './store.ts';

/** How long a silent process keeps its sessions, unless configured otherwise. */
export const DEFAULT_LEASE_MS = 15_000;

/** What {@link Leases} are made from. */
export interface LeasesInit {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Different for every process that lives at the same time. */
  readonly owner: string;
  /** From 100. */
  readonly leaseMs?: number;
}

/** Why a session must be let go. */
export type Gone = 'lost' | 'cancelled';

/**
 * Keeps the leases of the sessions that are in a turn: one timer for all of them, and none while no session is. When a lease
 * ends is told by the injected clock alone.
 */
export class Leases {
  readonly owner: string;
  readonly #store: SessionStore;
  readonly #clock: Clock;
  /** Milliseconds. */
  readonly leaseMs: number;
  readonly #held = new Map<string, (why: Gone) => void>();
  #timer: NodeJS.Timeout | null = null;

  /** Throws {@link ConfigError} for a lease that is too short to be renewed, or an owner without a name. */
  constructor({ store, clock, owner, leaseMs = DEFAULT_LEASE_MS }: LeasesInit) {
    if (!Number.isSafeInteger(leaseMs) || leaseMs < 100)
      throw new ConfigError(`leaseMs must be a whole number from 100, got ${String(leaseMs)}`);
    if (owner === '') throw new ConfigError('the owner of leases needs a name');
    this.owner = owner;
    this.#store = store;
    this.#clock = clock;
    this.leaseMs = leaseMs;
  }

  /** A lease that begins now. */
  lease(): Lease {
    const now = this.#clock.now();
    return { owner: this.owner, now, until: now + this.leaseMs };
  }

  /** Renews the lease of a session until {@link drop}; `onGone` is told once when it was lost or its end was asked for. */
  hold(sid: string, onGone: (why: Gone) => void): void {
    this.#held.set(sid, onGone);
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.beat(), Math.floor(this.leaseMs / 3));
    this.#timer.unref();
  }

  /** Stops renewing; the lease itself stands until it is released or ends. */
  drop(sid: string): void {
    this.#held.delete(sid);
    if (this.#held.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Whether this process is in a turn of the session. */
  holds(sid: string): boolean {
    return this.#held.has(sid);
  }

  /** Whether a timer is running: exactly while sessions are held. */
  get beating(): boolean {
    return this.#timer !== null;
  }

  /**
   * Renews what is held. A store that cannot be reached is asked again at the next beat: should the lease be lost meanwhile,
   * the commit of the turn is refused, so nothing is ever kept twice.
   */
  async beat(): Promise<void> {
    const sids = [...this.#held.keys()];
    try {
      const renewals = await this.#store.renew(sids, this.lease());
      for (const [index, sid] of sids.entries()) {
        const renewal = renewals[index];
        if (renewal === 'lost' || renewal === 'cancelled') this.#held.get(sid)?.(renewal);
      }
    } catch {
      // see above
    }
  }
}
