import type { GuestCall } from '../wire/protocol.ts';

/**
 * The time of the open calls of a run. A call that waits for room has not begun, so its time does not run. All calls have the same time,
 * so the one that began first ends first.
 */
export class CallTimes {
  readonly #ms: number;
  readonly #onLate: (call: GuestCall) => void;
  /** The open calls, in the order of the program. */
  readonly #open = new Set<GuestCall>();
  /** The deadlines of those that have begun, in their order. */
  readonly #deadlines = new Map<GuestCall, number>();
  #timer: NodeJS.Timeout | undefined;

  /** Each call has `ms` milliseconds; `onLate` gets one that has had them. */
  constructor(ms: number, onLate: (call: GuestCall) => void) {
    this.#ms = ms;
    this.#onLate = onLate;
  }

  /** The first open call in the order of the program. */
  get first(): GuestCall | undefined {
    for (const call of this.#open) return call;
    return undefined;
  }

  /** Begins the time of calls. Without a limit, `check` and the timer leave them alone. */
  begin(calls: readonly GuestCall[], limited: boolean): void {
    const deadline = performance.now() + this.#ms;
    for (const call of calls) {
      this.#open.add(call);
      if (limited) this.#deadlines.set(call, deadline);
    }
    if (limited) this.#start();
  }

  /** Takes a call out of time until the returned function is called. */
  postpone(call: GuestCall): () => void {
    this.#deadlines.delete(call);
    return () => {
      if (!this.#open.has(call)) return;
      this.#deadlines.set(call, performance.now() + this.#ms);
      // Otherwise the timer waits for an earlier deadline.
      if (this.#deadlines.size === 1) this.#start();
    };
  }

  /** Ends the time of a call. */
  end(call: GuestCall): void {
    this.#open.delete(call);
    this.#deadlines.delete(call);
  }

  /** Ends the time of all calls. */
  clear(): void {
    this.#open.clear();
    this.#deadlines.clear();
  }

  /** Reports the first call that is late at a moment of `performance.now()`. Returns the milliseconds until the next one can be. */
  check(now: number): number | null {
    for (const [call, deadline] of this.#deadlines) {
      if (now <= deadline) return deadline - now;
      this.#onLate(call);
      break;
    }
    return null;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Every call restarts the same timer and none stops it, because making and clearing a timer takes as long as a small tool. So the timer
   * may fire while no call is late.
   */
  #start(): void {
    if (this.#timer !== undefined) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#fire(), this.#ms);
  }

  #fire(): void {
    // The clock of timers may be ahead by a part of a millisecond.
    const left = this.check(performance.now() + 1);
    if (left !== null) this.#timer = setTimeout(() => this.#fire(), left);
  }
}
