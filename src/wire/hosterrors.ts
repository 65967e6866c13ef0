import type { ErrorInfo } from './errors.ts';
import type { LimitKey } from './limits.ts';

/**
 * How a run ends when something outside of the interpreter ends it: the worker process or the host. Such an end has no
 * place in a source, and no script can catch it.
 */

interface Spent {
  /** `maxTokens` is a ceiling of a session, on the tokens of models. */
  readonly limit: LimitKey | 'maxTokens';
  readonly allowed: number;
  /** What was used when the run was ended; absent when nobody could tell any more. */
  readonly used?: number;
}

const nowhere = { nsCode: null, source: null, line: null, column: null, stack: [] } as const;

/** `ERR_QUOTA`: more than a limit allows. */
export function quotaError(spent: Spent, message: string): ErrorInfo {
  return { ...nowhere, kind: 'quota', code: 'ERR_QUOTA', name: 'Quota', message, ...spent };
}

/** `ERR_TIMEOUT`: more elapsed time than `wallMs` or `toolMs` allows; times in milliseconds. */
export function timeoutError(spent: Spent, message: string): ErrorInfo {
  return { ...nowhere, kind: 'timeout', code: 'ERR_TIMEOUT', name: 'Timeout', message, ...spent };
}

/** `ERR_CANCELLED`: the caller took the run back. */
export function cancelledError(message: string): ErrorInfo {
  return { ...nowhere, kind: 'cancelled', code: 'ERR_CANCELLED', name: 'Cancelled', message };
}

/** `ERR_WORKER`: the worker process broke, or a handler of the host did; a fault of ours or of the machine, not the program's. */
export function workerError(message: string, hint?: string): ErrorInfo {
  return { ...nowhere, kind: 'internal', code: 'ERR_WORKER', name: 'Worker', message, ...(hint === undefined ? {} : { hint }) };
}

/** `ERR_INTERNAL`: the interpreter itself failed. */
export function internalError(message: string): ErrorInfo {
  const hint = 'this is a defect of the interpreter, not of the script; please report it with the script';
  return { ...nowhere, kind: 'internal', code: 'ERR_INTERNAL', name: 'Internal', message, hint };
}

/** `ERR_REPLAY`: a program that is executed again does not do what was recorded. */
export function replayError(message: string): ErrorInfo {
  return { ...nowhere, kind: 'internal', code: 'ERR_REPLAY', name: 'Replay', message };
}

/** `ERR_SUSPENDED`: a tool will answer later, and the run is put aside until then. No program and no host sees it as a failure. */
export function suspendedError(message: string): ErrorInfo {
  return { ...nowhere, kind: 'cancelled', code: 'ERR_SUSPENDED', name: 'Suspended', message };
}
