import { ConfigError } from '../../wire/errors.ts';
import { wholeNumber } from '../../wire/options.ts';
import type { Clock } from '../clock.ts';
import type { Lease, SessionStore } from './store.ts';

/** Default length of a lease. */
export const DEFAULT_LEASE_MS = 15_000;

/** Parts of {@link Leases}. */
export interface LeasesInit {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Different for every process that lives at the same time. */
  readonly owner: string;
  /** From 100. */
  readonly leaseMs?: number;
}

/**
 * Renews the leases of the sessions that are in a turn. One timer serves all of them and runs only while there are any. The
 * injected clock alone determines when a lease expires.
 */
export class Leases {
  readonly owner: string;
  readonly #store: SessionStore;
  readonly #clock: Clock;
  /** Milliseconds. */
  readonly leaseMs: number;
  readonly #held = new Map<string, () => void>();
  #timer: NodeJS.Timeout | null = null;

  /** Throws {@link ConfigError} for a lease that is too short to renew or an owner without a name. */
  constructor({ store, clock, owner, leaseMs = DEFAULT_LEASE_MS }: LeasesInit) {
    wholeNumber(100)('leaseMs', leaseMs);
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

  /**
   * Renews the lease of a session until {@link drop}. Calls `onLost` when the lease is lost or the end of the session is
   * requested. Renewing every third of a lease tolerates one renewal that fails.
   */
  hold(sid: string, onLost: () => void): void {
    this.#held.set(sid, onLost);
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.renew(), Math.floor(this.leaseMs / 3));
    this.#timer.unref();
  }

  /** Stops renewing. The lease itself stands until it is released or expires. */
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

  /** Whether the timer runs. It runs exactly while sessions are held. */
  get isRenewing(): boolean {
    return this.#timer !== null;
  }

  /** Renews every held lease. */
  async renew(): Promise<void> {
    const sids = [...this.#held.keys()];
    try {
      const renewals = await this.#store.renew(sids, this.lease());
      for (const [index, sid] of sids.entries()) if (renewals[index] !== 'held') this.#held.get(sid)?.();
    } catch {
      // The store cannot be reached; the next renewal tries again. If the lease is lost meanwhile, the store refuses the
      // commit, so a turn is never stored twice.
    }
  }
}
