import type { ForkQuery } from './journal.ts';
import type { GuestReply, TaggedJson } from './protocol.ts';

/** An answer that closes a call, or calls that ran together. */
export type ClosingReply = Exclude<GuestReply, ForkQuery>;

export type FinalReply = Exclude<ClosingReply, { readonly t: 'all' }>;

/**
 * The host's access to the fork that made a call, while the call is open. After the call every method rejects with
 * `RuntimeClosedError`.
 */
export interface CallIo {
  /** Aborted when the call ends before its answer: time limit, cancellation, death of the worker. The reason is an `ErrorInfo`. */
  readonly signal: AbortSignal;
  /** True after `signal` is aborted. Reading it is cheap; making a signal takes longer than the rest of a call. */
  readonly over: boolean;
  /**
   * Checks for the last time whether the answer is in time: true when the script will get it. The handler then returns the answer at
   * once, and no deadline is checked in between, so that a journal and the script cannot disagree on the answer.
   */
  accept?(): boolean;
  /** Calls back when `signal` is aborted, at once if it is aborted already. The returned function removes the callback. */
  whenOver(callback: () => void): () => void;
  /**
   * CPU time of the run so far, with that of its tools and nested loops, in milliseconds; null where nobody counts it. Where the system
   * does not tell that of the program, it is missing.
   */
  cpuMs?(): number | null;
  /** Adds CPU time that a tool has used on the host, milliseconds. */
  spend?(cpuMs: number): void;
  /** Adds work that a tool does on the host, by its fuel, while the call is open. */
  work?(fuel: number): void;
  /** Says that the call has not begun: its time runs when the returned function is called. */
  postpone?(): () => void;
  /** The queries that were put to the fork so far, in order. The fork pays fuel for its answers. */
  readonly queries: readonly ForkQuery[];
  /** Repeats a recorded query when a recorded run is executed again. */
  repeat(query: ForkQuery): Promise<void>;
  /** Reads a variable of the fork that made the call. */
  getVar(name: string): Promise<{ readonly found: boolean; readonly value: TaggedJson }>;
  /** Sets a variable of that fork. Resolves to the reason when the fork refuses, else to null. */
  setVar(name: string, value: TaggedJson): Promise<string | null>;
  /** Defines a global constant for all forks of the run. Resolves to the reason when the name is taken, else to null. */
  defineConst(name: string, value: TaggedJson, redefine: boolean): Promise<string | null>;
}
