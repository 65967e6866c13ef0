import { clipped } from './clip.ts';
import { NS_CODES, nsCodeName } from './codes.ts';
import type { ErrorInfo, ErrorKind } from './errors.ts';
import type { LimitKey, TenantKey } from './limits.ts';
import type { CallSite } from './protocol.ts';

/** Descriptions of failures: those with a code of the language, and those that arise outside of the interpreter. */

/** Longest message kept, in UTF-16 units: the error text of a tool may have any length. */
export const MAX_MESSAGE = 4000;

/** The place of a failure; a failure without it has no place in a source. */
type Site = Pick<CallSite, 'source' | 'line' | 'column'>;

/** The description of a failure with a numeric code of the language. */
export function languageError(nsCode: number, message: string, at?: Site, hint?: string): ErrorInfo {
  return {
    kind: kindOf(nsCode),
    code: `NS${nsCode}`,
    nsCode,
    name: nsCodeName(nsCode),
    message: shorten(message),
    source: at?.source ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
    hint: hint === undefined ? undefined : shorten(hint),
    stack: [],
  };
}

function kindOf(nsCode: number): ErrorKind {
  if (nsCode === NS_CODES.Policy) return 'policy';
  return nsCode === NS_CODES.Syntax ? 'syntax' : 'runtime';
}

/** The first {@link MAX_MESSAGE} units of a text; a longer one ends with an ellipsis. */
export function shorten(text: string): string {
  return text.length <= MAX_MESSAGE ? text : `${clipped(text, MAX_MESSAGE)}…`;
}

const nowhere = { nsCode: null, source: null, line: null, column: null, stack: [] } as const;

interface LimitBreach {
  /** `maxTokens` bounds the model tokens of a session. */
  readonly limit: LimitKey | TenantKey | 'maxTokens';
  readonly allowed: number;
  /** What the run had used when it ended; absent when that is unknown. */
  readonly used?: number | undefined;
}

/** `ERR_QUOTA`: a run exceeds a limit. */
export function quotaError(breach: LimitBreach, message: string): ErrorInfo {
  return { ...nowhere, kind: 'quota', code: 'ERR_QUOTA', name: 'Quota', message, ...breach };
}

/** `ERR_ENV_SIZE`: the output of a turn exceeds a size limit. */
export function envelopeSizeError(breach: LimitBreach, message: string): ErrorInfo {
  return { ...nowhere, kind: 'quota', code: 'ERR_ENV_SIZE', name: 'EnvelopeSize', message, ...breach };
}

/** `ERR_TIMEOUT`: a run exceeds a limit of elapsed time; `allowed` and `used` are milliseconds. */
export function timeoutError(breach: LimitBreach, message: string): ErrorInfo {
  return { ...nowhere, kind: 'timeout', code: 'ERR_TIMEOUT', name: 'Timeout', message, ...breach };
}

/** `ERR_USAGE`: a request or a command line cannot be understood. Nothing was executed. */
export function usageError(message: string): ErrorInfo {
  const [kind, code, name] = ['usage', 'ERR_USAGE', 'Usage'] as const;
  // In the order of the public JSON.
  return { kind, code, nsCode: null, name, message: shorten(message), source: null, line: null, column: null, stack: [] };
}

/** `ERR_CANCELLED`: the caller cancelled the run. */
export function cancelledError(message: string): ErrorInfo {
  return { ...nowhere, kind: 'cancelled', code: 'ERR_CANCELLED', name: 'Cancelled', message };
}

/** `ERR_WORKER`: a worker process or a handler of the host failed. The program is not at fault. */
export function workerError(message: string, hint?: string): ErrorInfo {
  return { ...nowhere, kind: 'internal', code: 'ERR_WORKER', name: 'Worker', message, hint };
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

/** `ERR_EFFECT_CHANGED`: an attempt at a turn calls a tool with effects in another way than an earlier attempt did. */
export function effectChangedError(message: string): ErrorInfo {
  return { ...nowhere, kind: 'policy', code: 'ERR_EFFECT_CHANGED', name: 'EffectChanged', message };
}

/** `ERR_SUSPENDED`: a tool will answer later, and the run waits for that. Neither programs nor hosts see this error. */
export function suspendedError(message: string): ErrorInfo {
  return { ...nowhere, kind: 'cancelled', code: 'ERR_SUSPENDED', name: 'Suspended', message };
}
