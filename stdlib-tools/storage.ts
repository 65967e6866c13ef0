import { ToolError } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { ConfigError } from '../src/wire/errors.ts';
import type { TaggedJson } from '../src/wire/protocol.ts';

/** A value with its version, which grows by every write. */
export interface Versioned {
  readonly value: TaggedJson;
  /** From 1. */
  readonly version: number;
}

/** What a compare-and-set came to. */
export interface Written {
  readonly ok: boolean;
  /** The version that is stored now; 0 when nothing is. */
  readonly version: number;
}

/**
 * Keeps values by scope and key. Every method is atomic, also between processes that share a store. An absent entry has
 * version 0, and no version of an entry is ever used twice, so an old version never matches a newer value.
 */
export interface VersionedStore {
  get(scope: string, key: string): Promise<Versioned | null>;
  /** Writes if `expected` is the version that is stored; `ttlMs` null keeps the value until it is overwritten. */
  cas(scope: string, key: string, expected: number, value: TaggedJson, ttlMs: number | null): Promise<Written>;
}

/** How much a {@link MemoryVersionedStore} keeps. */
export interface StoreCaps {
  /** Most UTF-8 bytes of one key and its value as JSON; 64 KiB when absent. */
  readonly entryBytes?: number;
  /** Most entries in one scope; 1000 when absent. */
  readonly entries?: number;
  /** Most scopes; 10 000 when absent. */
  readonly scopes?: number;
  /** Milliseconds on any scale; the system's clock when absent. Decides what has expired. */
  readonly now?: () => number;
}

interface Entry extends Versioned {
  readonly expires: number;
}

/** Keeps values as long as the process lives. What has expired is gone for every reader, and is dropped when its scope is next written. */
export class MemoryVersionedStore implements VersionedStore {
  readonly #scopes = new Map<string, Map<string, Entry>>();
  readonly #caps: Required<StoreCaps>;
  /** Versions of new entries start above every version that was ever dropped. */
  #floor = 0;

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for a cap that is no whole number from 1. */
  constructor(caps: StoreCaps = {}) {
    this.#caps = { entryBytes: 65_536, entries: 1000, scopes: 10_000, now: Date.now, ...caps };
    for (const name of ['entryBytes', 'entries', 'scopes'] as const)
      if (!Number.isSafeInteger(this.#caps[name]) || this.#caps[name] < 1)
        throw new ConfigError(`${name} of the store must be a whole number from 1, got ${String(this.#caps[name])}`);
  }

  async get(scope: string, key: string): Promise<Versioned | null> {
    return this.#live(scope, key);
  }

  /** Rejects with {@link ToolError} 37 for what does not fit. */
  async cas(scope: string, key: string, expected: number, value: TaggedJson, ttlMs: number | null): Promise<Written> {
    this.#sweep(scope);
    const before = this.#live(scope, key);
    if ((before?.version ?? 0) !== expected) return { ok: false, version: before?.version ?? 0 };
    this.#fit(scope, key, value, before === null);
    const version = (before?.version ?? this.#floor) + 1;
    const entries = this.#scopes.get(scope) ?? new Map<string, Entry>();
    this.#scopes.set(scope, entries);
    entries.set(key, { value, version, expires: ttlMs === null ? Number.POSITIVE_INFINITY : this.#caps.now() + ttlMs });
    return { ok: true, version };
  }

  #live(scope: string, key: string): Entry | null {
    const entry = this.#scopes.get(scope)?.get(key);
    return entry === undefined || entry.expires <= this.#caps.now() ? null : entry;
  }

  #sweep(scope: string): void {
    const entries = this.#scopes.get(scope);
    if (entries === undefined) return;
    const now = this.#caps.now();
    for (const [key, { expires, version }] of entries) {
      if (expires > now) continue;
      entries.delete(key);
      this.#floor = Math.max(this.#floor, version);
    }
    if (entries.size === 0) this.#scopes.delete(scope);
  }

  #fit(scope: string, key: string, value: TaggedJson, added: boolean): void {
    const { entryBytes, entries, scopes } = this.#caps;
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(value));
    if (bytes > entryBytes) throw full(`an entry may have ${entryBytes} bytes, and this one has ${bytes}`);
    const scoped = this.#scopes.get(scope);
    if (added && (scoped?.size ?? 0) >= entries) throw full(`${entries} entries are kept at most`);
    if (scoped !== undefined || this.#scopes.size < scopes) return;
    // Room may be taken by scopes in which everything has expired.
    for (const each of [...this.#scopes.keys()]) this.#sweep(each);
    if (this.#scopes.size >= scopes) throw full('the store is full');
  }
}

function full(problem: string): ToolError {
  return new ToolError(NS_CODES.ResourceExhaustion, `nothing was written: ${problem}`);
}
