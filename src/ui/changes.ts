import type { SessionStore, SessionSummary } from '../loop/index.ts';
import type { LogSource } from './log.ts';
import type { ChangeView } from './views.ts';

/** Sessions that the server compares: those that changed last. */
const NEWEST = 50;
/** Sessions that a stream names at a time; of more, it says that there are more. */
const NAMED = 20;

/** Milliseconds between two looks at the store; after a wake-up the server looks sooner. A slow store is looked at more rarely. */
const [USUAL_MS, SOON_MS, RATIO] = [1000, 100, 10];

interface Listener {
  /** The session that it watches beside those that changed last; null for none. */
  readonly sid: string | null;
  readonly tell: (change: ChangeView) => void;
}

/**
 * Notices what any process changes in the store or the log. It looks only while somebody listens, and remembers as much as one look
 * returns, however many sessions there are.
 */
export class Changes implements Disposable {
  readonly #store: SessionStore;
  readonly #log: LogSource | null;
  readonly #listeners = new Set<Listener>();
  /** How each session looked the last time. */
  #seen: ReadonlyMap<string, string> | null = null;
  #stamp: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #due = 0;
  #looking = false;
  #stopWaking: (() => void) | null = null;
  #tookMs = 0;

  constructor(store: SessionStore, log: LogSource | null) {
    this.#store = store;
    this.#log = log;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Tells of changes from now on until the result is called. */
  listen(listener: Listener): () => void {
    const own = { ...listener };
    this.#listeners.add(own);
    this.#stopWaking ??= this.#store.onReady(() => this.#lookIn(SOON_MS));
    // The first look learns how things are; what a listener fetches after this moment is at least as new.
    this.#lookIn(0);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this[Symbol.dispose]();
    };
  }

  [Symbol.dispose](): void {
    this.#stopWaking?.();
    this.#stopWaking = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#seen = null;
  }

  #lookIn(ms: number): void {
    const due = performance.now() + ms;
    if (this.#looking || this.#listeners.size === 0 || (this.#timer !== null && this.#due <= due)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#looking = true;
      const begun = performance.now();
      this.#look()
        // The store may be away for a moment; the next look tells what it missed.
        .catch(() => {})
        .finally(() => {
          this.#looking = false;
          this.#tookMs = performance.now() - begun;
          this.#lookIn(Math.max(USUAL_MS, RATIO * this.#tookMs));
        });
    }, ms);
  }

  async #look(): Promise<void> {
    const watched = new Set([...this.#listeners].flatMap(({ sid }) => (sid === null ? [] : [sid])));
    const newest = await this.#store.recent({ limit: NEWEST });
    const missing = [...watched].filter((sid) => newest.every((session) => session.sid !== sid));
    const others = await Promise.all(missing.map((sid) => this.#store.summary(sid)));
    const now = new Map([...newest, ...others.filter((each) => each !== null)].map((session) => [session.sid, looks(session)]));
    const before = this.#seen;
    this.#seen = now;
    const logChanged = this.#logChanged();
    // What changed between a page's first requests and this look is unknown.
    if (before === null) return this.#tell({ kind: 'sessions' });
    const changed = [...now].flatMap(([sid, look]) => (before.get(sid) === look ? [] : [sid]));
    // A session that was not looked at before may have changed.
    if (changed.length > NAMED) this.#tell({ kind: 'sessions' });
    else for (const sid of changed) this.#tell({ kind: 'session', sid });
    if (logChanged || (changed.length > 0 && this.#log?.stamp() === null)) this.#tell({ kind: 'log' });
  }

  #logChanged(): boolean {
    const before = this.#stamp;
    this.#stamp = this.#log?.stamp() ?? null;
    return before !== this.#stamp;
  }

  #tell(change: ChangeView): void {
    for (const { tell } of this.#listeners) tell(change);
  }
}

/** Everything about a session that a list or its head shows. */
function looks({ status, reason, turns, updatedAt, started, waits, lease, owed, damaged }: SessionSummary): string {
  const calls = waits === null ? [] : [waits, ...(waits.also ?? [])].map(({ call, completed }) => [call, completed]);
  return JSON.stringify([status, reason, turns, updatedAt, started, calls, lease?.owner, owed, damaged]);
}
