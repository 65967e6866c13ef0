import { checkEligibility, type GateOptions, type GateRequest } from '../eligibility.ts';
import { reasonOf } from '../queue.ts';
import type { Denied } from '../verdict.ts';
import { noteAttempt, refuseOpenAttempt } from './attempts.ts';
import { type ExecutorCode, ExecutorError } from './error.ts';
import { QueueLock } from './lock.ts';
import { recordExecuted } from './record.ts';

/** The executor refused before the gate was asked. */
export interface Refused {
  readonly eligible: false;
  readonly code: ExecutorCode;
  /** What the human is shown; begins with `[ERROR] `. */
  readonly line: string;
  readonly detail: null;
}

/** How an attempt ended. */
export type Execution<T> =
  | { readonly state: 'executed'; readonly value: T }
  /** The work threw; nothing is recorded, so that a human may try again (ARGO-5-9). */
  | { readonly state: 'failed'; readonly error: unknown }
  /** Nothing ran. */
  | { readonly state: 'denied'; readonly verdict: Denied | Refused };

/** Where and how an intent is executed. */
export interface ExecuteOptions extends GateOptions {
  /** Unix milliseconds, for the records; the clock of the system when absent. The gate never reads it. */
  readonly now?: () => number;
  /** Shown the gate's line, whatever it says, before anything runs (ARGO-R6). */
  readonly show: (line: string) => void;
}

/**
 * Executes an approved intent at most once: takes the lock of the queue, refuses an attempt whose end nobody knows, asks the
 * gate (once), notes the attempt, runs the work, and records it when it succeeded. `work` must be exactly what the hash was
 * made of; the caller has compared that. Rejects with {@link ExecutorError} `ERR_GATE_RECORD` alone: something ran, its end
 * could not be written down, and the lock stays until a human has looked.
 */
export async function executeOnce<T>(
  request: GateRequest,
  options: ExecuteOptions,
  work: () => Promise<T>,
): Promise<Execution<T>> {
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
  noteAttempt(prepared, request, result.state, now());
  prepared.release();
  return result;
}

/** The lock, once the gate has agreed and the attempt is written down; else why not. */
function prepare(request: GateRequest, options: ExecuteOptions, now: () => number): QueueLock | Denied | Refused {
  let lock: QueueLock | null = null;
  try {
    lock = QueueLock.take(options.queue, now());
    refuseOpenAttempt(options.queue, request.intentId);
    const verdict = checkEligibility(request, options);
    options.show(verdict.line);
    if (verdict.eligible) {
      noteAttempt(lock, request, 'started', now());
      return lock;
    }
    lock.release();
    return verdict;
  } catch (error) {
    lock?.release();
    const refused = refusal(error);
    options.show(refused.line);
    return refused;
  }
}

function refusal(error: unknown): Refused {
  if (!(error instanceof ExecutorError)) throw error;
  return { eligible: false, code: error.code, line: `[ERROR] ${sentence(reasonOf(error))}`, detail: null };
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
