/** Connects a stream with a run: the stream receives the events, delays the next turn until `pace` resolves, and can end the run. */
export interface Watched<Event> {
  readonly onEvent: (event: Event) => void;
  readonly pace: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** The reader was slower than the program, so this number of minor events was dropped. */
interface Dropped {
  readonly type: 'dropped';
  readonly events: number;
}

/** The items of a stream: the events of the run and two more. */
export type StreamEvent<Event, Result> =
  | Event
  | Dropped
  /** The last item. */
  | { readonly type: 'ended'; readonly result: Result };

/** Most minor events buffered for a slow reader. */
const MAX_BUFFERED = 1000;

export interface StreamInit<Event, Result> {
  readonly signal: AbortSignal | undefined;
  /** Whether an event may be dropped for a slow reader. */
  readonly minor: (event: Event) => boolean;
  /** Joins two successive unread events; null when both are needed. */
  readonly merge?: (last: Event | Dropped, event: Event) => Event | null;
  readonly run: (watched: Watched<Event>) => Promise<Result>;
}

/**
 * Turns a run into an async iterator of its events. The last item holds the result, which the iterator also returns. The run
 * begins when the first item is requested. The next turn begins when the events of the previous one have been read, and a
 * turn buffers at most 1,000 minor events, so the buffer is bounded. Leaving the iterator early (`break`, `return`, a throw)
 * cancels the run and waits until it has ended.
 */
export async function* stream<Event, Result>({
  signal,
  minor,
  merge = () => null,
  run,
}: StreamInit<Event, Result>): AsyncGenerator<StreamEvent<Event, Result>, Result, void> {
  const left = new AbortController();
  const both = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]);
  const buffer = new EventBuffer<Event>(minor, merge, both);
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
  readonly #merge: (last: Event | Dropped, event: Event) => Event | null;
  readonly #signal: AbortSignal;
  #events: (Event | Dropped)[] = [];
  #dropped = 0;
  #closed = false;
  #reader: (() => void) | null = null;
  #writer: (() => void) | null = null;

  constructor(
    minor: (event: Event) => boolean,
    merge: (last: Event | Dropped, event: Event) => Event | null,
    signal: AbortSignal,
  ) {
    this.#minor = minor;
    this.#merge = merge;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#writer?.(), { once: true });
  }

  readonly put = (event: Event): void => {
    const last = this.#events.at(-1);
    const merged = last === undefined ? null : this.#merge(last, event);
    if (merged !== null) {
      this.#events[this.#events.length - 1] = merged;
      return;
    }
    if (this.#minor(event)) {
      if (this.#events.length >= MAX_BUFFERED) {
        this.#dropped += 1;
        return;
      }
    } else this.#reportDropped();
    this.#events.push(event);
    this.#reader?.();
  };

  /** Resolves when the reader has read everything and requests more, or has left. */
  readonly emptied = async (): Promise<void> => {
    const waiting = this.#reader !== null && this.#events.length === 0;
    if (waiting || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#writer = resolve;
    });
    this.#writer = null;
  };

  readonly close = (): void => {
    this.#reportDropped();
    this.#closed = true;
    this.#reader?.();
  };

  get closed(): boolean {
    return this.#closed;
  }

  /** Removes and returns all buffered events. */
  take(): readonly (Event | Dropped)[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Resolves when there are events to take, or when the run has ended. */
  async filled(): Promise<void> {
    this.#writer?.();
    if (this.#events.length > 0 || this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#reader = resolve;
    });
    this.#reader = null;
  }

  #reportDropped(): void {
    if (this.#dropped > 0) this.#events.push({ type: 'dropped', events: this.#dropped });
    this.#dropped = 0;
  }
}
