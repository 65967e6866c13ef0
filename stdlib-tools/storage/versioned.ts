import type { ToolRuntime } from '../../src/tools/index.ts';
import { decodeOrdered, encode } from '../../src/wire/codec.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

/** A value with its version, which grows with every write. */
export interface Versioned {
  /** As tagged JSON. */
  readonly value: TaggedJson;
  /** From 1. */
  readonly version: number;
}

/** One compare-and-set. */
export interface Write {
  /** The owner of the value: a session, or a scope that all share. */
  readonly scope: string;
  /** Name of the value within the scope. */
  readonly key: string;
  /** The version that must be stored now; 0 if there must be no entry. */
  readonly expected: number;
  /** As tagged JSON. */
  readonly value: TaggedJson;
  /** Milliseconds from `at` until the value expires; null if it does not. */
  readonly ttlMs: number | null;
  /** Unix milliseconds by the clock of the turn, which decides what has expired. */
  readonly at: number;
  /** Key of the writing call. A repetition of the call has the same key. Absent or null without a key. */
  readonly call?: string | null;
}

/** The outcome of a compare-and-set. */
export interface Written {
  /** True when the value was written. */
  readonly ok: boolean;
  /** The version that is stored now; 0 if there is no entry. */
  readonly version: number;
}

/**
 * Keeps values by scope and key. Every method is atomic, also between processes that share a storage. An absent entry has
 * version 0. No version of an entry is used twice, so an old version never matches a newer value. No reader sees an expired
 * value. Methods reject with `ToolError` 37 for a write that exceeds a cap, and 26 if the storage fails.
 */
export interface VersionedStorage {
  /** `at` is Unix milliseconds by the clock of the turn. */
  get(scope: string, key: string, at: number): Promise<Versioned | null>;
  /** The keys of a scope, sorted. `at` as for {@link get}. */
  keys(scope: string, at: number): Promise<readonly string[]>;
  /**
   * A repeated call that was the last to write the entry gets its first answer and writes nothing. Rejects with `ERR_VALUE` for a value
   * that JSON would change.
   */
  cas(write: Write): Promise<Written>;
  /** Removes all entries of a scope, because its session has ended or its owner asks for it. */
  forget(scope: string): Promise<void>;
}

/** The key of stored labels. A key of a program's map that begins with `$` has two of them when it is stored, so no program can write it. */
const LABELS = '$labels';

/** A value as it is stored: together with the labels of the call that stores it, if it has any. */
export function storedValue(value: unknown, { labels }: ToolRuntime): TaggedJson {
  const json = encode(value);
  return labels.length === 0 ? json : { [LABELS]: labels, value: json };
}

/** A stored value. The result of the call gets the labels that are stored with it. */
export function readValue(stored: TaggedJson, runtime: ToolRuntime): unknown {
  if (typeof stored !== 'object' || stored === null || !(LABELS in stored)) return decodeOrdered(stored);
  const { [LABELS]: labels, value = null } = stored;
  if (Array.isArray(labels)) runtime.carry(labels.filter((label) => typeof label === 'string'));
  return decodeOrdered(value);
}
