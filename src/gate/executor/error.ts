/** Why an intent was not executed or not recorded. Each code has a page in `docs/errors`. */
export type ExecutorCode = 'ERR_GATE_LOCKED' | 'ERR_GATE_ATTEMPT' | 'ERR_GATE_RECORD';

/** The errors of approving, executing and recording. */
export class ExecutorError extends Error {
  /** Stable; it has a page in `docs/errors/`. */
  readonly code: ExecutorCode;
  constructor(code: ExecutorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExecutorError';
    this.code = code;
  }
}
