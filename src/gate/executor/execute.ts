import { checkEligibility, configured, type GateOptions, type GateRequest, readRequest } from '../eligibility.ts';
import { reasonOf } from '../queue.ts';
import { type Denied, denied, FAILURE } from '../verdict.ts';
import { recordAttempt, refuseOpenAttempt } from './attempts.ts';
import { type ExecutorCode, ExecutorError } from './error.ts';
import { recordExecuted } from './executed.ts';
import { QueueLock } from './lock.ts';

/** The executor refused before it asked the gate. */
export interface Refused {
  readonly eligible: false;
  /** Why the executor refused. */
  readonly code: ExecutorCode;
  /** The line for the human; it begins with `[ERROR] `. */
  readonly line: string;
  readonly detail: null;
}

/** The outcome of {@link executeOnce}. */
export type Execution<T> =
  /** The work ran to its end, and its execution is recorded. */
  | { readonly state: 'executed'; readonly value: T }
  /** The work threw. No execution is recorded, so a human may try again. */
  | { readonly state: 'failed'; readonly error: unknown }
  /** The work did not run. */
  | { readonly state: 'denied'; readonly verdict: Denied | Refused };

/** Options of {@link executeOnce}. */
export interface ExecuteOnceOptions extends GateOptions {
  /** The clock for the records, in Unix milliseconds. Default `Date.now`. The gate never reads it. */
  readonly now?: () => number;
  /** Called with the gate's line before the work runs. */
  readonly show: (line: string) => void;
}

/**
 * Executes an approved intent at most once. It takes the lock of the queue, refuses an intent whose last attempt has an unknown
 * outcome, asks the gate once, records the attempt, runs the work, and records a success. `work` must do exactly what was
 * hashed; the caller compares the two. A call with a missing or wrong argument is denied. Rejects only with {@link ExecutorError}
 * `ERR_GATE_RECORD`: the work ran, its end could not be recorded or the lock not be removed, and the lock stays until a human removes it.
 */
export async function executeOnce<T>(
  call: GateRequest,
  options: ExecuteOnceOptions,
  work: () => Promise<T>,
): Promise<Execution<T>> {
  const request = readCall(call, options, work);
  if ('eligible' in request) {
    if (typeof options?.show === 'function') options.show(request.line);
    return { state: 'denied', verdict: request };
  }
  const now = options.now ?? Date.now;
  const prepared = prepare(request, options, now);
  if (!(prepared instanceof QueueLock)) return { state: 'denied', verdict: prepared };
  let result: Execution<T>;
  try {
    result = { state: 'executed', value: await work() };
  } catch (error) {
    result = { state: 'failed', error };
  }
  if (result.state === 'executed') recordExecuted(prepared, request, now());
  recordAttempt(prepared, request, result.state, now());
  prepared.release();
  return result;
}

/** A copy of the request, which the caller cannot change; the denial of a call with a missing or wrong argument. */
function readCall(request: GateRequest, options: ExecuteOnceOptions, work: unknown): GateRequest | Denied {
  try {
    const read = readRequest(request);
    if ('eligible' in read) return read;
    const { show, now = Date.now } = configured(options);
    if (typeof show !== 'function') throw new TypeError('the option show is missing: a function that shows a line to the human');
    if (typeof now !== 'function') throw new TypeError('the option now must be a function');
    if (typeof work !== 'function') throw new TypeError('the work is missing: a function');
    return read;
  } catch (error) {
    return denied('ERR_GATE_FAILURE', FAILURE, reasonOf(error));
  }
}

/** The lock, when the gate agreed and the attempt is recorded; otherwise the refusal. */
function prepare(request: GateRequest, options: ExecuteOnceOptions, now: () => number): QueueLock | Denied | Refused {
  let lock: QueueLock | null = null;
  try {
    lock = new QueueLock(options.queue, now());
    refuseOpenAttempt(options.queue, request.intentId);
    const verdict = checkEligibility(request, options);
    options.show(verdict.line);
    if (verdict.eligible) {
      recordAttempt(lock, request, 'started', now());
      return lock;
    }
    lock.release();
    return verdict;
  } catch (error) {
    const refused = refusal(released(lock, error));
    options.show(refused.line);
    return refused;
  }
}

/** Releases the lock of an execution that an error stopped. Returns the error, or the one of the release when that fails too. */
function released(lock: QueueLock | null, error: unknown): unknown {
  try {
    lock?.release();
    return error;
  } catch (failure) {
    return failure;
  }
}

function refusal(error: unknown): Refused {
  if (!(error instanceof ExecutorError)) throw error;
  const reason = reasonOf(error);
  return {
    eligible: false,
    code: error.code,
    line: `[ERROR] ${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}`,
    detail: null,
  };
}
