import { checkCaps, entryBytes, excess, full, type StorageCaps, type Taken } from './caps.ts';
import type { Versioned, VersionedStorage, Write, Written } from './versioned.ts';

interface Entry extends Versioned {
  readonly bytes: number;
  readonly expires: number;
  readonly call: string | null;
}

/** Keeps values for the life of the process. Expired entries are dropped by the next write to their scope, or if room is needed. */
export class MemoryStorage implements VersionedStorage {
  readonly #scopes = new Map<string, Map<string, Entry>>();
  readonly #bytes = new Map<string, number>();
  readonly #caps: Required<StorageCaps>;
  #total = 0;
  /** The highest version that was ever dropped. New entries start above it. */
  #floor = 0;

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for a cap that is not a whole number from 1. */
  constructor(caps: StorageCaps = {}) {
    this.#caps = checkCaps(caps);
  }

  async get(scope: string, key: string, at: number): Promise<Versioned | null> {
    const entry = this.#scopes.get(scope)?.get(key);
    return entry === undefined || entry.expires <= at ? null : { value: entry.value, version: entry.version };
  }

  async keys(scope: string, at: number): Promise<readonly string[]> {
    const entries = [...(this.#scopes.get(scope) ?? [])];
    return entries
      .filter(([, { expires }]) => expires > at)
      .map(([key]) => key)
      .sort();
  }

  async cas(write: Write): Promise<Written> {
    const { scope, key, expected, value, ttlMs, at, call = null } = write;
    this.#sweep(scope, at);
    const before = this.#scopes.get(scope)?.get(key);
    if (call !== null && before?.call === call) return { ok: true, version: before.version };
    if ((before?.version ?? 0) !== expected) return { ok: false, version: before?.version ?? 0 };
    const bytes = entryBytes(write, this.#caps);
    this.#fit(scope, bytes, before, at);
    const version = (before?.version ?? this.#floor) + 1;
    const entries = this.#scopes.get(scope) ?? new Map<string, Entry>();
    this.#scopes.set(scope, entries);
    entries.set(key, { value, version, bytes, call, expires: ttlMs === null ? Number.POSITIVE_INFINITY : at + ttlMs });
    this.#count(scope, bytes - (before?.bytes ?? 0));
    return { ok: true, version };
  }

  async forget(scope: string): Promise<void> {
    this.#drop(scope, () => true);
  }

  #fit(scope: string, bytes: number, before: Entry | undefined, at: number): void {
    const taken = (): Taken => ({
      replaced: before?.bytes ?? null,
      entries: this.#scopes.get(scope)?.size ?? 0,
      scopeBytes: this.#bytes.get(scope) ?? 0,
      scopes: this.#scopes.size,
      totalBytes: this.#total,
    });
    if (excess(bytes, taken(), this.#caps) === null) return;
    // Other scopes may hold expired entries.
    for (const each of [...this.#scopes.keys()]) this.#sweep(each, at);
    const problem = excess(bytes, taken(), this.#caps);
    if (problem !== null) throw full(problem);
  }

  #sweep(scope: string, at: number): void {
    this.#drop(scope, ({ expires }) => expires <= at);
  }

  #drop(scope: string, gone: (entry: Entry) => boolean): void {
    const entries = this.#scopes.get(scope);
    if (entries === undefined) return;
    for (const [key, entry] of entries) {
      if (!gone(entry)) continue;
      entries.delete(key);
      this.#count(scope, -entry.bytes);
      this.#floor = Math.max(this.#floor, entry.version);
    }
    if (entries.size > 0) return;
    this.#scopes.delete(scope);
    this.#bytes.delete(scope);
  }

  #count(scope: string, bytes: number): void {
    this.#bytes.set(scope, (this.#bytes.get(scope) ?? 0) + bytes);
    this.#total += bytes;
  }
}
