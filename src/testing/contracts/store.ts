import type { ContractCase } from './check.ts';
import { FLEET_CASES } from './fleet.ts';
import { LIST_CASES } from './lists.ts';
import { type MakeStore, ownedStore } from './owned.ts';
import { SESSION_CASES } from './sessions.ts';

/**
 * What every store of sessions does. Each case makes a store of its own.
 *
 * @example
 * ```ts
 * import { describe, it } from 'node:test';
 * import { MemoryStore } from 'neuroscript-runtime/loop';
 * import { storeContract } from 'neuroscript-runtime/testing';
 *
 * describe('the store', () => {
 *   for (const { name, run } of storeContract(({ clock }) => ({ store: new MemoryStore({ clock }) }))) it(name, run);
 * });
 * ```
 */
export function storeContract(make: MakeStore): readonly ContractCase[] {
  return [...SESSION_CASES, ...FLEET_CASES, ...LIST_CASES].map(({ name, run }) => ({
    name,
    async run() {
      const store = await ownedStore(make);
      try {
        await run(store);
      } finally {
        await store.close();
      }
    },
  }));
}
