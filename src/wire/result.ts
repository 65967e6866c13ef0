import type { ErrorInfo } from './errors.ts';
import type { JournalEntry, WaitingCall } from './journal.ts';
import type { Diagnostic, EventError, Phase, TaggedJson, Usage, Variables, Whisper } from './protocol.ts';

/**
 * How a run ended: the public result of `runtime.run`, `fork.execute`, `run --json` and `run --jsonl`. It resolves for
 * everything that a script, a limit or a cancellation does.
 */
export interface RunResult {
  readonly ok: boolean;
  readonly phase: Phase;
  /** One text per `emit`, in its String form; a text with line feeds is one entry (P30). */
  readonly emits: readonly string[];
  /** The emitted values themselves, one per `emit`. */
  readonly values: readonly TaggedJson[];
  readonly whispers: readonly Whisper[];
  /** What `call` returned; null without one. */
  readonly result: TaggedJson;
  readonly eventErrors: readonly EventError[];
  /** Every syntax error, when `phase` is `parse`; `error` is the first. */
  readonly errors?: readonly Diagnostic[];
  readonly error: ErrorInfo | null;
  /** The variables of the command blocks at their end, where the request had `variables`. */
  readonly variables?: Variables;
  readonly usage: Usage;
  /** Present and false when the worker was killed and the last emits may be missing. */
  readonly outputComplete?: false;
  /** What entered the run from outside. Not part of the `--json` object unless `--trace` asks for it. */
  readonly journal: readonly JournalEntry[];
  /** Present when a tool will answer later: the run was put aside at this call, and `error` is ERR_SUSPENDED. */
  readonly waiting?: WaitingCall;
}

/** What a request of `run --jsonl` is called by its sender; null when it did not say. */
export type RequestId = string | number | null;

/** A {@link RunResult} as the command line prints it: with the request's id first, and the journal only on demand. */
export type PublicResult = { readonly id: RequestId } & Omit<RunResult, 'journal'> & {
    readonly journal?: readonly JournalEntry[];
  };

/** The public JSON object of a result (`schemas/result.schema.json`), its keys in the documented order. */
export function toPublicResult(id: RequestId, result: RunResult, withJournal = false): PublicResult {
  const { ok, phase, emits, values, whispers, eventErrors, errors, error, usage, outputComplete, journal } = result;
  return {
    id,
    ok,
    phase,
    emits,
    values,
    whispers,
    result: result.result,
    eventErrors,
    ...(errors === undefined ? {} : { errors }),
    error,
    usage,
    ...(outputComplete === undefined ? {} : { outputComplete }),
    ...(withJournal ? { journal } : {}),
  };
}

/** What a run used that never began. */
export const NO_USAGE: Usage = Object.freeze({
  fuel: 0,
  cpuMs: 0,
  wallMs: 0,
  peakMemoryBytes: 0,
  toolCalls: 0,
  outputBytes: 0,
});

/** The result of a request that was refused before anything was parsed. */
export function refusedResult(error: ErrorInfo): RunResult {
  const nothing = { emits: [], values: [], whispers: [], result: null, eventErrors: [], journal: [] };
  return { ok: false, phase: 'request', ...nothing, error, usage: NO_USAGE };
}
