import type { GuestCall } from '../wire/protocol.ts';

/** An open call. Its deadline is infinite while it has not begun, and without a limit. */
interface TimedCall {
  readonly call: GuestCall;
  deadline: number;
}

/** The time of the open calls of a run. A call that waits for room has not begun, so its time does not run. */
export class CallTimes {
  readonly #ms: number;
  readonly #onLate: (call: GuestCall) => void;
  /** The open calls, in the order of the program. A list, because most are open alone, and a map allocates memory for each. */
  #open: TimedCall[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Each call has `ms` milliseconds; `onLate` gets one that has had them. */
  constructor(ms: number, onLate: (call: GuestCall) => void) {
    this.#ms = ms;
    this.#onLate = onLate;
  }

  /** The first open call in the order of the program. */
  get first(): GuestCall | undefined {
    return this.#open[0]?.call;
  }

  /** Begins the time of calls. Without a limit, `check` and the timer leave them alone. */
  begin(calls: readonly GuestCall[], limited: boolean): void {
    const deadline = limited ? performance.now() + this.#ms : Number.POSITIVE_INFINITY;
    for (const call of calls) this.#open.push({ call, deadline });
    if (limited) this.#start();
  }

  /** Takes a call out of time until the returned function is called. */
  postpone(call: GuestCall): () => void {
    const timed = this.#open.find((each) => each.call === call);
    if (timed === undefined) return () => {};
    timed.deadline = Number.POSITIVE_INFINITY;
    return () => {
      timed.deadline = performance.now() + this.#ms;
      // Otherwise the timer waits for an earlier deadline.
      if (this.#next() === timed) this.#start();
    };
  }

  /** Ends the time of a call. */
  end(call: GuestCall): void {
    this.#open = this.#open.filter((each) => each.call !== call);
  }

  /** Ends the time of all calls. */
  clear(): void {
    this.#open.length = 0;
  }

  /** Reports the first call that is late at a moment of `performance.now()`. Returns the milliseconds until the next one can be. */
  check(now: number): number | null {
    const next = this.#next();
    if (next === null) return null;
    if (now <= next.deadline) return next.deadline - now;
    this.#onLate(next.call);
    return null;
  }

  /** The call whose time ends first; null when no time runs. */
  #next(): TimedCall | null {
    let next: TimedCall | null = null;
    for (const timed of this.#open) if (timed.deadline < (next?.deadline ?? Number.POSITIVE_INFINITY)) next = timed;
    return next;
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
