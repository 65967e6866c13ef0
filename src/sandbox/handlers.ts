import type { CallIo, FinalReply } from '../wire/call.ts';
import type { Diagnostic, GuestCall, GuestResult, OutFrame, Usage } from '../wire/protocol.ts';

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

/** How a run ended, whoever ended it. */
export interface SandboxResult {
  readonly result: GuestResult;
  readonly usage: Usage;
  /** All syntax errors, when that is why it did not start. */
  readonly errors: readonly Diagnostic[];
  /** False when the worker or its isolate was stopped from outside: output it had gathered may be missing. */
  readonly outputComplete: boolean;
}
