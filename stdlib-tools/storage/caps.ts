import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { wholeNumbers } from '../../src/wire/options.ts';
import { grouped } from '../../src/wire/text/grouped.ts';
import type { Write } from './versioned.ts';

/** Bounds of a storage. Every number is a whole number from 1. */
export interface StorageCaps {
  /** Maximum UTF-8 bytes of a key; 512 if absent. */
  readonly keyBytes?: number;
  /** Maximum UTF-8 bytes of a key and its value as JSON; 64 KiB if absent. */
  readonly entryBytes?: number;
  /** Maximum number of entries in one scope; 1000 if absent. */
  readonly entries?: number;
  /** Maximum bytes of all entries in one scope; 8 MiB if absent. */
  readonly scopeBytes?: number;
  /** Maximum number of scopes; 10,000 if absent. */
  readonly scopes?: number;
  /** Maximum bytes of all entries; 256 MiB if absent. */
  readonly totalBytes?: number;
}

/** The present content of a storage. */
export interface Taken {
  /** Bytes of the entry that the write replaces; null if there is none. */
  readonly replaced: number | null;
  readonly entries: number;
  readonly scopeBytes: number;
  readonly scopes: number;
  readonly totalBytes: number;
}

/** Fills in the defaults. Throws `ConfigError` (`ERR_CONFIG`) for an unknown cap or one that is not a whole number from 1. */
export const checkCaps = wholeNumbers<StorageCaps>('the caps of a storage', 1, {
  keyBytes: 512,
  entryBytes: 65_536,
  entries: 1000,
  scopeBytes: 8 * 1024 * 1024,
  scopes: 10_000,
  totalBytes: 256 * 1024 * 1024,
});

/** The bytes of an entry. Throws {@link ToolError} 37 if the key or the entry alone is too large. */
export function entryBytes({ key, value }: Pick<Write, 'key' | 'value'>, caps: Required<StorageCaps>): number {
  const keyBytes = Buffer.byteLength(key);
  if (keyBytes > caps.keyBytes)
    throw full(`a key may have ${grouped(caps.keyBytes)} bytes, and this one has ${grouped(keyBytes)}`);
  const bytes = keyBytes + Buffer.byteLength(JSON.stringify(value));
  if (bytes > caps.entryBytes)
    throw full(`an entry may have ${grouped(caps.entryBytes)} bytes, and this one has ${grouped(bytes)}`);
  return bytes;
}

/** Describes the cap that an entry of this size would exceed; null if it fits. */
export function excess(bytes: number, taken: Taken, caps: Required<StorageCaps>): string | null {
  const added = bytes - (taken.replaced ?? 0);
  if (taken.replaced === null && taken.entries >= caps.entries) return `${caps.entries} entries are kept at most`;
  if (added > 0 && taken.scopeBytes + added > caps.scopeBytes) return `${grouped(caps.scopeBytes)} bytes are kept at most`;
  if (taken.entries === 0 && taken.scopes >= caps.scopes) return 'the storage is full';
  return added > 0 && taken.totalBytes + added > caps.totalBytes ? 'the storage is full' : null;
}

/** The error for a write that exceeds a cap. */
export function full(problem: string): ToolError {
  return new ToolError(NS_CODES.ResourceExhaustion, `nothing was written: ${problem}`);
}
