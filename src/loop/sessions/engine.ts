import type { Dialect, Row, Sql, SqlQuery } from '../../sqlite/sql.ts';
import type { Runnable } from './setup.ts';
import type { Lease } from './store.ts';

/** The words of a database for a store of sessions with its log. */
export interface SessionsDialect extends Dialect {
  /** Adds an entry to the log, if the condition holds. The first three arguments are the places of the values, such as `$1`. */
  entry(sid: string, turn: string, text: string, condition: string): string;
}

/** The database of a store of sessions, and what it does in its own way. */
export interface SessionsEngine {
  readonly sql: Sql & { readonly dialect: SessionsDialect };
  /** Ends the leases and waits that have ended by time. */
  lapse(): Promise<void>;
  /** Claims as `SessionStore.next` does, and resolves with the rows of the claimed sessions. */
  next(lease: Lease, most: number, runnable: Runnable): Promise<readonly Row[]>;
  /** Called within the transaction that counts open sessions and adds one: until its end, nobody else does. */
  admitting(query: SqlQuery): Promise<void>;
  /** Listens as `SessionStore.onReady` does. */
  onReady(wake: () => void): () => void;
  /** Wakes those that listen, in this process and in others. */
  wake(): void;
  /** Called when the log has a new entry. */
  logged(): void;
  /** Chains the entries of the log that are not chained yet. */
  seal(): Promise<void>;
  /** Called within the transaction that removes old sessions, before their turns are removed. */
  pruning(query: SqlQuery, before: number): Promise<void>;
  /** Removes what is left of content that was erased. */
  scrub(): Promise<void>;
}
