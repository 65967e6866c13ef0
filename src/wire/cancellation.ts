/** The part of an `AbortSignal` that a run needs. Every `AbortSignal` is one. */
export interface Cancellation {
  /** True when the operation is cancelled. */
  readonly aborted: boolean;
  /** The listener is called once, unless it is removed before. It must not throw. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Removes a listener that was added before; has no effect on any other. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An `AbortController` that makes its signal when somebody reads it. Few tools and runs do, and to make a signal, to follow it and
 * to abort it takes a tenth of the time of a small turn.
 */
export class LazyAbort implements Cancellation {
  #controller: AbortController | null = null;
  #ended: { readonly reason: unknown } | null = null;
  /** A list, because a call has one or none. */
  #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#ended !== null;
  }

  /** What {@link abort} was first called with. */
  get reason(): unknown {
    return this.#ended?.reason;
  }

  /** The same object at every read. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended !== null) this.#controller.abort(this.#ended.reason);
    return this.#controller.signal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const place = this.#listeners.indexOf(listener);
    if (place >= 0) this.#listeners.splice(place, 1);
  }

  /** Calls the listeners, then those of the signal. Only the first call counts. */
  abort(reason: unknown): void {
    if (this.#ended !== null) return;
    this.#ended = { reason };
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
    this.#controller?.abort(reason);
  }
}
