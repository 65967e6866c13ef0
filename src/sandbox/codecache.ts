import type { Writable } from 'node:stream';
import type { CacheOrder, CompiledFrame } from '../wire/codecache.ts';
import { WireError } from '../wire/errors.ts';

/** What a new worker is told about code caches, and what becomes of them. */
export interface CacheRole {
  /** The last argument of its command line. */
  readonly order: CacheOrder;
  /** Writes the caches of the order, if it has any, which must come before all frames. */
  send(pipe: Writable): void;
  /** Takes the caches that the worker was told to make. Null for a worker that was not; then its frame is out of turn. */
  readonly keep: ((made: CompiledFrame) => void) | null;
  /** The worker has said hello or is gone; whether V8 has used the caches, if it was sent any. */
  settle(used: boolean | undefined): void;
}

/** The role of a worker that has nothing to do with them. */
export const NO_ROLE: CacheRole = { order: 'none', send: () => {}, keep: null, settle: () => {} };

/**
 * The code caches for one pair of files (`wire/codecache.ts`). The first worker of this process starts without, because most commands need
 * no other; the second makes them, which takes it 10 ms; later ones take them.
 */
class CodeCache {
  #starts = 0;
  #making = false;
  #made: { readonly build: string; readonly caches: readonly Buffer[] } | null = null;

  role(): CacheRole {
    const made = this.#made;
    if (made !== null) {
      const { build, caches } = made;
      return {
        order: { build, sizes: caches.map(({ length }) => length) },
        send: (pipe) => {
          for (const cache of caches) pipe.write(cache);
        },
        keep: null,
        settle: (used) => {
          // The files are of another build by now, or Node is another one.
          if (used === false && this.#made === made) this.#made = null;
        },
      };
    }
    const makes = this.#starts++ > 0 && !this.#making;
    if (!makes) return NO_ROLE;
    this.#making = true;
    return {
      order: 'make',
      send: () => {},
      keep: ({ build, caches }) => {
        if (this.#made !== null) throw new WireError('it sent code caches twice');
        this.#made = { build, caches: caches.map((text) => Buffer.from(text, 'base64')) };
      },
      settle: () => {
        this.#making = false;
      },
    };
  }
}

const ALL = new Map<string, CodeCache>();

/** What the next worker of these files is told about code caches. */
export function cacheRoleOf({ worker, guest }: { readonly worker: string; readonly guest: string }): CacheRole {
  const key = JSON.stringify([worker, guest]);
  const known = ALL.get(key) ?? new CodeCache();
  ALL.set(key, known);
  return known.role();
}
