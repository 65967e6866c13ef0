import type { HostRegistry } from './fleet.ts';

export interface HeartbeatInit {
  /** Absent in a store where nobody needs to know hosts. */
  readonly hosts: HostRegistry | undefined;
  readonly instance: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** The keys that the process knows now. */
  readonly kids: () => readonly string[];
}

/** The part of a lease for which a process is believed to live after it has said so. */
const BEATS_LAST = 2;

/** The longest pause after a beat that the store did not take, in milliseconds. */
const AGAIN_MS = 500;

/**
 * Says to the store that a process lives, and which keys it knows, several times in the time after which others take its sessions: a turn
 * that has killed its process is not taken for one of a process that lives, and keys are rotated when all that live know them.
 */
export class Heartbeat {
  readonly #init: HeartbeatInit;
  /** The next beat; null when it does not beat. */
  #timer: NodeJS.Timeout | null = null;
  #hasLeft = false;

  constructor(init: HeartbeatInit) {
    this.#init = init;
  }

  /** Beats from time to time until {@link leave}, one beat after the other. */
  start(): void {
    if (this.#init.hosts !== undefined) this.#next(this.#pauseMs);
  }

  /** Beats once. Rejects with `StoreError` when the store cannot be reached or cannot write. Nothing happens after {@link leave}. */
  async beat(): Promise<void> {
    const { hosts, instance, owner, leaseMs, kids } = this.#init;
    if (!this.#hasLeft) await hosts?.beat({ instance, owner, kids: kids() }, leaseMs / BEATS_LAST);
  }

  /** Tells the store that the process ends. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#init.hosts?.leave(this.#init.instance);
  }

  get #pauseMs(): number {
    return this.#init.leaseMs / (2 * BEATS_LAST);
  }

  #next(ms: number): void {
    if (this.#hasLeft) return;
    this.#timer = setTimeout(() => {
      this.beat().then(
        () => this.#next(this.#pauseMs),
        () => this.#next(Math.min(this.#pauseMs, AGAIN_MS)),
      );
    }, ms).unref();
  }
}
