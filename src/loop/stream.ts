/**
 * What a watched run is given: `onEvent` takes what happens, `pace` is waited for between two turns, and `signal` ends the
 * run.
 */
export interface Watched<Event> {
  readonly onEvent: (event: Event) => void;
  readonly pace: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** What a stream of progress has besides the events of the run. */
export type StreamEvent<Event, Result> =
  | Event
  /** The reader was slower than the program: so many events of this turn's middle were left out. */
  | { readonly type: 'dropped'; readonly events: number }
  /** The last one. */
  | { readonly type: 'ended'; readonly result: Result };

/** Events kept for a reader that is slower than the run. */
const BUFFERED = 1000;

/** How a stream is made. */
export interface StreamInit<Event, Result> {
  readonly signal: AbortSignal | undefined;
  /** Whether an event is one of many in the middle of a turn, which a slow reader can do without. */
  readonly minor: (event: Event) => boolean;
  readonly run: (watched: Watched<Event>) => Promise<Result>;
}

/**
 * A run as an async iterator of its events; returns the result, and gives it as the last event too. The next turn begins when
 * the events of the one before were read, so that what is buffered is bounded: a few events a turn, and at most a thousand
 * of those that tell what its program emits and calls. A reader that leaves early (`break`, `return`, a throw) cancels the
 * run, and waits until it has ended. The run begins with the first event that is asked for.
 */
export async function* stream<Event, Result>({
  signal,
  minor,
  run,
}: StreamInit<Event, Result>): AsyncGenerator<StreamEvent<Event, Result>, Result, void> {
  const left = new AbortController();
  const both = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]);
  const buffer = new EventBuffer<Event>(minor, both);
  const running = run({ onEvent: buffer.put, pace: buffer.emptied, signal: both });
  const done = running.then(buffer.close, buffer.close);
  try {
    for (;;) {
      const events = buffer.take();
      for (const event of events) yield event;
      if (events.length > 0) continue;
      if (buffer.closed) break;
      await buffer.filled();
    }
    const result = await running;
    yield { type: 'ended', result };
    return result;
  } finally {
    left.abort();
    await done;
  }
}

/** Events between a run and its reader. */
class EventBuffer<Event> {
  readonly #minor: (event: Event) => boolean;
  readonly #signal: AbortSignal;
  #events: (Event | { readonly type: 'dropped'; readonly events: number })[] = [];
  #dropped = 0;
  #closed = false;
  #reader: (() => void) | null = null;
  #writer: (() => void) | null = null;

  constructor(minor: (event: Event) => boolean, signal: AbortSignal) {
    this.#minor = minor;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#writer?.(), { once: true });
  }

  readonly put = (event: Event): void => {
    if (this.#minor(event)) {
      if (this.#events.length >= BUFFERED) {
        this.#dropped += 1;
        return;
      }
    } else this.#tellDropped();
    this.#events.push(event);
    this.#reader?.();
  };

  /** Resolves when the reader has asked for more than there was, or has gone. */
  readonly emptied = async (): Promise<void> => {
    const waiting = this.#reader !== null && this.#events.length === 0;
    if (waiting || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#writer = resolve;
    });
    this.#writer = null;
  };

  readonly close = (): void => {
    this.#tellDropped();
    this.#closed = true;
    this.#reader?.();
  };

  get closed(): boolean {
    return this.#closed;
  }

  /** All events that are there. */
  take(): readonly (Event | { readonly type: 'dropped'; readonly events: number })[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Resolves when there is something to take, or nothing will come any more. */
  async filled(): Promise<void> {
    this.#writer?.();
    if (this.#events.length > 0 || this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#reader = resolve;
    });
    this.#reader = null;
  }

  #tellDropped(): void {
    if (this.#dropped > 0) this.#events.push({ type: 'dropped', events: this.#dropped });
    this.#dropped = 0;
  }
}
