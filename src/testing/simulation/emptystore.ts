import { MemoryStore, type SessionStore } from '../../loop/index.ts';
import type { Actor } from './timeline.ts';

/** One store for many worlds, one after the other: to empty it takes less time than to make another database and its statements. */
export class EmptyStore {
  #server: Actor | null = null;
  readonly #store = new MemoryStore({ clock: { now: () => this.#server?.now() ?? 0 } });

  /** The store without sessions, on a machine of a new world. */
  on(server: Actor): SessionStore {
    this.#server = server;
    this.#store.clear();
    return this.#store;
  }
}
