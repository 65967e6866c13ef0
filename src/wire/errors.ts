import type { PoolKey, TenantKey } from './limits.ts';

/**
 * The description of a failure of a program, a limit or a request. It is part of the public JSON (`error` of a result) and crosses
 * every boundary unchanged.
 */

/** The kind of a failure. It decides the exit code of the command line. */
export type ErrorKind = 'syntax' | 'runtime' | 'policy' | 'quota' | 'timeout' | 'cancelled' | 'usage' | 'internal';

/** One frame of a script's call stack: a procedure, command block or handler, and where it is defined. */
export interface StackFrame {
  /** Name of the procedure or handler, or `command`. */
  readonly name: string;
  /** Name of its source. */
  readonly source: string;
  /** 1-based line. */
  readonly line: number;
  /** 1-based column, in code points. */
  readonly column: number;
}

/** A failure of a program, a limit or a request: `error` of every result and of the public JSON. */
export interface ErrorInfo {
  /** Who or what ended the run. */
  readonly kind: ErrorKind;
  /** Stable: `NS<n>` for the language's numeric codes, else `ERR_…`; one page each in `docs/errors/`. */
  readonly code: string;
  /** The number of an `NS` code, else null. */
  readonly nsCode: number | null;
  /** The name of the code in the table of `codes.ts`. */
  readonly name: string;
  /** One sentence: what failed, on which values, and what to write instead. No position, no stack. */
  readonly message: string;
  /** Name of the source; null when the failure has no place in a source. */
  readonly source: string | null;
  /** 1-based; null when the failure has no place in a source. */
  readonly line: number | null;
  /** 1-based, in code points. */
  readonly column: number | null;
  /** What to write or to do instead; absent when nothing is known. */
  readonly hint?: string | undefined;
  /** The call stack, innermost frame first. */
  readonly stack: readonly StackFrame[];
  /** With `ERR_QUOTA` and `ERR_TIMEOUT`: the key in the table of limits, the allowed amount, and the used or requested amount. */
  readonly limit?: string;
  /** The value of `limit`. */
  readonly allowed?: number;
  /** What the run used or asked for. */
  readonly used?: number | undefined;
}

/**
 * Base class of all errors that this package throws. `code` is stable and documented in `docs/errors/<code>.md`. A failure of a
 * script, a limit or a cancellation is no exception but a result.
 */
export class NeuroScriptError extends Error {
  /** Stable, with a page in `docs/errors/`. */
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A value given at configuration cannot be used: wrong type, unknown key, a limit that cannot be enforced. */
export class ConfigError extends NeuroScriptError {
  static readonly code = 'ERR_CONFIG';
  constructor(message: string, options?: ErrorOptions) {
    super(ConfigError.code, message, options);
  }
}

/** The runtime was closed, or is closing. */
export class RuntimeClosedError extends NeuroScriptError {
  static readonly code = 'ERR_CLOSED';
  constructor(message = 'the runtime is closed') {
    super(RuntimeClosedError.code, message);
  }
}

/** A limit on what may wait or be open at the same time. */
export type BusyLimit = PoolKey | TenantKey | 'openSessions' | 'tenantOpenSessions';

/** No worker was free and the queue is full, or an ancestor turn holds the last slot. */
export class BusyError extends NeuroScriptError {
  static readonly code = 'ERR_BUSY';
  /**
   * The limit that is reached: `queueLength`, `maxWorkers`, `tenantQueueLength`, or the admission of a store: `openSessions`,
   * `tenantOpenSessions`.
   */
  readonly limit: BusyLimit | undefined;
  /** The value of `limit`; undefined when no limit is the reason. */
  readonly allowed: number | undefined;
  /** What was in use when the call was refused; undefined when no limit is the reason. */
  readonly used: number | undefined;
  /** Milliseconds after which the call is worth another try; undefined when nobody can say. */
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    breach?: {
      readonly limit: BusyLimit;
      readonly allowed: number;
      readonly used: number;
      readonly retryAfterMs?: number | undefined;
    },
  ) {
    super(BusyError.code, message);
    this.retryAfterMs = breach?.retryAfterMs;
    this.limit = breach?.limit;
    this.allowed = breach?.allowed;
    this.used = breach?.used;
  }
}

/** The other side of a boundary violated the protocol. */
export class WireError extends NeuroScriptError {
  static readonly code = 'ERR_WIRE';
  constructor(message: string, options?: ErrorOptions) {
    super(WireError.code, message, options);
  }
}
