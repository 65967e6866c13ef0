import { defined } from './defined.ts';
import type { ErrorInfo } from './errors.ts';
import type { RunProfile } from './heat.ts';
import type { JournalEntry, WaitingCall } from './journal.ts';
import type { SaidLabels } from './labels.ts';
import type { EventError, Phase, TaggedJson, Usage, Variables, Whisper, WorkerUsage } from './protocol.ts';
import type { Diagnostic, JudgedNames, LintFinding } from './sourcereports.ts';
import { jsonText } from './tagged.ts';
import { RunError } from './text/runerror.ts';

interface RunFacts {
  readonly phase: Phase;
  /** One text per `emit`; a text with line feeds is one entry. */
  readonly emits: readonly string[];
  /** The emitted values, one per `emit`. */
  readonly values: readonly TaggedJson[];
  readonly whispers: readonly Whisper[];
  /** The return value of `call`; null without a call. */
  readonly result: TaggedJson;
  /** The errors that event handlers left uncleared. They leave `ok` as it is. */
  readonly eventErrors: readonly (EventError & { readonly error: RunError })[];
  /** The variables of the command blocks at their end, where the request had `variables`. */
  readonly variables?: Variables;
  /** The labels of what was said, under rules about origin; absent for a run whose interpreter did not come to its end. */
  readonly labels?: SaidLabels;
  readonly usage: Usage;
  /** What its caller should know of a run that is ok: that nothing was run. */
  readonly warnings?: readonly string[] | undefined;
  /** Present and false when the worker was killed and the last emits may be missing. */
  readonly outputComplete?: false;
  /** Where the run spent its fuel and time, where that was asked for (`probe`). */
  readonly profile?: RunProfile;
  /** The values that entered the run from outside. The `--json` object has it only with `--trace`. */
  readonly journal: readonly JournalEntry[];
}

/** The result of a run that came to its end. */
export interface RunSuccess extends RunFacts {
  readonly ok: true;
  readonly error: null;
  readonly errors?: never;
  readonly findings?: never;
  readonly causes?: never;
  readonly names?: never;
  readonly waiting?: never;
  readonly alsoWaiting?: never;
}

/** The result of a run that a script error, a limit or a cancellation ended. */
export interface RunFailure extends RunFacts {
  readonly ok: false;
  /** Why the run ended. */
  readonly error: RunError;
  /** Every syntax error, when `phase` is `parse`; `error` is the first. In a turn also that ACTIONS is not one command block. */
  readonly errors?: readonly Diagnostic[] | undefined;
  /** The calls of denied tools for which the program was rejected before it ran, where that was asked for; `error` is the first. */
  readonly findings?: readonly LintFinding[] | undefined;
  /**
   * What may have caused the error of a program that ran, where that was asked for: the error itself with its correction, then findings of the
   * linter. Absent where nothing beyond the error is known.
   */
  readonly causes?: readonly LintFinding[] | undefined;
  /** What {@link findings} depend on. */
  readonly names?: JudgedNames | undefined;
  /** The call at which the run was suspended, because its tool will answer later; `error` is ERR_SUSPENDED then. */
  readonly waiting?: WaitingCall;
  /** Further calls that wait: they ran together with {@link waiting}. Absent when there are none. */
  readonly alsoWaiting?: readonly WaitingCall[];
}

/**
 * The public result of a run: of `runtime.run`, `fork.execute`, `run --json` and `run --jsonl`. Every failure of a script, a limit or
 * a cancellation is such a result.
 */
export type RunResult = RunSuccess | RunFailure;

/** The id that the sender gave a request of `run --jsonl`; null without one. */
export type RequestId = string | number | null;

/** A {@link RunResult} in the form that the command line prints: the id of the request comes first, the journal is optional. */
export type PublicResult = {
  /** The id of the request. */
  readonly id: RequestId;
  /** What the run used. */
  readonly usage: Omit<Usage, 'queueMs'>;
} & Omit<RunFacts, 'journal' | 'usage' | 'profile' | 'labels'> &
  Pick<RunResult, 'ok' | 'error' | 'errors'> & {
    /** Every call with its answer; absent unless it is asked for. */
    readonly journal?: readonly JournalEntry[];
  };

/** The public JSON object of a result (`docs/schemas/result.schema.json`), with its keys in the documented order. */
export function toPublicResult(id: RequestId, result: RunResult, withJournal = false): PublicResult {
  const { ok, phase, emits, values, whispers, eventErrors, errors, error, usage, warnings, outputComplete, journal } = result;
  return defined({
    id,
    ok,
    phase,
    emits,
    values,
    whispers,
    result: result.result,
    eventErrors,
    errors,
    error,
    usage: publicUsage(usage),
    warnings,
    outputComplete,
    journal: withJournal ? journal : undefined,
  });
}

/** A result with marked keys as JSON: every key of a value has its own name, and stands where the program put it. */
export function resultText(result: PublicResult): string {
  const fields = Object.entries(result).map(([name, field]) => {
    if (name === 'result') return `"result":${jsonText(result.result)}`;
    if (name === 'values') return `"values":[${result.values.map(jsonText).join(',')}]`;
    return `${JSON.stringify(name)}:${JSON.stringify(field)}`;
  });
  return `{${fields.join(',')}}`;
}

/** Usage as the public JSON has it. Waiting for a worker concerns hosts of many runs alone. */
export function publicUsage({ queueMs: _, ...usage }: WorkerUsage & Partial<Usage>): Omit<Usage, 'queueMs'> {
  return usage;
}

/** The usage of a run that did not begin. */
export const NO_USAGE: Usage = Object.freeze({
  fuel: 0,
  cpuMs: 0,
  wallMs: 0,
  peakMemoryBytes: 0,
  toolCalls: 0,
  outputBytes: 0,
  queueMs: 0,
});

/** The result of a request that was refused before anything was parsed. */
export function refusedResult(error: ErrorInfo): RunFailure {
  const nothing = { emits: [], values: [], whispers: [], result: null, eventErrors: [], journal: [] };
  return { ok: false, phase: 'request', ...nothing, error: new RunError(error, []), usage: NO_USAGE };
}
