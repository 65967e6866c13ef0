import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../sqlite/error.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import type { PostgresClient, PostgresQuery, PostgresRow } from './clients.ts';

/** Milliseconds for which a write is tried again after its connection was lost. */
const PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** SQLSTATE classes and codes after which the same statement may succeed on another connection. */
const LOST = ['08', '57P01', '57P02', '57P03', '40001', '40P01'] as const;
const BUSY = ['53300', '55P03'] as const;
const MISSING = ['3D000', '3F000', '42P01'] as const;

/** The connection to the database was lost, so nobody knows whether the statement had an effect. */
export class LostError extends StoreError {}

/** Statements to one database, with its errors as {@link StoreError}. No statement has a name, and none leaves anything in its connection. */
export class Database {
  readonly #client: PostgresClient;
  /** For messages; without a password. */
  readonly place: string;
  #ended = false;

  constructor(client: PostgresClient, place: string) {
    this.#client = client;
    this.place = place;
  }

  /** Runs one statement. Rejects with {@link StoreError} (`io`, `busy`, `foreign`), and {@link LostError} for a lost connection. */
  async query(text: string, ...values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    return this.#guarded(async () => (await this.#client.query(text, values)).rows);
  }

  /** As {@link query}; again and again after a lost connection, for ten seconds. The statement may take effect more than once. */
  async again(text: string, ...values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    const until = performance.now() + PATIENCE_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.query(text, ...values);
      } catch (error) {
        if (!(error instanceof LostError) || this.#ended || performance.now() + pause > until) throw error;
      }
      await sleep(pause);
    }
  }

  /** Runs `work` in one transaction. */
  transaction<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T> {
    return this.#guarded(() => this.#client.transaction(work));
  }

  /** Listens until the result is called; connects again when the connection is lost, and then calls `heard` too. */
  listen(channel: string, heard: () => void): () => void {
    let stop: (() => Promise<void>) | null = null;
    let stopped = false;
    const listen = async (): Promise<void> => {
      for (let pause = FIRST_PAUSE_MS; !stopped && !this.#ended; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          const lost = (): void => {
            stop = null;
            void listen();
          };
          stop = await this.#client.listen(channel, heard, lost);
          if (stopped) await stop();
          else heard();
          return;
        } catch {
          // The database cannot be reached. Hosts also poll, and get the error then.
          await sleep(pause, undefined, { ref: false });
        }
      }
    };
    void listen();
    return () => {
      stopped = true;
      void stop?.().catch(() => {});
    };
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#client.end();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NeuroScriptError || error instanceof TypeError || !(error instanceof Error)) throw error;
      const state = stateOf(error);
      const is = (codes: readonly string[]): boolean => codes.some((code) => state?.startsWith(code));
      if (is(BUSY)) throw new StoreError('busy', `${this.place} has no connection to spare`, { cause: error });
      if (is(MISSING))
        throw new StoreError('foreign', `${this.place} has no store of sessions: ${error.message}`, { cause: error });
      const message = `${this.place} cannot be used: ${error.message === '' ? 'no connection' : error.message}`;
      if (state === null || is(LOST)) throw new LostError('io', message, { cause: error });
      throw new StoreError('io', message, { cause: error });
    }
  }
}

/** The SQLSTATE that the server answered with; null for an error of the connection. */
function stateOf(error: Error): string | null {
  const code: unknown = 'code' in error ? error.code : null;
  return typeof code === 'string' && code.length === 5 && code === code.toUpperCase() && code !== 'EPIPE' ? code : null;
}
