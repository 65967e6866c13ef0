import type { ErrorInfo } from './errors.ts';
import type { JournalEntry } from './journal.ts';
import type { Usage } from './protocol.ts';
import type { RunResult } from './result.ts';

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
