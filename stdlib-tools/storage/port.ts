import type { TaggedJson } from '../../src/wire/protocol.ts';

/** A value with its version, which grows by every write. */
export interface Versioned {
  readonly value: TaggedJson;
  /** From 1. */
  readonly version: number;
}

/** One compare-and-set. */
export interface Write {
  readonly scope: string;
  readonly key: string;
  /** The version that must be stored now; 0 when nothing may be. */
  readonly expected: number;
  readonly value: TaggedJson;
  /** Milliseconds from `at` for which the value is kept; null keeps it until it is overwritten. */
  readonly ttlMs: number | null;
  /** Unix milliseconds by the clock of the turn: decides what has expired. */
  readonly at: number;
}

/** What a compare-and-set came to. */
export interface Written {
  readonly ok: boolean;
  /** The version that is stored now; 0 when nothing is. */
  readonly version: number;
}

/**
 * Keeps values by scope and key. Every method is atomic, also between processes that share a storage. An absent entry has
 * version 0, and no version of an entry is ever used twice, so an old version never matches a newer value. A value that
 * has expired is gone for every reader. Rejects with `ToolError` 37 for what does not fit and 26 when the storage fails.
 */
export interface VersionedStorage {
  /** `at` is Unix milliseconds by the clock of the turn. */
  get(scope: string, key: string, at: number): Promise<Versioned | null>;
  /** What a scope holds, in the order of the keys. `at` as with {@link get}. */
  keys(scope: string, at: number): Promise<readonly string[]>;
  cas(write: Write): Promise<Written>;
  /** Forgets all that a scope holds: its session has ended, or its owner asks for it. */
  forget(scope: string): Promise<void>;
}
