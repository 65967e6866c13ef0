import type { Question } from '../wire/journal.ts';
import type { Diagnostic, GuestCall, GuestReply, GuestResult, OutFrame, TaggedJson, Usage } from '../wire/protocol.ts';

/** What closes a call. */
export type FinalReply = Extract<GuestReply, { t: 'ok' | 'error' | 'halt' }>;

/** What the host does for one run. A handler that throws ends the run with `ERR_WORKER`, kind `internal`. */
export interface RunHandlers {
  /** The program has started, or counts as started because its worker keeps silent. Comes before all that it says. */
  onStarted?(): void;
  /** Output of the program, in order, always before the call that comes after it. */
  onOut(out: OutFrame): void;
  /** Answers a call; the program waits. The answer is ignored once `io.signal` is aborted. */
  onCall(call: GuestCall, io: CallIo): Promise<FinalReply>;
  /**
   * The run belongs to a call of another run that waits for it, so it may not wait for a place that its ancestors hold: it gets
   * a worker at once or is refused with `BusyError`.
   */
  readonly nested?: boolean;
  /**
   * How many runs wait for this nested one, each within the other, from 1. Where the sandbox keeps workers for so many
   * (`nesting`), it waits for one in place of being refused; without this it never waits.
   */
  readonly depth?: number;
  /** Whose run it is: sessions that wait for a worker take turns, however many runs one of them has waiting. */
  readonly session?: string | null;
}

/** What a handler may do while its call is open. Afterwards every method rejects with `RuntimeClosedError`. */
export interface CallIo {
  /** Aborted when the call is over before its answer: wall or tool time, cancellation, death of the worker. The reason is an `ErrorInfo`. */
  readonly signal: AbortSignal;
  /** True once `signal` is aborted. A signal takes longer to make than all the rest of a call; this takes nothing. */
  readonly over: boolean;
  /** Calls back when `signal` is aborted, at once if it is already; the function returned takes that back. */
  whenOver(callback: () => void): () => void;
  /** CPU time of the run so far, milliseconds; null where the system does not tell. */
  cpuMs?(): number | null;
  /** The questions that were put to the fork so far, in order: its answers cost it fuel. */
  readonly asked: readonly Question[];
  /** Puts a question as it was put before, when a recorded run is executed again. */
  repeat(question: Question): Promise<void>;
  /** Reads a variable of the fork that made the call. */
  getVar(name: string): Promise<{ readonly found: boolean; readonly value: TaggedJson }>;
  /** Sets one; resolves to the reason when the fork refuses, else to null. */
  setVar(name: string, value: TaggedJson): Promise<string | null>;
  /** Defines a global constant of the run, for all its forks at once; resolves to the reason when the name is taken, else to null. */
  defineConst(name: string, value: TaggedJson, redefine: boolean): Promise<string | null>;
}

/** How a run ended, whoever ended it. */
export interface SandboxResult {
  readonly result: GuestResult;
  readonly usage: Usage;
  /** All syntax errors, when that is why it did not start. */
  readonly errors: readonly Diagnostic[];
  /** False when the worker or its isolate was stopped from outside: output it had gathered may be missing. */
  readonly outputComplete: boolean;
}
