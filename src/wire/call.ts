import type { ForkQuery } from './journal.ts';
import type { GuestReply, TaggedJson } from './protocol.ts';

/** An answer that closes a call. */
export type FinalReply = Exclude<GuestReply, ForkQuery>;

/**
 * How the host reaches the fork that made a call, while the call is open; the sandbox gives one to each. Afterwards every method
 * rejects with `RuntimeClosedError`.
 */
export interface CallIo {
  /** Aborted when the call is over before its answer: wall or tool time, cancellation, death of the worker. The reason is an `ErrorInfo`. */
  readonly signal: AbortSignal;
  /** True once `signal` is aborted. A signal takes longer to make than all the rest of a call; this takes nothing. */
  readonly over: boolean;
  /** Calls back when `signal` is aborted, at once if it is already; the function returned takes that back. */
  whenOver(callback: () => void): () => void;
  /** CPU time of the run so far, milliseconds; null where the system does not tell. */
  cpuMs?(): number | null;
  /** The queries that were put to the fork so far, in order: its answers cost it fuel. */
  readonly queries: readonly ForkQuery[];
  /** Puts a query as it was put before, when a recorded run is executed again. */
  repeat(query: ForkQuery): Promise<void>;
  /** Reads a variable of the fork that made the call. */
  getVar(name: string): Promise<{ readonly found: boolean; readonly value: TaggedJson }>;
  /** Sets one; resolves to the reason when the fork refuses, else to null. */
  setVar(name: string, value: TaggedJson): Promise<string | null>;
  /** Defines a global constant of the run, for all its forks at once; resolves to the reason when the name is taken, else to null. */
  defineConst(name: string, value: TaggedJson, redefine: boolean): Promise<string | null>;
}
