import type { Clock } from '../clock.ts';
import type { Held, SessionStore } from './store.ts';

export interface RestingInit {
  readonly store: Pick<SessionStore, 'renew' | 'release'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly leaseMs: number;
  /** Ends a session whose end was requested. */
  readonly end: (sid: string) => Promise<unknown>;
}

/**
 * Sessions that this process keeps from all others for the length of a lease, without driving them: their agent gave no reply, or they
 * cannot be driven. Their leases are renewed meanwhile, because a renewal tells whether the end of a session was requested: it ends then,
 * also when nobody would drive it for longer.
 */
export class Resting {
  readonly #init: RestingInit;
  readonly #sessions = new Map<string, Held & { readonly until: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(init: RestingInit) {
    this.#init = init;
  }

  /** Keeps a session that is leased now. */
  add({ sid, fence }: Held): void {
    const { clock, leaseMs } = this.#init;
    this.#sessions.set(sid, { sid, fence, until: clock.monotonic() + leaseMs });
    this.#timer ??= setInterval(() => void this.look().catch(() => {}), this.#lookMs).unref();
  }

  get #lookMs(): number {
    return Math.floor(this.#init.leaseMs / 3);
  }

  /**
   * Ends sessions whose end was requested, and gives back those that have rested. Rejects when the store does not answer; the next look
   * asks again, and what has rested by then is free when its lease ends.
   */
  async look(): Promise<void> {
    const { store, clock, end } = this.#init;
    const now = clock.monotonic();
    const looked = [...this.#sessions.values()];
    for (const { sid, until } of looked) if (until <= now) this.#sessions.delete(sid);
    this.#rest();
    const renewals = await store.renew(looked, 2 * this.#lookMs);
    for (const [index, held] of looked.entries()) {
      // A later claim, also of this process, may have taken the session.
      const isHeld = renewals[index] === 'held';
      if (!isHeld && this.#sessions.get(held.sid) === held) this.#sessions.delete(held.sid);
      if (renewals[index] === 'cancelled') await end(held.sid);
      else if (isHeld && held.until <= now) await store.release(held.sid, held.fence);
    }
    this.#rest();
  }

  /** Looks no more while no session rests. */
  #rest(): void {
    if (this.#sessions.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
