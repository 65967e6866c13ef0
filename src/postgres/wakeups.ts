import { Wakes } from '../loop/index.ts';
import type { Database } from './database.ts';

/** Milliseconds in which wake-ups of this process are gathered before other processes hear of them. */
const GATHER_MS = 10;

/** Wakes the hosts that wait for sessions of one schema: those of this process at once, and those of others through the database. */
export class WakeUps {
  readonly #database: Database;
  readonly #channel: string;
  readonly #wakes = new Wakes();
  #stopListening: (() => void) | null = null;
  #telling: NodeJS.Timeout | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.#channel = `neuroscript_${database.dialect.schema}`;
  }

  /** Calls `wake` when a session may be ready; the returned function ends that. Listens to the database while anybody waits. */
  on(wake: () => void): () => void {
    const stop = this.#wakes.on(wake);
    this.#stopListening ??= this.#database.listen(this.#channel, () => this.#wakes.wake());
    return () => {
      stop();
      if (this.#wakes.size === 0) this.#stop();
    };
  }

  /** Wakes this process now and the others in a moment. It notifies outside of transactions, because a notification delays their commit. */
  tell(): void {
    this.#wakes.wake();
    this.#telling ??= setTimeout(() => {
      this.#telling = null;
      // Hosts that miss it poll from time to time.
      this.#database.query('SELECT pg_notify($1, $2)', this.#channel, '').catch(() => {});
    }, GATHER_MS).unref();
  }

  /** Stops listening and telling. */
  close(): void {
    this.#stop();
    if (this.#telling !== null) clearTimeout(this.#telling);
  }

  #stop(): void {
    this.#stopListening?.();
    this.#stopListening = null;
  }
}
